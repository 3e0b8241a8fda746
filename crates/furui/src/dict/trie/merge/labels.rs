use std::collections::HashMap;
use std::ops::Range;

use super::codebook::{Codebook, Number, hash_of, number};
use super::path::Path;
use super::records::Records;
use super::tokens::{merged_tokens, text_of};
use crate::bits::Vectors;
use crate::dict::trie::TrieError;
use crate::dict::trie::block::NODES;
use crate::dict::trie::codes::{Code, Dictionary};
use crate::dict::trie::encode::MAX_RARE;
use crate::dict::trie::labels::{Label, MAX_RECORD, Rest, TOKEN_NIBBLES, Token, WORD_TOKENS, in_word, words};
use crate::dict::trie::matcher::Matcher;
use crate::dict::trie::parts::Names;
use crate::dict::trie::text::Text;
use crate::dict::trie::tokens::MAX_TOKENS;
use crate::dict::trie::writer::Writer;
use crate::hash::{Rolling, RollingRun};

/// Writes the labels of a merged trie, which has the codes and tokens of one of its sources, the heir's.
///
/// A label that is whole in a source is not read if it has a code, and its tokens are copied if the heir has all of them; any
/// other text is looked up among the codes, or cut into tokens anew. The labels of a block wait until it has all of them:
/// then the memory of one is on its way while others are written.
pub(super) struct Labels<'t> {
    names: Names<'t>,
    heir: u8,
    vectors: Vectors,
    book: Codebook<'t>,
    /// By source and code.
    known: Vec<Vec<Option<Number>>>,
    tokens: Vec<Token>,
    /// What the tokens do to a hash. [`NOTHING`] and [`NONE`] do nothing.
    runs: Vec<RollingRun>,
    /// The numbers of a source's tokens here, or [`NONE`]; behind them [`NOTHING`].
    inherited: Vec<[u16; MAX_TOKENS + 1]>,
    matcher: Matcher,
    /// How many labels wait.
    count: usize,
    /// The codes of labels; those that have none are in `rare`, or still to be looked for.
    codes: [Code; NODES],
    rare: [Rare; NODES],
    /// Which labels are in `rare`: a bit each.
    rares: u64,
    sought: Vec<Sought>,
    foreign: Vec<Sought>,
    /// The texts that wait, and the words of the records.
    text: Vec<u8>,
    words: Vec<u64>,
    records: Records,
    /// The places of texts of their own, by hash: the first of each counts.
    long: HashMap<u64, (Vec<u8>, u64)>,
}

/// A label without a code.
#[derive(Clone, Copy)]
enum Rare {
    /// A record: where its words begin, and its tokens.
    Tokens { start: u32, count: u32, hash: u64 },
    /// A text that tokens cannot make.
    Long { start: u32, end: u32 },
}

/// A label that may have a code: a text from `start` to `end`, or a record of which the words begin at `start`, with `end`
/// tokens. The hash is that of the text.
#[derive(Clone, Copy)]
struct Sought {
    slot: u32,
    start: u32,
    end: u32,
    hash: u64,
}

/// Stands behind the last token of a record.
const NOTHING: u16 = MAX_TOKENS as u16;
/// A token that the merged trie does not have.
const NONE: u16 = NOTHING + 1;

impl<'t> Labels<'t> {
    /// For a trie of about `keys` keys.
    pub(super) fn new(sources: &[Names<'t>], heir: u8, keys: u64, vectors: Vectors) -> Result<Self, TrieError> {
        let names = sources[usize::from(heir)];
        let book = Codebook::new(names, vectors);
        let tokens = merged_tokens(names.tokens, sources)?;
        let numbers: HashMap<Token, u16> = tokens.iter().copied().zip(0..).collect();
        let numbers_of = |source: &Names<'_>| {
            let mut of = [NONE; MAX_TOKENS + 1];
            for (number, token) in of.iter_mut().zip(source.tokens) {
                *number = *numbers.get(token).unwrap_or(&NONE);
            }
            of[MAX_TOKENS] = NOTHING;
            of
        };
        let mut runs: Vec<RollingRun> = tokens.iter().map_while(|token| RollingRun::of(text_of(token))).collect();
        runs.resize(usize::from(NONE) + 1, RollingRun::default());
        Ok(Self {
            names,
            heir,
            vectors,
            known: sources.iter().map(|source| book.translate(source)).collect(),
            book,
            runs,
            inherited: sources.iter().map(numbers_of).collect(),
            matcher: Matcher::new(&tokens),
            tokens,
            count: 0,
            codes: [Code::EMPTY; NODES],
            rare: [Rare::Long { start: 0, end: 0 }; NODES],
            rares: 0,
            sought: vec![],
            foreign: vec![],
            text: vec![],
            words: vec![],
            records: Records::new(keys),
            long: HashMap::new(),
        })
    }

    /// What a label is called that is whole in a source, if it has a code there and here.
    #[inline(always)]
    pub(super) fn known(&self, source: u8, label: Label<'_>) -> Option<Number> {
        match number(label) {
            Some(number) => *self.known[usize::from(source)].get(number)?,
            None if matches!(label, Label::Empty) => self.book.empty(),
            None => None,
        }
    }

    #[inline(always)]
    fn push(&mut self, code: Code) {
        self.codes[self.count] = code;
        self.count += 1;
    }

    /// The next label, if it is known.
    #[inline(always)]
    pub(super) fn push_known(&mut self, known: Number, path: Path) -> Path {
        self.push(self.book.code(known));
        path.push_run(self.book.run(known))
    }

    /// The next label, if it is a record of tokens that the merged trie has.
    #[inline(always)]
    pub(super) fn push_tokens(&mut self, source: u8, rest: Rest<'_>, mut path: Path) -> Option<Path> {
        let Rest::Tokens { records, start, count } = rest else { return None };
        let before = self.words.len();
        let mut text = Rolling::start(0);
        let mut left = count;
        let inherited = &self.inherited[usize::from(source)];
        let mut all = true;
        for word in words(records, start, count) {
            let mut here = 0;
            for (i, token) in in_word(word).enumerate() {
                // A word as a whole: how many tokens it has nobody can foresee.
                let number = inherited[if i < left { usize::from(token) } else { MAX_TOKENS }];
                let run = self.runs[usize::from(number)];
                path = path.push_run(run);
                text = text.push_run(run);
                all &= number != NONE;
                here |= u64::from(number & 0xFFF) << (4 * TOKEN_NIBBLES * i);
            }
            self.words.push(here);
            left = left.saturating_sub(WORD_TOKENS);
        }
        if !all || left > 0 || count * TOKEN_NIBBLES > MAX_RECORD {
            self.words.truncate(before);
            return None;
        }
        let slot = self.count;
        self.push(Code::RECORD);
        if source == self.heir {
            self.set_record(slot, before, count);
        } else {
            let hash = text.finish().get();
            self.book.fetch(hash);
            self.foreign.push(Sought { slot: slot as u32, start: before as u32, end: count as u32, hash });
        }
        Some(path)
    }

    /// The next label, whatever it is.
    #[inline(always)]
    pub(super) fn push_text(&mut self, text: Text<'_>, path: Path) -> Path {
        if text.len() == 0 {
            self.push(Code::EMPTY);
            return path;
        }
        let slot = self.count;
        self.push(Code::RECORD);
        let start = self.text.len() as u32;
        text.append_to(&mut self.text);
        let end = self.text.len() as u32;
        let Some(run) = RollingRun::of(text.as_bytes()) else {
            return self.push_long(slot, start, path);
        };
        let hash = hash_of(run);
        self.book.fetch(hash);
        self.sought.push(Sought { slot: slot as u32, start, end, hash });
        path.push_run(run)
    }

    /// The label that is the text from `start` on, too long for a code.
    #[cold]
    fn push_long(&mut self, slot: usize, start: u32, path: Path) -> Path {
        self.cut(slot, start, self.text.len() as u32);
        path.push_all(&self.text[start as usize..])
    }

    /// Writes the labels that wait: step by step all of one sort, as branches are guessed best then.
    pub(super) fn settle(&mut self, writer: &mut Writer) -> Result<(), TrieError> {
        self.vectors.run(
            #[inline(always)]
            |vectors| self.settle_with(writer, vectors),
        )
    }

    #[inline(always)]
    fn settle_with(&mut self, writer: &mut Writer, vectors: Vectors) -> Result<(), TrieError> {
        for i in 0..self.sought.len() {
            let Sought { slot, start, end, hash } = self.sought[i];
            match self.book.find(&self.text[start as usize..end as usize], hash) {
                Some(known) => self.codes[slot as usize] = self.book.code(known),
                None => self.cut(slot as usize, start, end),
            }
        }
        for i in 0..self.foreign.len() {
            let Sought { slot, start, end: count, hash } = self.foreign[i];
            match self.book.find_if(hash, |text| self.is_text(start as usize, count as usize, text)) {
                Some(known) => self.codes[slot as usize] = self.book.code(known),
                None => self.set_record(slot as usize, start as usize, count as usize),
            }
        }
        for slot in ones(self.rares) {
            if let Rare::Tokens { hash, .. } = self.rare[slot] {
                self.records.fetch_earlier(writer, hash);
            }
        }
        for slot in ones(self.rares) {
            match self.rare[slot] {
                Rare::Tokens { start, count, hash } => {
                    let count = count as usize;
                    let words = &self.words[start as usize..][..count.div_ceil(WORD_TOKENS)];
                    match self.records.before(writer, slot, words, count, hash, vectors) {
                        Some(position) => writer.link(position),
                        None => writer.tokens(words, count),
                    }
                }
                Rare::Long { start, end } => self.long(writer, start as usize..end as usize)?,
            }
        }
        for &code in &self.codes[..self.count] {
            writer.code(code)?;
        }
        (self.count, self.rares) = (0, 0);
        self.sought.clear();
        self.foreign.clear();
        self.text.clear();
        self.words.clear();
        Ok(())
    }

    /// Makes a record of a text without a code.
    #[inline(always)]
    fn cut(&mut self, slot: usize, start: u32, end: u32) {
        let text = &self.text[start as usize..end as usize];
        let before = self.words.len();
        if text.len() <= MAX_RARE
            && let Some(count) = self.matcher.cut_greedily(text, &mut self.words)
            && count * TOKEN_NIBBLES <= MAX_RECORD
        {
            return self.set_record(slot, before, count);
        }
        self.rare[slot] = Rare::Long { start, end };
        self.rares |= 1 << slot;
    }

    /// A label is `count` tokens, the words of which begin at `start`; their memory is asked for.
    #[inline(always)]
    fn set_record(&mut self, slot: usize, start: usize, count: usize) {
        let words = &self.words[start..][..count.div_ceil(WORD_TOKENS)];
        let hash = self.records.fetch(words, count);
        self.rare[slot] = Rare::Tokens { start: start as u32, count: count as u32, hash };
        self.rares |= 1 << slot;
    }

    /// Whether a record is made of the tokens of a text.
    fn is_text(&self, start: usize, count: usize, text: &[u8]) -> bool {
        let words = self.words[start..].iter().zip((0..count).step_by(WORD_TOKENS));
        let mut tokens = words.flat_map(|(&word, first)| in_word(word).take(count - first));
        let rest = tokens.try_fold(text, |rest, token| rest.strip_prefix(text_of(&self.tokens[usize::from(token)])));
        rest.is_some_and(<[u8]>::is_empty)
    }

    /// Writes a label that tokens cannot make.
    fn long(&mut self, writer: &mut Writer, text: Range<usize>) -> Result<(), TrieError> {
        let text = &self.text[text];
        let hash = Rolling::start(0).push_all(text).finish().get();
        let place = match self.long.get(&hash) {
            Some((first, place)) if first == text => *place,
            _ => {
                let place = writer.add_long(text)?;
                self.long.entry(hash).or_insert_with(|| (text.to_vec(), place));
                place
            }
        };
        writer.long(place);
        Ok(())
    }

    pub(super) fn finish(self) -> Dictionary {
        Dictionary {
            places: self.names.places.as_flattened().to_vec(),
            texts: self.names.texts.to_vec(),
            tokens: self.tokens.into_flattened(),
        }
    }
}

/// The positions of the ones of a word.
fn ones(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (word != 0).then(|| word.trailing_zeros() as usize);
        word &= word.wrapping_sub(1);
        first
    })
}
