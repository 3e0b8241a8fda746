use std::collections::VecDeque;

use super::super::{Clause, ContentId, Place};
use super::words::Words;
use super::{FAILURES_A_PASS, PASSES};

/// The maximum size of a list that is read in one slice, in ids. For a list of this size, fewer round trips are worth
/// more than the bits of a filter.
const SHORT_LIST: u64 = 1 << 12;
/// The number of ids in the first slice of a longer list.
const FIRST_SLICE: usize = 1 << 10;
/// The maximum ratio of the sizes of a slice and the slice before it.
const GROWTH: usize = 4;
/// The maximum number of slices (parts of its first list) that a conjunction requests: enough for 10⁸ ids if the nodes
/// are honest.
const SLICES: u32 = 1 << 12;

/// The size of the first slice: how many ids of the first word's list are read for it.
pub(super) fn slice_at_first(page: usize, must: usize, exchanges: usize, size: u64) -> usize {
    match (must, exchanges) {
        // All ids that are read are in the answer.
        (_, 0) => page,
        // Most ids that are read are in the answer, because most excluded words are rare.
        (1, _) => GROWTH * page,
        _ if size <= SHORT_LIST => SHORT_LIST as usize,
        _ => FIRST_SLICE,
    }
}

/// The state of a conjunction: how far its first list has been read.
#[derive(Debug)]
pub(super) struct Branch {
    must: Vec<usize>,
    without: Vec<usize>,
    /// Where reading the first list continues; `None` at its end.
    next: Option<Next>,
    /// True if a part of the first list has been read.
    begun: bool,
    /// Found ids that wait until the other conjunctions of the union have found all smaller ids.
    found: VecDeque<ContentId>,
    /// The number of slices about which the hosts (nodes that run the search for this node) have differed.
    disputes: u64,
    /// The size of the last slice that was answered.
    most: usize,
    seen: u64,
    hits: u64,
    slices: u32,
    /// The number of consecutive failures.
    failures: u32,
    /// True if only whole lists are accepted.
    insists: bool,
}

/// The point at which reading the first list continues.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// In the order of ids: the head (the first 64 bits of an id) at which the list continues.
    Head(u64),
    /// In the order of bounds (maximum scores): the place at which the list continues; `None` for its beginning.
    Place(Option<Place>),
}

impl Next {
    fn beginning(ranked: bool, after: Option<ContentId>) -> Self {
        if ranked { Self::Place(None) } else { Self::Head(after.map_or(0, ContentId::head)) }
    }
}

impl Branch {
    pub(super) fn new(clause: &Clause, words: &mut Words, ranked: bool, after: Option<ContentId>) -> Self {
        let mut numbers = |names: &[String]| {
            let mut numbers: Vec<usize> = names.iter().map(|name| words.number(name)).collect();
            numbers.sort_unstable();
            numbers.dedup();
            numbers
        };
        let (must, without) = (numbers(&clause.must), numbers(&clause.without));
        let contradicts = must.iter().any(|word| without.contains(word));
        let next = if contradicts { None } else { Some(Next::beginning(ranked, after)) };
        Self { next, ..Self::empty(must, without) }
    }

    /// A branch at the end of its list.
    fn empty(must: Vec<usize>, without: Vec<usize>) -> Self {
        Self {
            must,
            without,
            next: None,
            begun: false,
            found: VecDeque::new(),
            disputes: 0,
            most: 0,
            seen: 0,
            hits: 0,
            slices: 0,
            failures: 0,
            insists: true,
        }
    }

    /// Continues after this document, beginning anew in the order of bounds. A branch whose words are in no document
    /// together stays at its end.
    pub(super) fn restart(&mut self, ranked: bool, after: Option<ContentId>) {
        let Self { must, without, slices, next, .. } = self;
        let is_contradiction = next.is_none() && *slices == 0;
        let (must, without) = (std::mem::take(must), std::mem::take(without));
        *self = Self {
            next: if is_contradiction { None } else { Some(Next::beginning(ranked, after)) },
            ..Self::empty(must, without)
        };
    }

    pub(super) fn must(&self) -> &[usize] {
        &self.must
    }

    pub(super) fn without(&self) -> &[usize] {
        &self.without
    }

    pub(super) fn needs(&self, word: usize) -> bool {
        self.must.contains(&word) || self.without.contains(&word)
    }

    pub(super) fn is_done(&self) -> bool {
        self.next.is_none()
    }

    /// The head at which to continue, in the order of ids.
    pub(super) fn next_head(&self) -> u64 {
        if let Some(Next::Head(head)) = self.next { head } else { u64::MAX }
    }

    /// The place at which to continue when documents come in the order of their bounds, that is, maximum scores.
    pub(super) fn next_place(&self) -> Option<Place> {
        if let Some(Next::Place(place)) = self.next { place } else { None }
    }

    /// The earliest place, in the order of scores, of a document that this conjunction may still find; `None` if the
    /// conjunction has ended.
    ///
    /// This is the place at which the order of bounds continues: no score exceeds the bound of its document, so no
    /// later document has an earlier place by its score.
    pub(super) fn ahead(&self) -> Option<Place> {
        self.next.map(|_| self.next_place().unwrap_or(Place::FIRST))
    }

    /// The head (first 64 bits of an id) up to which all ids have been found. Before the first slice of the list, it is
    /// `None`, which is smaller than any head.
    pub(super) fn through(&self) -> Option<u64> {
        match self.next {
            None => Some(u64::MAX),
            Some(Next::Head(next)) if self.begun => Some(next - 1),
            Some(_) => None,
        }
    }

    pub(super) fn ids_held(&self) -> usize {
        self.found.len()
    }

    pub(super) fn failures(&self) -> u32 {
        self.failures
    }

    /// Ends the branch (a conjunction of the query) if one of the words that must occur is in no document.
    pub(super) fn end_if_empty(&mut self, words: &Words) {
        if !self.begun && self.must.iter().any(|&word| words[word].is_empty()) {
            self.next = None;
        }
    }

    /// The word because of which this conjunction cannot continue, if there is one.
    pub(super) fn failed_word(&self, words: &Words) -> Option<String> {
        if self.is_done() {
            return None;
        }
        let lost = self.must.iter().chain(&self.without).find(|&&word| words[word].is_lost());
        let stuck = self.failures >= PASSES * FAILURES_A_PASS || self.slices > SLICES;
        lost.or(if stuck { self.must.first() } else { None }).map(|&word| words[word].name.clone())
    }

    /// True if the next slice of the first list may be requested. The request waits until all found ids have been
    /// passed on, so that memory is bounded.
    pub(super) fn may_ask(&self) -> bool {
        !self.is_done() && self.found.is_empty()
    }

    /// The number of slices about which the hosts have differed.
    pub(super) fn disputes(&self) -> u64 {
        self.disputes
    }

    /// Notes whether the hosts have differed about a slice.
    pub(super) fn on_dispute(&mut self, is_disputed: bool) {
        self.disputes += u64::from(is_disputed);
    }

    /// The number of ids of the first list to read in the next slice. If only `wanted` more ids are wanted, the slice
    /// is not larger than is probably necessary to find them.
    pub(super) fn slice(&self, first: usize, wanted: Option<usize>, most_allowed: usize) -> u32 {
        let mut most = if self.most == 0 { first } else { self.most.saturating_mul(GROWTH) };
        if let (Some(wanted), 1..) = (wanted, self.hits) {
            let likely = (wanted as u64 * self.seen).div_ceil(self.hits);
            most = most.min((likely + likely / 4).max(first as u64) as usize);
        }
        most.clamp(1, most_allowed) as u32
    }

    pub(super) fn asked(&mut self) {
        self.slices += 1;
    }

    /// Takes the ids that were found up to the head `through`. For them, `seen` ids of the first list were examined.
    pub(super) fn on_found(
        &mut self,
        ids: Vec<ContentId>,
        through: u64,
        seen: u64,
        most: u32,
        after: Option<ContentId>,
    ) {
        if self.is_done() {
            return;
        }
        self.on_slice(most);
        self.seen += seen;
        self.hits += ids.len() as u64;
        self.found.extend(ids.into_iter().filter(|&id| after.is_none_or(|after| id > after)));
        self.next = through.checked_add(1).map(Next::Head);
    }

    /// Notes that a slice in the order of scores was answered. The next slice begins at `next`; `None` at the end.
    pub(super) fn on_ranked(&mut self, next: Option<Place>, most: u32) {
        self.on_slice(most);
        if !self.is_done() {
            self.next = next.map(|place| Next::Place(Some(place)));
        }
    }

    fn on_slice(&mut self, most: u32) {
        self.failures = 0;
        self.begun = true;
        self.most = most as usize;
    }

    /// True if an answer from lists that are not whole is to be requested again. This is done only once, so later calls
    /// return false.
    pub(super) fn insists(&mut self) -> bool {
        std::mem::take(&mut self.insists)
    }

    pub(super) fn on_failure(&mut self) {
        self.failures += 1;
    }

    /// Removes and returns the found ids whose [`head`](ContentId::head) is at most `head`.
    pub(super) fn take_through(&mut self, head: u64) -> impl Iterator<Item = ContentId> {
        let count = self.found.partition_point(|id| id.head() <= head);
        self.found.drain(..count)
    }
}
