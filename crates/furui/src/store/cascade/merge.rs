//! The k-way merge of sorted keys: many runs become one.

use crate::error::Result;

/// How many keys of each source a round of the merge looks at. The windows of eight sources and the two buffers
/// between which the tree of merges goes to and fro stay in a cache of 1 MiB.
pub const MERGE_WINDOW: usize = 2048;

/// How many parts of one two-way merge proceed at the same time. A step of a merge waits for the step before it, 8
/// cycles or so; four independent chains fill the wait.
const CHAINS: usize = 4;

/// Sorted, distinct keys that arrive in pieces: what [`BufRead`](std::io::BufRead) is to bytes.
pub trait SortedKeys {
    /// The keys that come next, ascending; empty at the end and only there. The same ones come again until they are
    /// [consumed](Self::consume). A source is best read if it has [`MERGE_WINDOW`] keys at hand, or all it has left.
    ///
    /// # Errors
    /// If the source is a file that cannot be read or is damaged.
    fn fill(&mut self) -> Result<&[u64]>;

    /// Passes over the next `count` keys, which must not be more than [`fill`](Self::fill) gave.
    fn consume(&mut self, count: usize);
}

impl SortedKeys for &[u64] {
    fn fill(&mut self) -> Result<&[u64]> {
        Ok(self)
    }

    fn consume(&mut self, count: usize) {
        *self = &self[count..];
    }
}

impl<S: SortedKeys + ?Sized> SortedKeys for Box<S> {
    fn fill(&mut self) -> Result<&[u64]> {
        (**self).fill()
    }

    fn consume(&mut self, count: usize) {
        (**self).consume(count);
    }
}

/// The union of sorted sources, sorted: the answer to "which keys are in any of these?", a round at a time.
///
/// ```text
///   source 0  ──window──┐
///   source 1  ──window──┴─ merge ─┐           A round takes from every window the keys up to the least
///   source 2  ──window──┐         ├─ merge ─> window's last key: whatever comes later is greater. They go
///   source 3  ──window──┴─ merge ─┘           through a tree of two-way merges, then equal neighbours fall
///                                             together.
/// ```
///
/// Cost: about 0.7 ns a key and level of the tree, log₂ k levels; memory: 16 [`MERGE_WINDOW`] bytes a source, whatever
/// their lengths. Nothing branches on the keys, so that random ones cost no more than regular ones.
///
/// The two-way merge is cut into parts of equal length by co-ranking (T. Hagerup, C. Rüb, "Optimal merging and sorting
/// on the EREW PRAM", 1989), there for processors, here for the chains of dependent steps in one.
#[derive(Debug)]
pub struct Merge<S> {
    sources: Vec<S>,
    /// The keys of a round, merged; and the other buffer of the tree.
    merged: Vec<u64>,
    scratch: Vec<u64>,
}

impl<S: SortedKeys> Merge<S> {
    /// Begins to merge. Sources may be empty, and there may be none.
    pub fn new(sources: Vec<S>) -> Self {
        Self { sources, merged: vec![], scratch: vec![] }
    }

    /// The next keys of the union, ascending and greater than all before; empty at the end.
    ///
    /// # Errors
    /// Those of the sources.
    pub fn next_keys(&mut self) -> Result<&[u64]> {
        let mut windows = Vec::with_capacity(self.sources.len());
        for source in &mut self.sources {
            let keys = source.fill()?;
            windows.push(&keys[..keys.len().min(MERGE_WINDOW)]);
        }
        let Some(cut) = windows.iter().filter_map(|window| window.last().copied()).min() else { return Ok(&[]) };
        for window in &mut windows {
            *window = &window[..window.partition_point(|&key| key <= cut)];
        }
        let counts: Vec<usize> = windows.iter().map(|window| window.len()).collect();
        windows.retain(|window| !window.is_empty());
        let total = counts.iter().sum();
        if self.merged.len() < total {
            self.merged.resize(total, 0);
            self.scratch.resize(total, 0);
        }
        let merged = &mut self.merged[..total];
        merge_all(&windows, merged, &mut self.scratch[..total]);
        for (source, count) in self.sources.iter_mut().zip(counts) {
            source.consume(count);
        }
        let distinct = collapse(merged);
        Ok(&self.merged[..distinct])
    }
}

/// Merges `windows`, at least one, into `out`, with `scratch` of the same length to work in.
fn merge_all(windows: &[&[u64]], out: &mut [u64], scratch: &mut [u64]) {
    match windows {
        [] => {}
        [window] => out.copy_from_slice(window),
        [a, b] => merge_two(a, b, out),
        _ => {
            let (left, right) = windows.split_at(windows.len() / 2);
            let middle = left.iter().map(|window| window.len()).sum();
            let (scratch_left, scratch_right) = scratch.split_at_mut(middle);
            let (out_left, out_right) = out.split_at_mut(middle);
            merge_all(left, scratch_left, out_left);
            merge_all(right, scratch_right, out_right);
            merge_two(scratch_left, scratch_right, out);
        }
    }
}

/// Merges `a` and `b` into `out`, which is as long as both together.
fn merge_two(a: &[u64], b: &[u64], out: &mut [u64]) {
    let part = out.len() / CHAINS;
    let mut taken: [usize; CHAINS] = std::array::from_fn(|c| co_rank(a, b, part * c));
    let (out0, rest) = out.split_at_mut(part);
    let (out1, rest) = rest.split_at_mut(part);
    let (out2, rest) = rest.split_at_mut(part);
    let (out3, last) = rest.split_at_mut(part);
    for (rank, (((slot0, slot1), slot2), slot3)) in out0.iter_mut().zip(out1).zip(out2).zip(out3).enumerate() {
        *slot0 = step(a, b, &mut taken[0], rank);
        *slot1 = step(a, b, &mut taken[1], rank + part);
        *slot2 = step(a, b, &mut taken[2], rank + part * 2);
        *slot3 = step(a, b, &mut taken[3], rank + part * 3);
    }
    for (i, slot) in last.iter_mut().enumerate() {
        *slot = step(a, b, &mut taken[3], part * CHAINS + i);
    }
}

/// How many of the `rank` least keys of `a` and `b` are in `a`, by binary search.
fn co_rank(a: &[u64], b: &[u64], rank: usize) -> usize {
    let (mut low, mut high) = (rank.saturating_sub(b.len()), rank.min(a.len()));
    while low < high {
        let taken = low.midpoint(high);
        if a[taken] <= b[rank - taken - 1] {
            low = taken + 1;
        } else {
            high = taken;
        }
    }
    low
}

/// The least key after the `rank` least, of which `taken` are from `a` and the others from `b`.
///
/// A side that is used up counts as `u64::MAX`: it loses every comparison but that with a true `u64::MAX`, and then all
/// keys that are left are that one.
#[inline(always)]
fn step(a: &[u64], b: &[u64], taken: &mut usize, rank: usize) -> u64 {
    let x = a.get(*taken).copied().unwrap_or(u64::MAX);
    let y = b.get(rank.wrapping_sub(*taken)).copied().unwrap_or(u64::MAX);
    *taken += usize::from(x <= y);
    x.min(y)
}

/// Moves the distinct keys to the front, and says how many they are. Runs of a cascade are disjoint, so first it is
/// asked, in one vectorized pass, whether there is anything to do.
fn collapse(keys: &mut [u64]) -> usize {
    let repeats = keys.iter().zip(keys.iter().skip(1)).fold(false, |repeats, (a, b)| repeats | (a == b));
    if !repeats {
        return keys.len();
    }
    let mut distinct = 1;
    for i in 1..keys.len() {
        keys[distinct] = keys[i];
        distinct += usize::from(keys[i] != keys[distinct - 1]);
    }
    distinct
}
