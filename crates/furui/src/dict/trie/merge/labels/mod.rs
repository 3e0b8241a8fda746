use std::collections::HashMap;

use super::codebook::{Codebook, Number, hash_of, number};
use super::greedy::Greedy;
use super::path::Path;
use super::records::Records;
use super::tokens::{merged_tokens, text_of};
use crate::bits::Cpu;
use crate::dict::trie::TrieError;
use crate::dict::trie::block::NODES;
use crate::dict::trie::codes::{Code, Dictionary};
use crate::dict::trie::labels::{Label, MAX_RECORD, Rest, TOKEN_NIBBLES, Token, WORD_TOKENS, in_word, words};
use crate::dict::trie::parts::Names;
use crate::dict::trie::text::Text;
use crate::dict::trie::tokens::MAX_TOKENS;
use crate::hash::{Rolling, RollingRun, RollingState};

mod settle;

/// Writes the labels of a merged trie, which has the codes and tokens of one of its sources, the heir's.
///
/// A label that is whole in a source is not read if it has a code, and its tokens are copied if the heir has all of them; any
/// other text is looked up among the codes, or cut into tokens anew. The labels of a block wait until it has all of them:
/// then the memory of one is on its way while others are written.
pub(super) struct Labels<'t> {
    names: Names<'t>,
    heir: u8,
    rolling: &'t Rolling,
    vectors: Cpu,
    book: Codebook<'t>,
    /// By source and code.
    known: Vec<Vec<Option<Number>>>,
    tokens: Vec<Token>,
    /// What the tokens do to a hash. [`NOTHING`] and [`NONE`] do nothing.
    runs: Vec<RollingRun>,
    /// The numbers of a source's tokens here, or [`NONE`]; behind them [`NOTHING`].
    inherited: Vec<[u16; MAX_TOKENS + 1]>,
    greedy: Greedy,
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
    long: HashMap<u64, u64>,
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
    pub(super) fn new(
        sources: &[Names<'t>],
        heir: u8,
        keys: u64,
        rolling: &'t Rolling,
        vectors: Cpu,
    ) -> Result<Self, TrieError> {
        let names = sources[usize::from(heir)];
        let book = Codebook::new(names, rolling, vectors)?;
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
        let mut runs: Vec<RollingRun> = tokens.iter().map_while(|token| rolling.run(text_of(token))).collect();
        runs.resize(usize::from(NONE) + 1, RollingRun::default());
        Ok(Self {
            names,
            heir,
            rolling,
            vectors,
            known: sources.iter().map(|source| book.translate(source)).collect::<Result<_, _>>()?,
            book,
            runs,
            inherited: sources.iter().map(numbers_of).collect(),
            greedy: Greedy::new(&tokens)?,
            tokens,
            count: 0,
            codes: [Code::EMPTY; NODES],
            rare: [Rare::Long { start: 0, end: 0 }; NODES],
            rares: 0,
            sought: vec![],
            foreign: vec![],
            text: vec![],
            words: vec![],
            records: Records::new(keys)?,
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
        path.push_run(self.rolling, self.book.run(known))
    }

    /// The next label, if it is a record of tokens that the merged trie has.
    #[inline(always)]
    pub(super) fn push_tokens(&mut self, source: u8, rest: Rest<'_>, path: Path) -> Option<Path> {
        let Rest::Tokens { records, start, count } = rest else { return None };
        let before = self.words.len();
        let (mut text, mut length) = (RollingState::ZERO, 0);
        let mut left = count;
        let inherited = &self.inherited[usize::from(source)];
        let mut all = true;
        for word in words(records, start, count) {
            let mut here = 0;
            for (i, token) in in_word(word).enumerate() {
                // A word as a whole: how many tokens it has nobody can foresee.
                let number = inherited[if i < left { usize::from(token) } else { MAX_TOKENS }];
                let run = self.runs[usize::from(number)];
                text = self.rolling.push_run(text, run);
                length += run.len();
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
        let rolling = self.rolling;
        let hash = rolling.push_rest(rolling.start(), text, length as usize).finish().get();
        if source == self.heir {
            self.set_record(slot, before, count, hash);
        } else {
            self.book.fetch(hash);
            self.foreign.push(Sought { slot: slot as u32, start: before as u32, end: count as u32, hash });
        }
        Some(path.push_rest(rolling, text, length))
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
        let Some(run) = text.run(self.rolling) else {
            return self.push_long(slot, start, path);
        };
        let hash = hash_of(self.rolling, run);
        self.book.fetch(hash);
        self.sought.push(Sought { slot: slot as u32, start, end, hash });
        path.push_run(self.rolling, run)
    }

    /// The label that is the text from `start` on, too long for a code.
    #[cold]
    fn push_long(&mut self, slot: usize, start: u32, path: Path) -> Path {
        let text = &self.text[start as usize..];
        let rolling = self.rolling;
        let (path, hash) = (path.push_all(rolling, text), rolling.push_all(rolling.start(), text).finish().get());
        self.cut(slot, start, self.text.len() as u32, hash);
        path
    }

    pub(super) fn finish(self) -> Dictionary {
        Dictionary {
            places: self.names.places.as_flattened().to_vec(),
            texts: self.names.texts.to_vec(),
            tokens: self.tokens.into_flattened(),
        }
    }
}
