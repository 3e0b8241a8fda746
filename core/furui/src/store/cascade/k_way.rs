//! The k-way merge of sorted keys, which makes one run out of many.

use super::room::fill_to;
use crate::bits::merge_two;
use crate::error::Result;

/// The number of keys of each source that a round of the merge reads. The keys that a round reads from eight sources,
/// and the two buffers of the tree of merges, fit into a cache of 1 MiB.
pub const MERGE_WINDOW: usize = 2048;

/// A source of sorted, distinct keys that arrive in pieces, as bytes do from a [`BufRead`](std::io::BufRead).
///
/// ```
/// use furui::raw::{Merge, SortedSource};
///
/// /// The multiples of a number up to a limit, a few at a time.
/// struct Multiples(Vec<u64>, u64);
///
/// impl SortedSource for Multiples {
///     fn fill(&mut self) -> furui::Result<&[u64]> {
///         while self.0.len() < 4 && self.1 < 12 {
///             self.0.push(self.1);
///             self.1 += 3;
///         }
///         Ok(&self.0)
///     }
///
///     fn consume(&mut self, count: usize) {
///         self.0.drain(..count);
///     }
/// }
///
/// let mut merge = Merge::new(vec![Multiples(vec![], 3), Multiples(vec![], 1)]);
/// let mut all = vec![];
/// while let keys @ [_, ..] = merge.next_keys()? {
///     all.extend_from_slice(keys);
/// }
/// assert_eq!(all, [1, 3, 4, 6, 7, 9, 10]);
/// # Ok::<(), furui::Error>(())
/// ```
pub trait SortedSource {
    /// The next keys, ascending. The slice is empty only at the end. The same keys are returned again until they are
    /// [consumed](Self::consume). The merge is fastest if a source returns [`MERGE_WINDOW`] keys, or all it has left.
    ///
    /// # Errors
    /// If the source is a file that cannot be read or is damaged.
    fn fill(&mut self) -> Result<&[u64]>;

    /// Skips the next `count` keys. `count` must not exceed the number of keys that [`fill`](Self::fill) returned.
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

/// The sorted union of sorted sources, a round at a time.
///
/// ```text
///   source 0  ──window──┐
///   source 1  ──window──┴─ merge ─┐           A round takes from every window the keys up to the least
///   source 2  ──window──┐         ├─ merge ─> window's last key: whatever comes later is greater. They go
///   source 3  ──window──┴─ merge ─┘           through a tree of two-way merges. Then all but one of equal
///                                             neighbours are dropped.
/// ```
///
/// Cost: about 0.7 ns for each key and each of the log₂ k levels of the tree. Memory: 16 × [`MERGE_WINDOW`] bytes for
/// each source, whatever its length. No branch depends on a key, so random keys cost no more than regular ones.
///
/// The two-way merge is divided into parts of equal length by co-ranking (T. Hagerup, C. Rüb, "Optimal merging and
/// sorting on the EREW PRAM", 1989). In that paper each part is for one processor; here the parts are independent
/// chains of instructions in a single processor.
///
/// ```
/// use furui::raw::Merge;
///
/// let mut merge = Merge::new(vec![&[1, 3][..], &[2, 3][..]]);
/// assert_eq!(merge.next_keys()?, [1, 2, 3]);
/// assert!(merge.next_keys()?.is_empty());
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Debug)]
pub struct Merge<S> {
    sources: Vec<S>,
    /// The merged keys of the current round.
    merged: Vec<u64>,
    /// The second buffer for merging pairs of sources.
    scratch: Vec<u64>,
}

impl<S: SortedSource> Merge<S> {
    /// A merge of these sources. Sources may be empty, and there may be none.
    pub fn new(sources: Vec<S>) -> Self {
        Self { sources, merged: vec![], scratch: vec![] }
    }

    /// The next keys of the union, ascending and greater than all earlier ones; empty at the end.
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

/// Merges `windows` into `out`. `scratch` has the same length as `out`.
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

/// Removes repeated keys from the sorted `keys`: moves the distinct ones to the front, and returns their number. Most
/// merges have no equal keys, because runs of an exact set are disjoint, so a vectorized pass first finds out whether
/// there are any.
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
