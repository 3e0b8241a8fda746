use std::num::NonZeroU32;

use crate::bits::{Cpu, prefetch};
use crate::dict::trie::TrieError;
use crate::dict::trie::codes::Code;
use crate::dict::trie::label::Label;
use crate::dict::trie::labels::{GROUP, ONES, Rest};
use crate::dict::trie::parts::Names;
use crate::dict::trie::room::{collected, filled};
use crate::dict::trie::text::Text;
use crate::hash::{Rolling, RollingRun};

/// The table of the codes in the merged trie, which finds the code of a label by its text. The merged trie has the
/// codes of one of the tries that are merged.
///
/// This is a hash table whose searches probe only a few places, so it may lack some codes. A code that is not found
/// only makes the trie larger.
pub(super) struct Codebook<'t> {
    names: Names<'t>,
    /// The slots of the hash table: 15 bits of a text's hash, above 17 bits of the number of its code plus one; 0 in an
    /// empty slot.
    slots: Vec<u32>,
    /// For each code, the effect of its text on a rolling hash.
    runs: Vec<RollingRun>,
    rolling: &'t Rolling,
    vectors: Cpu,
}

/// The number of a code in the merged trie, from 1 on: first the one-byte codes, then the two-byte codes, then the code
/// of the empty text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Number(NonZeroU32);

impl Number {
    fn new(index: usize) -> Option<Self> {
        NonZeroU32::new(index as u32 + 1).map(Self)
    }

    #[inline(always)]
    fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// The number of consecutive slots that a search of the code table reads, at most.
const PLACES: usize = 8;

/// The number of bits of a [`Number`], which is never 0.
const NUMBER_BITS: u32 = 17;
const _: () = assert!(ONES + (1 << 16) < 1 << NUMBER_BITS);

/// The upper bits of a hash, shifted to the place above the code's number where a slot holds them.
#[inline(always)]
fn tag(hash: u64) -> u32 {
    (hash >> 32) as u32 >> NUMBER_BITS << NUMBER_BITS
}

impl<'t> Codebook<'t> {
    pub(super) fn new(names: Names<'t>, rolling: &'t Rolling, vectors: Cpu) -> Result<Self, TrieError> {
        let count = count(&names);
        let slots = filled(0, (count + count / 2).next_power_of_two() + PLACES)?;
        let runs = filled(RollingRun::default(), count + 1)?;
        let mut book = Self { names, slots, runs, rolling, vectors };
        for number in 0..count {
            let Some(text) = book.text(number).filter(|text| text.len() > 0) else { continue };
            let Some(run) = text.run(rolling) else { continue };
            let hash = hash_of(rolling, run);
            book.runs[number] = run;
            if book.find(text, hash).is_none()
                && let Some(slot) = book.places(hash).find(|&at| book.slots[at] == 0)
            {
                book.slots[slot] = tag(hash) | (number as u32 + 1);
            }
        }
        Ok(book)
    }

    /// The number of the empty text's code; `None` if the table does not have it.
    pub(super) fn empty(&self) -> Option<Number> {
        Number::new(self.runs.len() - 1)
    }

    #[inline(always)]
    pub(super) fn run(&self, number: Number) -> RollingRun {
        self.runs[number.index()]
    }

    #[inline(always)]
    pub(super) fn code(&self, number: Number) -> Code {
        if number.index() == self.runs.len() - 1 { Code::EMPTY } else { code(number.index()) }
    }

    /// Prefetches the first slot of the probe sequence for this hash.
    #[inline(always)]
    pub(super) fn fetch(&self, hash: u64) {
        prefetch(&self.slots[self.places(hash).start]);
    }

    /// For each code of a trie that is merged, finds the code of the same text in the merged trie; `None` if there is
    /// none.
    pub(super) fn translate(&self, source: &Names<'t>) -> Result<Vec<Option<Number>>, TrieError> {
        let translated = |number| {
            let text = text(source, number, self.vectors)?;
            if text.len() == 0 { self.empty() } else { self.find(text, hash_of(self.rolling, text.run(self.rolling)?)) }
        };
        collected((0..count(source)).map(translated))
    }

    #[inline(always)]
    pub(super) fn find(&self, text: Text<'_>, hash: u64) -> Option<Number> {
        self.find_if(hash, |found| found.len() == text.len() && found.common_prefix(text) == text.len())
    }

    /// Finds the code of a text with this hash for which `is_it` returns true; `None` if the table has no such text.
    #[inline(always)]
    pub(super) fn find_if(&self, hash: u64, is_it: impl Fn(Text<'_>) -> bool) -> Option<Number> {
        for at in self.places(hash) {
            let slot = self.slots[at];
            if slot == 0 {
                return None;
            }
            if (slot ^ tag(hash)) >> NUMBER_BITS == 0 {
                let number = (slot & ((1 << NUMBER_BITS) - 1)) as usize - 1;
                if self.text(number).is_some_and(&is_it) {
                    return Number::new(number);
                }
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
    fn text(&self, number: usize) -> Option<Text<'t>> {
        text(&self.names, number, self.vectors)
    }
}

/// The hash of a text, computed from the effect that the text has on the state of a rolling hash.
#[inline(always)]
pub(super) fn hash_of(rolling: &Rolling, run: RollingRun) -> u64 {
    rolling.push_run(rolling.start(), run).finish().get()
}

/// The number of codes, used or not, for which the tables of a trie have room.
fn count(names: &Names<'_>) -> usize {
    let groups = names.places.len().saturating_sub(ONES).min((1 << 16) / GROUP);
    names.places.len().min(ONES) + groups * GROUP
}

fn code(number: usize) -> Code {
    match number.checked_sub(ONES) {
        None => Code::one(number as u8),
        Some(two) => Code::two(two as u16),
    }
}

/// The index of a label's code among all codes of its trie; `None` if the label is empty or a record.
#[inline(always)]
pub(super) fn number(label: Label<'_>) -> Option<usize> {
    match label {
        Label::One(code) => Some(usize::from(code)),
        Label::Two(code) => Some(ONES + usize::from(code)),
        Label::Empty | Label::Record { .. } => None,
    }
}

#[inline(always)]
fn text<'t>(names: &Names<'t>, number: usize, vectors: Cpu) -> Option<Text<'t>> {
    let label = match number.checked_sub(ONES) {
        None => Label::One(number as u8),
        Some(two) => Label::Two(two as u16),
    };
    match names.rest(label, vectors)? {
        Rest::Text(text) => Some(text),
        Rest::Tokens { .. } => None,
    }
}
