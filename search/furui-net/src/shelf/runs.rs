use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use furui_search::{ContentId, IdRange, ListPart, Weight};

/// A cache of sorted parts of lists, bounded in bytes.
#[derive(Debug)]
pub(super) struct Runs {
    by_word: HashMap<u32, Run>,
    bytes: usize,
    most_bytes: usize,
    /// A counter of look-ups in the cache, which serves as the time for the least-recently-used eviction.
    time: u64,
}

/// A cached part of a list: the ids whose heads (first 64 bits) are at least `first`, in ascending order. It contains
/// all of these ids, or only the first ones.
#[derive(Debug)]
pub(super) struct Run {
    first: u64,
    list: ListPart,
    /// True if the run contains all ids of the list whose heads are at least `first`.
    complete: bool,
    /// The postings that were added to the list since this part of it was cached.
    pending: Vec<(ContentId, Weight)>,
    used: u64,
}

impl Runs {
    /// The approximate size of a cache entry without its ids, in bytes.
    const ENTRY: usize = 160;

    pub(super) fn new(most_bytes: usize) -> Self {
        Self { by_word: HashMap::new(), bytes: 0, most_bytes, time: 0 }
    }

    /// Records that `postings` were added to the list of `word`, so that its cached parts are extended.
    pub(super) fn add(&mut self, word: u32, postings: &[(ContentId, Weight)]) {
        if let Some(run) = self.by_word.get_mut(&word) {
            run.pending.extend(postings);
            self.bytes += size_of_val(postings);
            self.evict();
        }
    }

    /// Returns the first `most` postings of the list in `range`; `None` if the cache does not contain them.
    pub(super) fn get(&mut self, word: u32, range: IdRange, most: usize) -> Option<ListPart> {
        self.time += 1;
        let run = self.by_word.get_mut(&word)?;
        run.used = self.time;
        if !run.pending.is_empty() {
            self.bytes -= run.bytes();
            let (ids, weights) = &run.list;
            let known = ids.iter().copied().zip(weights.iter().copied());
            let mut all: Vec<_> = known.chain(run.pending.drain(..)).collect();
            // An incomplete run contains only the first ids of the list, so new ids after its last id are dropped.
            let end = if run.complete { None } else { ids.last().copied() };
            all.retain(|(id, _)| run.first <= id.head() && end.is_none_or(|end| *id <= end));
            // The stable sort detects the first run as sorted; the second one is short and unsorted.
            all.sort_by_key(|(id, _)| *id);
            *run = Run { used: run.used, ..Run::new(run.first, all, run.complete) };
            self.bytes += run.bytes();
        }
        run.get(range, most)
    }

    /// Adds a run of the list of `word` to the cache. If the cache becomes too large, the least recently used runs are
    /// evicted.
    pub(super) fn insert(&mut self, word: u32, mut run: Run) {
        run.used = self.time;
        self.bytes += run.bytes();
        if let Some(old) = self.by_word.insert(word, run) {
            self.bytes -= old.bytes();
        }
        self.evict();
    }

    /// Empties the cache of sorted parts of lists.
    pub(super) fn clear(&mut self) {
        self.by_word.clear();
        self.bytes = 0;
    }

    /// The size of the cached parts of lists, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// If the cache exceeds its limit, evicts the least recently used runs (cached parts of lists) until it uses at
    /// most half of the limit, so that evictions are rare.
    fn evict(&mut self) {
        if self.bytes <= self.most_bytes {
            return;
        }
        let mut by_use: Vec<(u64, u32)> = self.by_word.iter().map(|(&word, run)| (run.used, word)).collect();
        by_use.sort_unstable();
        for (_, word) in by_use {
            if self.bytes <= self.most_bytes / 2 {
                break;
            }
            if let Some(run) = self.by_word.remove(&word) {
                self.bytes -= run.bytes();
            }
        }
    }
}

impl Run {
    /// Makes a run from the ids in the ascending postings of a list whose heads are at least `first`: all of them if
    /// `complete` is true, otherwise only the first ones.
    pub(super) fn new(first: u64, postings: Vec<(ContentId, Weight)>, complete: bool) -> Self {
        let (ids, weights): (Vec<ContentId>, Vec<Weight>) = postings.into_iter().unzip();
        Self { first, list: (ids.into(), weights.into()), complete, pending: vec![], used: 0 }
    }

    fn bytes(&self) -> usize {
        Runs::ENTRY + size_of_val(&*self.list.0) + size_of_val(&*self.list.1) + size_of_val(self.pending.as_slice())
    }

    /// The first `most` postings in `range`; `None` if this run, the cached part of a list, does not have all of them.
    pub(super) fn get(&self, range: IdRange, most: usize) -> Option<ListPart> {
        let (ids, weights) = &self.list;
        if range.first < self.first {
            return None;
        }
        let start = ids.partition_point(|id| id.head() < range.first);
        let end = ids.partition_point(|id| id.head() <= range.last).max(start);
        if end - start < most && end == ids.len() && !self.complete {
            return None;
        }
        let found = start..end.min(start.saturating_add(most));
        Some((part(ids, found.clone()), part(weights, found)))
    }
}

fn part<T: Copy>(all: &Arc<[T]>, range: Range<usize>) -> Arc<[T]> {
    if range.len() == all.len() { Arc::clone(all) } else { all[range].into() }
}
