use crate::dict::trie::labels::{GROUP, Label, ONES};
use crate::dict::trie::parts::Names;
use crate::hash::RollingRun;

/// What the merged trie calls the labels that have codes in one of its sources: a label that is copied whole need not be
/// read, as its number and what it does to a hash are known from the first time.
pub(super) struct Known(Vec<Option<KnownLabel>>);

#[derive(Clone, Copy)]
pub(super) struct KnownLabel {
    /// Its number among the labels of the skeleton.
    pub(super) number: u32,
    pub(super) length: u32,
    pub(super) run: RollingRun,
}

impl Known {
    pub(super) fn new(names: &Names<'_>) -> Self {
        let twos = names.places.len().saturating_sub(ONES) * GROUP;
        Self(vec![None; ONES + twos])
    }

    #[inline(always)]
    pub(super) fn get(&self, code: usize) -> Option<&KnownLabel> {
        self.0.get(code)?.as_ref()
    }

    pub(super) fn set(&mut self, code: usize, number: u32, text: &[u8]) {
        if let Some(known) = self.0.get_mut(code) {
            *known = Some(KnownLabel { number, length: text.len() as u32, run: RollingRun::of(text) });
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
