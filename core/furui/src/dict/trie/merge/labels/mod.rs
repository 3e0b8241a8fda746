use std::collections::HashMap;

use super::codebook::{Codebook, Number, hash_of, number};
use super::greedy::Greedy;
use super::path::Path;
use super::records::Records;
use super::tokens::{merged_tokens, text_of};
use crate::bits::Cpu;
use crate::dict::trie::TrieError;
use crate::dict::trie::codes::{Code, Dictionary};
use crate::dict::trie::label::{Label, Token};
use crate::dict::trie::labels::{MAX_RECORD_NIBBLES, Rest, TOKEN_NIBBLES, WORD_TOKENS, in_word, words};
use crate::dict::trie::parts::Names;
use crate::dict::trie::position::NODES;
use crate::dict::trie::text::Text;
use crate::dict::trie::tokens::MAX_TOKENS;
use crate::hash::{Rolling, RollingRun, RollingState};

mod settle;

/// Writes the labels of a merged trie, which has the codes and tokens of one of its sources, the heir.
///
/// A label that is taken whole from a source is not decoded if it has a code, and its tokens are copied if the heir has
/// all of them. Any other text is looked up among the codes, or divided into tokens again. The labels of a block wait
/// until the block has all of them, so that their cache misses overlap.
pub(super) struct Labels<'t> {
    names: Names<'t>,
    heir: u8,
    rolling: &'t Rolling,
    vectors: Cpu,
    book: Codebook<'t>,
    /// For each trie that is merged and each of its codes: the code of the same text in the merged trie, if there is
    /// one.
    known: Vec<Vec<Option<Number>>>,
    tokens: Vec<Token>,
    /// The effect of each token of the merged trie on a rolling hash. The placeholders [`NOTHING`] and [`NONE`] have no
    /// effect.
    runs: Vec<RollingRun>,
    /// For each trie that is merged and each of its tokens: the number of the same token in the merged trie, or
    /// [`NONE`]. The last entry is [`NOTHING`].
    inherited: Vec<[u16; MAX_TOKENS + 1]>,
    greedy: Greedy,
    /// The number of labels of the current block that wait to be written.
    count: usize,
    /// The codes of the labels of the current block. A label without a code is in `rare`, or still has to be looked up
    /// among the codes.
    codes: [Code; NODES],
    rare: [Rare; NODES],
    /// A mask of the labels of the current block that are in `rare`, because they have no code.
    rares: u64,
    sought: Vec<Sought>,
    foreign: Vec<Sought>,
    /// The texts of the labels of the current block that have no code yet, one after the other.
    text: Vec<u8>,
    /// The tokens of the labels of the current block that are records of tokens, in words of five tokens.
    words: Vec<u64>,
    records: Records,
    /// The places of the long labels that were written, by the hashes of their texts. Of several texts with the same
    /// hash, only the first is in the map.
    long: HashMap<u64, u64>,
}

/// A label of the current block that has no code.
#[derive(Clone, Copy)]
enum Rare {
    /// A record of tokens: the index of its first word, the number of its tokens, and the hash of its text.
    Tokens { start: u32, count: u32, hash: u64 },
    /// A text that is not a sequence of tokens. `start` and `end` are its range in the field `text`.
    Long { start: u32, end: u32 },
}

/// A label of the current block that is to be looked up among the codes: a text from `start` to `end`, or a record of
/// `end` tokens whose words begin at `start`. The hash is that of the text.
#[derive(Clone, Copy)]
struct Sought {
    slot: u32,
    start: u32,
    end: u32,
    hash: u64,
}

/// The placeholder in a word of tokens after the last token of a record.
const NOTHING: u16 = MAX_TOKENS as u16;
/// The placeholder for a token that the merged trie does not have.
const NONE: u16 = NOTHING + 1;

impl<'t> Labels<'t> {
    /// A writer of the labels of a merged trie of about `keys` keys.
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

    /// The code that a label of the trie `source` has in the merged trie; `None` if it has no code in one of these
    /// tries.
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

    /// Adds the next label, which has the code `known` in the merged trie. Returns the path extended by the label.
    #[inline(always)]
    pub(super) fn push_known(&mut self, known: Number, path: Path) -> Path {
        self.push(self.book.code(known));
        path.push_run(self.rolling, self.book.run(known))
    }

    /// Adds the next label, and returns the path extended by it. `None`, and nothing is added, if the label is not a
    /// record of tokens that the merged trie has, too.
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
                // The whole word is processed, because the processor could not predict the number of tokens in it.
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
        if !all || left > 0 || count * TOKEN_NIBBLES > MAX_RECORD_NIBBLES {
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

    /// Adds the next label, which may be any text. Returns the path extended by the label.
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

    /// Makes the label in `slot` the text from `start` on, which is too long for a code. Returns the path extended by
    /// it.
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
