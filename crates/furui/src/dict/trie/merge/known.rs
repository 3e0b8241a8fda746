use crate::dict::trie::labels::{GROUP, Label, ONES};
use crate::dict::trie::parts::Names;
use crate::hash::RollingRun;

/// What the merged trie calls the labels that have codes in one of its sources: a label that is copied whole need not be
/// read, as its number and what it does to a hash are known from the first time.
pub(super) struct Known(Vec<KnownLabel>);

#[derive(Clone, Copy, Default)]
pub(super) struct KnownLabel {
    pub(super) run: RollingRun,
    /// Its number among the labels of the skeleton, + 1; 0 if it is not known.
    number: u32,
}

impl KnownLabel {
    pub(super) fn number(self) -> u32 {
        self.number - 1
    }
}

impl Known {
    pub(super) fn new(names: &Names<'_>) -> Self {
        let twos = names.places.len().saturating_sub(ONES) * GROUP;
        Self(vec![KnownLabel::default(); ONES + twos])
    }

    #[inline(always)]
    pub(super) fn get(&self, code: usize) -> Option<KnownLabel> {
        self.0.get(code).copied().filter(|known| known.number > 0)
    }

    pub(super) fn set(&mut self, code: usize, number: u32, text: &[u8]) {
        if let (Some(known), Some(run)) = (self.0.get_mut(code), RollingRun::of(text)) {
            *known = KnownLabel { run, number: number + 1 };
        }
    }
}

/// One number for every label that has a code.
#[inline(always)]
pub(super) fn code(label: Label<'_>) -> Option<usize> {
    match label {
        Label::One(code) => Some(usize::from(code)),
        Label::Two(code) => Some(ONES + usize::from(code)),
        Label::Empty | Label::Record { .. } => None,
    }
}
