use std::collections::HashMap;
use std::sync::Arc;

use furui_search::{ContentId, IdRange, Weight};

use super::fault::Outcome;
use super::posting::Posting;

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
    ids: Arc<[ContentId]>,
    weights: Arc<[Weight]>,
    /// True if the run contains all ids of the list whose heads are at least `first`.
    complete: bool,
    /// The postings that were added to the list since this part of it was cached.
    pending: Vec<Posting>,
    used: u64,
}

/// A range of a run's ids and weights.
pub(super) struct Part<'r> {
    run: &'r Run,
    from: usize,
    to: usize,
}

impl Runs {
    /// The approximate size of a cache entry without its ids, in bytes.
    const ENTRY: usize = 160;

    pub(super) fn new(most_bytes: usize) -> Self {
        Self { by_word: HashMap::new(), bytes: 0, most_bytes, time: 0 }
    }

    /// Records that `postings` were added to the list of `word`, so that its cached parts are extended.
    pub(super) fn add(&mut self, word: u32, postings: &[Posting]) {
        if let Some(run) = self.by_word.get_mut(&word) {
            run.pending.extend(postings);
            self.bytes += size_of_val(postings);
        }
    }

    /// Returns the first `most` ids of the list in `range`; `None` if the cache does not contain them. `weighted`
    /// appends the ids and weights of postings to its second argument.
    pub(super) fn get(
        &mut self,
        word: u32,
        range: IdRange,
        most: usize,
        weighted: impl FnOnce(&[Posting], &mut Vec<(ContentId, Weight)>) -> Outcome<()>,
    ) -> Outcome<Option<Part<'_>>> {
        self.time += 1;
        let Some(run) = self.by_word.get_mut(&word) else { return Ok(None) };
        run.used = self.time;
        if !run.pending.is_empty() {
            let mut all = Vec::with_capacity(run.ids.len() + run.pending.len());
            all.extend(run.ids.iter().copied().zip(run.weights.iter().copied()));
            weighted(&run.pending, &mut all)?;
            // An incomplete run contains only the first ids of the list, so new ids after its last id are dropped.
            let end = if run.complete { None } else { run.ids.last().copied() };
            all.retain(|(id, _)| run.first <= id.head() && end.is_none_or(|end| *id <= end));
            // The stable sort detects the first run as sorted; the second one is short and unsorted.
            all.sort_by_key(|(id, _)| *id);
            self.bytes -= run.bytes();
            run.pending = vec![];
            run.ids = all.iter().map(|(id, _)| *id).collect();
            run.weights = all.iter().map(|(_, weight)| *weight).collect();
            self.bytes += run.bytes();
        }
        Ok(run.get(range, most))
    }

    /// Adds a run of the list of `word` to the cache. If the cache becomes too large, the least recently used runs are
    /// evicted.
    pub(super) fn insert(&mut self, word: u32, mut run: Run) {
        run.used = self.time;
        self.bytes += run.bytes();
        if let Some(old) = self.by_word.insert(word, run) {
            self.bytes -= old.bytes();
        }
        if self.bytes > self.most_bytes {
            self.evict();
        }
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

    /// Evicts the least recently used runs (cached parts of lists) until the cache uses at most half of its limit, so
    /// that evictions are rare.
    fn evict(&mut self) {
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
    pub(super) fn new(first: u64, postings: &[(ContentId, Weight)], complete: bool) -> Self {
        Self {
            first,
            ids: postings.iter().map(|(id, _)| *id).collect(),
            weights: postings.iter().map(|(_, weight)| *weight).collect(),
            complete,
            pending: vec![],
            used: 0,
        }
    }

    fn bytes(&self) -> usize {
        Runs::ENTRY + size_of_val(&*self.ids) + size_of_val(&*self.weights) + size_of_val(self.pending.as_slice())
    }

    /// The first `most` ids in `range`; `None` if this run, the cached part of a list, does not have all of them.
    pub(super) fn get(&self, range: IdRange, most: usize) -> Option<Part<'_>> {
        if range.first < self.first {
            return None;
        }
        let start = self.ids.partition_point(|id| id.head() < range.first);
        let end = self.ids.partition_point(|id| id.head() <= range.last);
        let found = &self.ids[start..end.max(start)];
        if found.len() < most && end == self.ids.len() && !self.complete {
            return None;
        }
        Some(Part { run: self, from: start, to: start + found.len().min(most) })
    }
}

impl Part<'_> {
    pub(super) fn ids(&self) -> Arc<[ContentId]> {
        part(&self.run.ids, self.from, self.to)
    }

    pub(super) fn weights(&self) -> Arc<[Weight]> {
        part(&self.run.weights, self.from, self.to)
    }
}

fn part<T: Copy>(all: &Arc<[T]>, from: usize, to: usize) -> Arc<[T]> {
    if to - from == all.len() { Arc::clone(all) } else { all[from..to].into() }
}
