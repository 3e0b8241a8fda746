use super::super::{Clause, Phrase, Place, limits};
use super::words::Words;
use super::{FAILURES_A_PASS, PASSES};

/// The maximum size of a list that is read in one slice, in ids. For such a short list, saving round trips is worth
/// more than saving the bits of a filter.
const SHORT_LIST: u64 = 1 << 12;
/// The number of ids in the first slice of a longer list.
const FIRST_SLICE: usize = 1 << 10;
/// The maximum ratio of the size of a slice of a list to that of the slice before it.
const GROWTH: usize = 4;
/// The maximum number of slices (parts of its first list) that a conjunction requests: enough for 10⁸ ids if the nodes
/// are honest.
const SLICES: u32 = 1 << 12;

/// The number of ids in the first slice that is read of the first word's list.
pub(super) fn slice_at_first(page: usize, must: usize, exchanges: usize, size: u64) -> usize {
    match (must, exchanges) {
        // All examined ids are in the answer.
        (_, 0) => page,
        // Most examined ids are in the answer, because most excluded words are rare.
        (1, _) => GROWTH * page,
        _ if size <= SHORT_LIST => SHORT_LIST as usize,
        _ => FIRST_SLICE,
    }
}

/// The state of a conjunction: the position up to which its first list was read.
#[derive(Debug, Default)]
pub(super) struct Branch {
    pub(super) must: Vec<usize>,
    pub(super) without: Vec<usize>,
    /// The place at which reading the first list continues, in the order of bounds (maximum scores); `None` at the end
    /// of the list. No document that this conjunction may still find has an earlier place, because no score exceeds the
    /// bound of its document.
    pub(super) next: Option<Place>,
    /// The number of slices about which the answers of the hosts (nodes that run the search for this node) differed.
    pub(super) disputes: u64,
    /// The number of ids in the last slice of the list that was answered.
    most: usize,
    pub(super) slices: u32,
    /// The number of consecutive failures to read a slice of the list.
    pub(super) failures: u32,
    /// True if an answer from incomplete lists was requested again.
    insisted: bool,
}

impl Branch {
    /// Makes the state of a conjunction. `is_only` is true if the query has no other one.
    pub(super) fn new(clause: &Clause, is_only: bool, words: &mut Words) -> Self {
        let mut numbers = |names: &[String]| {
            let mut numbers: Vec<usize> = names.iter().map(|name| words.number(name)).collect();
            numbers.sort_unstable();
            numbers.dedup();
            numbers
        };
        let mut names = clause.must.clone();
        // Neighbours make the candidates of a phrase fewer, and change no answer. Beside other conjunctions they would:
        // a document with the words and without the phrase has the score of this conjunction, by which nobody would
        // find it.
        let room = if is_only { limits::WORDS.saturating_sub(names.len() + clause.without.len()) } else { 0 };
        names.extend(clause.phrases.iter().flat_map(Phrase::neighbours).take(room));
        let (must, without) = (numbers(&names), numbers(&clause.without));
        let contradicts = must.iter().any(|word| without.contains(word));
        let next = if contradicts { None } else { Some(Place::FIRST) };
        Self { must, without, next, ..Self::default() }
    }

    /// Restarts reading at the beginning of the first list. A branch whose words occur in no common document remains at
    /// its end.
    pub(super) fn restart(&mut self) {
        let next = if self.next.is_none() && self.slices == 0 { None } else { Some(Place::FIRST) };
        let (must, without) = (std::mem::take(&mut self.must), std::mem::take(&mut self.without));
        *self = Self { must, without, next, ..Self::default() };
    }

    pub(super) fn needs(&self, word: usize) -> bool {
        self.must.contains(&word) || self.without.contains(&word)
    }

    pub(super) fn is_done(&self) -> bool {
        self.next.is_none()
    }

    /// Ends the branch (a conjunction of the query) if one of its required words occurs in no document.
    pub(super) fn end_if_empty(&mut self, words: &Words) {
        // All sizes are awaited, because a query without a result is followed by one for most of its words.
        let are_known = self.must.iter().all(|&word| words.all[word].is_settled());
        if self.most == 0 && are_known && self.must.iter().any(|&word| words.all[word].is_empty()) {
            self.next = None;
        }
    }

    /// The word of which all nodes that keep the list have failed, so that this conjunction cannot continue; `None` if
    /// there is none.
    pub(super) fn failed_word(&self, words: &Words) -> Option<String> {
        if self.is_done() {
            return None;
        }
        let lost = self.must.iter().chain(&self.without).find(|&&word| words.all[word].is_lost());
        let stuck = self.failures >= PASSES * FAILURES_A_PASS || self.slices > SLICES;
        lost.or(if stuck { self.must.first() } else { None }).map(|&word| words.all[word].name.clone())
    }

    /// The number of ids of the first list to read in the next slice.
    pub(super) fn slice(&self, first: usize, most_allowed: usize) -> u32 {
        let most = if self.most == 0 { first } else { self.most.saturating_mul(GROWTH) };
        most.clamp(1, most_allowed) as u32
    }

    /// Records that a slice of `most` ids was answered. The next slice begins at `next`; `None` at the end of the list.
    pub(super) fn on_slice(&mut self, next: Option<Place>, most: u32) {
        self.failures = 0;
        self.most = most as usize;
        if !self.is_done() {
            self.next = next;
        }
    }

    /// True if an answer from incomplete lists is to be requested again. This is done only once, so later calls return
    /// false.
    pub(super) fn insists(&mut self) -> bool {
        !std::mem::replace(&mut self.insisted, true)
    }
}
