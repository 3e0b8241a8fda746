//! The k-way merge of sorted keys: many runs become one.

use super::room::fill_to;
use crate::bits::merge_two;
use crate::error::Result;

/// How many keys of each source a round of the merge looks at. The windows of eight sources and the two buffers
/// between which the tree of merges goes to and fro stay in a cache of 1 MiB.
pub const MERGE_WINDOW: usize = 2048;

/// Sorted, distinct keys that arrive in pieces: what [`BufRead`](std::io::BufRead) is to bytes.
pub trait SortedSource {
    /// The keys that come next, ascending; empty at the end and only there. The same ones come again until they are
    /// [consumed](Self::consume). A source is best read if it has [`MERGE_WINDOW`] keys at hand, or all it has left.
    ///
    /// # Errors
    /// If the source is a file that cannot be read or is damaged.
    fn fill(&mut self) -> Result<&[u64]>;

    /// Passes over the next `count` keys, which must not be more than [`fill`](Self::fill) gave.
    fn consume(&mut self, count: usize);
}

impl SortedSource for &[u64] {
    fn fill(&mut self) -> Result<&[u64]> {
        Ok(self)
    }

    fn consume(&mut self, count: usize) {
        *self = &self[count..];
    }
}

impl<S: SortedSource + ?Sized> SortedSource for Box<S> {
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

impl<S: SortedSource> Merge<S> {
    /// Begins to merge. Sources may be empty, and there may be none.
    pub fn new(sources: Vec<S>) -> Self {
        Self { sources, merged: vec![], scratch: vec![] }
    }

    /// The next keys of the union, ascending and greater than all before; empty at the end.
    ///
    /// # Errors
    /// Those of the sources; [`Error::NoMemory`](crate::Error::NoMemory).
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
        fill_to(&mut self.merged, total, 0)?;
        fill_to(&mut self.scratch, total, 0)?;
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
