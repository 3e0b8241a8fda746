use crate::bits::Vectors;
use crate::dict::trie::codes::Code;
use crate::dict::trie::labels::{GROUP, Label, ONES, Rest};
use crate::dict::trie::parts::Names;
use crate::hash::{Rolling, RollingRun};

/// The codes that labels have in the merged trie, by their texts: those of the trie that they are inherited from.
///
/// A hash table of which a search looks at a few places: a code that is not found there only makes the trie larger.
pub(super) struct Codebook<'t> {
    names: Names<'t>,
    /// The upper half of a hash, and the number of the code + 1; 0 is free.
    slots: Vec<u64>,
    vectors: Vectors,
}

/// A label that has a code in a source: what it does to a hash, and its code in the merged trie.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub(super) run: RollingRun,
    pub(super) code: Code,
}

/// How many places are looked at.
const PLACES: usize = 8;

impl<'t> Codebook<'t> {
    pub(super) fn new(names: Names<'t>, vectors: Vectors) -> Self {
        let count = count(&names);
        let mut book = Self { names, slots: vec![0; (count * 2).next_power_of_two() + PLACES], vectors };
        for number in 0..count {
            let Some(text) = book.text(number).filter(|text| !text.is_empty()) else { continue };
            let Some(hash) = RollingRun::of(text).map(hash_of) else { continue };
            if book.find(text, hash).is_none()
                && let Some(slot) = book.places(hash).find(|&at| book.slots[at] == 0)
            {
                book.slots[slot] = hash >> 32 << 32 | (number as u64 + 1);
            }
        }
        book
    }

    /// The code of a text that does this to a hash.
    #[inline]
    pub(super) fn get(&self, text: &[u8], run: RollingRun) -> Code {
        if text.is_empty() { Code::Empty } else { self.find(text, hash_of(run)).unwrap_or(Code::Record) }
    }

    /// What is known of the codes of a source.
    pub(super) fn known(&self, source: &Names<'t>) -> Vec<Option<Known>> {
        let known = |number| {
            let text = text(source, number, self.vectors)?;
            let run = RollingRun::of(text)?;
            let code = self.get(text, run);
            (code != Code::Record).then_some(Known { run, code })
        };
        (0..count(source)).map(known).collect()
    }

    #[inline]
    fn find(&self, text: &[u8], hash: u64) -> Option<Code> {
        for at in self.places(hash) {
            let slot = self.slots[at];
            if slot == 0 {
                return None;
            }
            let number = slot as u32 as usize - 1;
            if slot >> 32 == hash >> 32 && self.text(number) == Some(text) {
                return Some(code(number));
            }
        }
        None
    }

    #[inline(always)]
    fn places(&self, hash: u64) -> std::ops::Range<usize> {
        let home = hash as usize & (self.slots.len() - PLACES - 1);
        home..home + PLACES
    }

    #[inline(always)]
    fn text(&self, number: usize) -> Option<&'t [u8]> {
        text(&self.names, number, self.vectors)
    }
}

fn hash_of(run: RollingRun) -> u64 {
    Rolling::start(0).push_run(run).finish().get()
}

/// How many codes a trie may have.
fn count(names: &Names<'_>) -> usize {
    let groups = names.places.len().saturating_sub(ONES).min((1 << 16) / GROUP);
    names.places.len().min(ONES) + groups * GROUP
}

/// Codes of one byte come before those of two.
fn code(number: usize) -> Code {
    match number.checked_sub(ONES) {
        None => Code::One(number as u8),
        Some(two) => Code::Two(two as u16),
    }
}

/// The number of a label's code.
#[inline(always)]
pub(super) fn number(label: Label<'_>) -> Option<usize> {
    match label {
        Label::One(code) => Some(usize::from(code)),
        Label::Two(code) => Some(ONES + usize::from(code)),
        Label::Empty | Label::Record { .. } => None,
    }
}

#[inline(always)]
fn text<'t>(names: &Names<'t>, number: usize, vectors: Vectors) -> Option<&'t [u8]> {
    let label = match code(number) {
        Code::One(code) => Label::One(code),
        Code::Two(code) => Label::Two(code),
        Code::Empty | Code::Record => return None,
    };
    match names.rest(label, vectors)? {
        Rest::Text(text) => Some(text),
        Rest::Tokens { .. } => None,
    }
}
