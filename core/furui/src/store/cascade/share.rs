use std::fmt;
use std::sync::Arc;

use super::memtable::{Known, MemTable};
use super::room::{fill_to, reserve};
use super::{Part, Run, batch};
use crate::error::{Error, Result};
use crate::format::ReadAt;

/// The number of hashes of a sorted batch that are looked up and inserted together. The parts of the table that their
/// look-up reads are still in the second-level cache when they are inserted.
const PART: usize = 4096;

/// A share of a [`Cascade`](super::Cascade): the table in RAM for one of several equal ranges of the hashes, with the
/// buffers and the handles to the runs that look-ups need.
///
/// [`Seen::split`](crate::seen::Seen::split) lends the shares of a set to several threads, and describes the steps of a
/// batch.
///
/// ```
/// use furui::seen::{Seen, SeenOptions};
/// use furui::store::Memory;
/// use furui::store::cascade::SplitBatch;
///
/// let mut seen = Seen::open_with(Memory::new(), SeenOptions::default())?;
/// let mut shares = seen.split(1)?;
/// let (keys, mut batch) = (seen.hash_spec().hasher().hash_all(["a", "b"]), SplitBatch::new(1));
/// batch.fill(&keys, &[0, 1])?;
/// assert!(seen.admit(&keys, &batch)?);
/// let mut part = batch.take(0);
/// shares[0].observe(&mut part)?;
/// batch.put(0, part);
/// assert!(batch.is_complete());
/// # Ok::<(), furui::Error>(())
/// ```
pub struct Share<F> {
    pub(super) table: MemTable,
    /// The runs of the set; `None` unless the share is lent. No run belongs to an earlier slice of a window.
    pub(super) runs: Option<Arc<Vec<Run<F>>>>,
    /// The maximum size of the table in bytes, while the share is lent.
    pub(super) most_bytes: usize,
    /// The hashes of the current batch with their indices, sorted.
    batch: Vec<(u64, u32)>,
    scratch: Vec<(u64, u32)>,
    /// The hashes of a part of the batch that the table does not have, or has only from before the window, with their
    /// indices.
    absent: Vec<(u64, u32)>,
    /// The distinct hashes of `absent` that no run of the present slice has, ascending.
    wanted: Vec<u64>,
    /// For each of `wanted`, true if a run of an earlier slice of the window has it.
    found: Vec<bool>,
}

/// The runs of a set in two lists: those of earlier slices of its window, and those of the present slice.
pub(super) type Levels<'a, F> = (&'a [Run<F>], &'a [Run<F>]);

impl<F> Share<F> {
    pub(super) fn new(table: MemTable) -> Self {
        Self {
            table,
            runs: None,
            most_bytes: 0,
            batch: vec![],
            scratch: vec![],
            absent: vec![],
            wanted: vec![],
            found: vec![],
        }
    }

    /// Makes room in the table for more hashes, as [`MemTable::reserve`] does.
    ///
    /// # Errors
    /// [`Error::NoMemory`]. A table that may not grow beyond `max_bytes` is no error but the answer false.
    pub(super) fn reserve(&mut self, additional: usize, max_bytes: usize) -> Result<bool> {
        let reserved = self.table.reserve(additional, max_bytes);
        reserved.map_err(|_| self.no_memory())
    }

    /// Makes room for more hashes in a table with a window, as [`reserve`](Self::reserve) does, but first removes the
    /// hashes that are older than the window. A fifth of the table is kept free, so that it is not searched for such
    /// hashes again and again.
    ///
    /// # Errors
    /// Those of [`reserve`](Self::reserve).
    pub(super) fn reserve_in(&mut self, slice: u64, additional: usize, max_bytes: usize) -> Result<bool> {
        if self.table.growth(additional) == 0 && !self.table.is_crowded() {
            return Ok(true);
        }
        self.table.forget(slice);
        let spare = (self.table.len() + additional) / 4;
        self.reserve(additional + spare, max_bytes)
    }

    /// The error that the table cannot grow, with its present size.
    fn no_memory(&self) -> Error {
        Error::NoMemory { what: "a set's table", bytes: self.table.bytes() }
    }
}

impl<F: ReadAt> Share<F> {
    /// Inserts the keys of this share's part of a batch, and notes in the part which of them are new. The parts of all
    /// batches must be observed once each, in the order of the batches, and after their batches have been
    /// [admitted](crate::seen::Seen::admit).
    ///
    /// # Errors
    /// Those of [`Cascade::insert_all`](super::Cascade::insert_all). The verdicts on the batch are then void, and the
    /// set must be opened again.
    pub fn observe(&mut self, part: &mut Part) -> Result<()> {
        // The set has made sure that there is room. A table that has become crowded meanwhile still receives the keys
        // of the batches that were admitted before, and no others.
        if !self.table.grow_for(part.hashes.len(), self.most_bytes).map_err(|_| self.no_memory())? {
            self.table.grow_for(part.hashes.len(), usize::MAX).map_err(|_| self.no_memory())?;
        }
        let runs = self.runs.clone();
        let runs = runs.as_ref().map_or(&[][..], |runs| &runs[..]);
        self.insert((&[], runs), 0, &part.hashes, &mut part.new, |_| {})?;
        (part.is_observed, part.is_crowded) = (true, self.table.is_crowded());
        Ok(())
    }

    /// Inserts `hashes` into the table, which has room for them, without reading the runs. Appends to `new` the indices
    /// of the hashes that the table did not have.
    pub(super) fn add(&mut self, hashes: &[u64], new: &mut Vec<u32>) {
        self.table.insert_all(hashes, |i| new.push(i as u32));
    }

    /// Inserts `hashes`, for which the table has room, and appends to `new` the indices of the hashes that were not in
    /// the set. In a set with a window, the hashes occur in slice `slice`, and `on_repeat` is called with each hash
    /// that was only in earlier slices.
    ///
    /// # Errors
    /// [`Error::NoMemory`], or those of reading a run. Some of the hashes may be in the table then, so a set with runs
    /// is unusable afterwards.
    pub(super) fn insert(
        &mut self,
        levels: Levels<'_, F>,
        slice: u64,
        hashes: &[u64],
        new: &mut Vec<u32>,
        mut on_repeat: impl FnMut(u64),
    ) -> Result<()> {
        reserve(new, hashes.len())?;
        match levels {
            ([], []) if self.table.is_dated() => {
                self.table.insert_dated(hashes, slice, |i, known| match known {
                    Known::No => new.push(i as u32),
                    Known::Earlier => on_repeat(hashes[i]),
                    Known::Present => {}
                });
                return Ok(());
            }
            ([], []) => {
                self.add(hashes, new);
                return Ok(());
            }
            _ => {}
        }
        self.sort(hashes)?;
        for start in (0..self.batch.len()).step_by(PART) {
            self.take_part(start)?;
            if self.table.is_dated() {
                self.table.retain_unknown(&mut self.absent, slice, &mut on_repeat);
            } else {
                self.table.retain_absent(&mut self.absent);
            }
            self.seek_absent(levels)?;
            // The hashes are in order, so the table is written from front to back. Among equal hashes, the one that
            // came first is in front.
            if self.table.is_dated() {
                self.table.insert_dated(&self.wanted, slice, |_, _| {});
            } else {
                self.table.insert_all(&self.wanted, |_| {});
            }
            let mut wanted = self.wanted.iter().copied().zip(&self.found).peekable();
            for &(hash, index) in &self.absent {
                if let Some((_, &occurred)) = wanted.next_if(|&(wanted, _)| wanted == hash) {
                    if occurred {
                        on_repeat(hash);
                    } else {
                        new.push(index);
                    }
                }
            }
        }
        Ok(())
    }

    /// True if the table has the hash and, in a set with a window, if the hash occurred in the window that ends with
    /// this slice.
    pub(super) fn knows(&self, hash: u64, slice: u64) -> bool {
        if self.table.is_dated() { self.table.knows(hash, slice) } else { self.table.contains(hash) }
    }

    /// Looks up each hash, and appends to the empty `out` one answer: true if it is in the set. In a set with a window,
    /// `slice` is the present slice.
    ///
    /// # Errors
    /// [`Error::NoMemory`], or those of reading a run.
    pub(super) fn contains_all(
        &mut self,
        levels: Levels<'_, F>,
        slice: u64,
        hashes: &[u64],
        out: &mut Vec<bool>,
    ) -> Result<()> {
        reserve(out, hashes.len())?;
        match levels {
            ([], []) if self.table.is_dated() => {
                out.extend(hashes.iter().map(|&hash| self.knows(hash, slice)));
                return Ok(());
            }
            ([], []) => {
                self.table.contains_all(hashes, out);
                return Ok(());
            }
            _ => {}
        }
        out.resize(hashes.len(), true);
        self.sort(hashes)?;
        for start in (0..self.batch.len()).step_by(PART) {
            self.take_part(start)?;
            if self.table.is_dated() {
                let table = &self.table;
                self.absent.retain(|&(hash, _)| !table.knows(hash, slice));
            } else {
                self.table.retain_absent(&mut self.absent);
            }
            self.seek_absent(levels)?;
            let mut wanted = self.wanted.iter().copied().zip(&self.found).peekable();
            for &(hash, index) in &self.absent {
                while wanted.next_if(|&(absent, _)| absent < hash).is_some() {}
                if let Some(&(absent, &occurred)) = wanted.peek() {
                    out[index as usize] = absent != hash || occurred;
                }
            }
        }
        Ok(())
    }

    /// Stores the hashes in `batch`, sorted, with their indices.
    fn sort(&mut self, hashes: &[u64]) -> Result<()> {
        self.batch.clear();
        reserve(&mut self.batch, hashes.len())?;
        self.batch.extend(hashes.iter().copied().zip(0..));
        batch::sort_by_hash(&mut self.batch, &mut self.scratch)
    }

    /// Copies the next part of `batch`, which begins at the index `start`, to `absent`.
    fn take_part(&mut self, start: usize) -> Result<()> {
        let part = &self.batch[start..self.batch.len().min(start + PART)];
        self.absent.clear();
        reserve(&mut self.absent, part.len())?;
        self.absent.extend_from_slice(part);
        Ok(())
    }

    /// Looks up the hashes of `absent`, which are not in RAM. `wanted` gets those that no run of the window's present
    /// slice holds either, ascending and distinct. For each hash of `wanted`, `found` tells whether a run of an earlier
    /// slice holds it, which none does if there is no window.
    fn seek_absent(&mut self, (earlier, present): Levels<'_, F>) -> Result<()> {
        let absent = &self.absent;
        self.wanted.clear();
        reserve(&mut self.wanted, absent.len())?;
        self.wanted.extend(absent.iter().map(|&(hash, _)| hash));
        self.wanted.dedup();
        self.found.clear();
        fill_to(&mut self.found, self.wanted.len(), false)?;
        for run in present {
            run.contains_sorted(&self.wanted, &mut self.found)?;
        }
        let mut found = self.found.iter();
        self.wanted.retain(|_| found.next() == Some(&false));
        self.found.clear();
        fill_to(&mut self.found, self.wanted.len(), false)?;
        for run in earlier {
            run.contains_sorted(&self.wanted, &mut self.found)?;
        }
        Ok(())
    }
}

impl<F> fmt::Debug for Share<F> {
    /// Shows the number of keys, but not the keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Share").field("keys_in_memory", &self.table.len()).finish_non_exhaustive()
    }
}
