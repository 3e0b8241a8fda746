//! A set that remembers only the last part of a stream, its window. The set forgets a slice of the window at a time.

use super::journal_writer::JournalWriter;
use super::{Cascade, CascadeOptions, SortedSource};
use crate::error::{Error, Result, StoreProblem};
use crate::store::{MANIFEST, RunEntry, Storage, Window};

/// The journal of a set with a window may be longer than the table by this factor, besides what one sync writes.
const LONG_JOURNAL: u64 = 8;

impl<S: Storage> Cascade<S> {
    /// Opens the set that `storage` holds, or an empty one. It remembers only the keys of this [`Window`], which is cut
    /// into slices.
    ///
    /// A key that occurs again counts from its last occurrence: it is inserted into the present slice, unless it is
    /// already there. The table in RAM knows the slice of each of its keys. On storage, the keys of each slice are in
    /// runs of their own, in one when the slice has ended, and the runs of the oldest slice are removed.
    ///
    /// Cost: as without a window, at 2 bytes more a key, while all keys are in RAM. If keys are on storage, a new key
    /// is looked up in 17 runs or more, and a key takes space in each slice in which it occurred.
    ///
    /// # Errors
    /// Those of [`open`](Self::open); [`Error::Store`] if the set has another window, or none.
    pub fn open_window(storage: S, options: CascadeOptions, window: Window) -> Result<Self> {
        let mut new = Self::new_set(options);
        new.window = Some(window);
        let set = Self::open_as(storage, options, new)?;
        match set.manifest.window {
            Some(found) if found == window => Ok(set),
            found => {
                let problem = StoreProblem::OtherWindow { found, expected: window };
                Err(Error::store(set.storage.path(MANIFEST), problem))
            }
        }
    }

    /// Advances a set with a window to this tick, at which the keys of later batches occur. A tick before the present
    /// one changes nothing.
    ///
    /// If the tick is in another slice of the window, runs of slices that are not remembered any more are removed, and
    /// those of the slice that ends are merged into one. Keys in memory are kept. After a crash during this call, or
    /// before the next sync, keys may be remembered for longer, but none is forgotten early.
    ///
    /// # Errors
    /// Those of [`insert_all`](Self::insert_all).
    pub fn advance_to(&mut self, tick: u64) -> Result<()> {
        self.check_usable()?;
        let Some(window) = self.manifest.window.filter(|_| tick > self.manifest.tick) else { return Ok(()) };
        let slice = window.slice_of(tick);
        if slice == self.manifest.slice() {
            self.manifest.tick = tick;
            self.stale = true;
            return Ok(());
        }
        if self.manifest.present_runs() > 1 {
            self.merge_present()?;
        }
        self.manifest.tick = tick;
        self.stale = true;
        self.forget_runs()
    }

    /// Merges the runs of the present slice, without the keys in memory.
    fn merge_present(&mut self) -> Result<()> {
        self.broken = true;
        let kept = self.runs.len() - self.manifest.present_runs();
        let keys = self.manifest.runs[kept..].iter().map(|run| run.keys).sum();
        let sources = self.runs[kept..].iter().map(|run| Box::new(run.reader()) as Box<dyn SortedSource>).collect();
        let number = self.manifest.take_number()?;
        let (entry, run) = self.write_run(number, self.manifest.slice(), keys, sources)?;
        self.written += entry.seal.length;
        let replaced: Vec<RunEntry> = self.manifest.runs.splice(kept.., [entry]).collect();
        self.change_runs()?.splice(kept.., [run]);
        self.save_manifest()?;
        for old in replaced {
            // If the removal fails, the file is an orphan, and is removed when the store is next opened.
            let _ = self.storage.remove(&self.manifest.store.file_name(old.number));
        }
        Ok(())
    }

    /// Removes the runs of the slices that are older than the window.
    ///
    /// # Errors
    /// [`StoreProblem::Lent`] if a share is lent, and those of saving the manifest. The set is unusable afterwards. A
    /// file that cannot be removed is no error.
    pub(super) fn forget_runs(&mut self) -> Result<()> {
        let oldest = Window::oldest(self.manifest.slice());
        let forgotten = self.manifest.runs.partition_point(|run| run.slice < oldest);
        if forgotten == 0 {
            return Ok(());
        }
        self.broken = true;
        let names: Vec<String> =
            self.manifest.runs.drain(..forgotten).map(|run| self.manifest.store.file_name(run.number)).collect();
        self.change_runs()?.drain(..forgotten);
        self.save_manifest()?;
        for name in names {
            // If the removal fails, the file is an orphan, and is removed when the store is next opened.
            let _ = self.storage.remove(&name);
        }
        Ok(())
    }

    /// Sets a set with a window, all of whose keys become durable, to a tick before the present one, because the clock
    /// that counted the ticks was wrong. All keys that the set remembers count as keys of the slice of this tick: when
    /// they occurred is not known. So none is forgotten early, and none is remembered for more than 17/16 of a window
    /// from this tick on. A tick that is not before the present one changes nothing.
    ///
    /// Cost: all runs are merged into one, as in [`compact`](Self::compact). If that fails, storage is unchanged.
    ///
    /// # Errors
    /// Those of [`insert_all`](Self::insert_all).
    pub fn reset_to(&mut self, tick: u64) -> Result<()> {
        self.check_usable()?;
        let Some(window) = self.manifest.window.filter(|_| tick < self.manifest.tick) else { return Ok(()) };
        // After the compaction there is at most one run for each slice.
        self.compact()?;
        self.manifest.tick = tick;
        for run in &mut self.manifest.runs {
            run.slice = window.slice_of(tick);
        }
        match self.manifest.runs.len() {
            0 => self.save_manifest(),
            runs => self.spill(runs),
        }
    }

    /// True if advancing to this tick (a time, or a number of keys) would end the present slice of the window.
    pub fn will_end_slice(&self, tick: u64) -> bool {
        self.manifest.window.is_some_and(|window| window.slice_of(tick) > self.manifest.slice())
    }

    /// The maximum number of 64-bit numbers that the journal needs for this many keys: each key takes one and, in a set
    /// with a window, each slice takes two for its tick.
    pub(super) fn numbers_of(&self, keys: usize) -> usize {
        let ticks = match self.manifest.window {
            None => 0,
            Some(Window::Milliseconds(_)) => 1,
            Some(Window::Keys(length)) => {
                let slices = keys as u128 * u128::from(Window::SLICES) / u128::from(length.get()) + 2;
                usize::try_from(slices).unwrap_or(usize::MAX).min(keys)
            }
        };
        keys.saturating_add(2 * ticks)
    }

    /// True if the journal of a set with a window is much longer than the table, because most of its keys were
    /// forgotten or occurred again.
    pub(super) fn has_long_journal(&self) -> bool {
        let length = self.journal.as_ref().filter(|_| self.manifest.window.is_some()).map_or(0, JournalWriter::length);
        length > LONG_JOURNAL * self.table_bytes() as u64
    }

    /// The number of keys of the window's earlier slices that occurred again, and whose new occurrence is in no run and
    /// no journal yet. These keys are not among the [`unsynced`](Self::unsynced) keys.
    pub fn unsynced_repeats(&self) -> usize {
        self.journal.as_ref().map_or(0, JournalWriter::repeats)
    }
}
