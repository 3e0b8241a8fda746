//! A set that remembers only the last part of a stream, its window. The set forgets a slice of the window at a time.

use super::{Cascade, CascadeOptions};
use crate::error::{Error, Result, StoreProblem};
use crate::store::{MANIFEST, Storage, Window};

impl<S: Storage> Cascade<S> {
    /// Opens the set that `storage` holds, or an empty one. It remembers only the keys of this [`Window`], which is cut
    /// into slices.
    ///
    /// A key that occurs again counts from its last occurrence: it is inserted into the present slice, unless it is
    /// already there. The table in RAM knows the slice of each of its keys. On storage, the keys of each slice are in runs
    /// of their own, in one when the slice has ended, and the runs of the oldest slice are removed.
    ///
    /// Cost: as without a window, at 2 bytes more a key, while all keys are in RAM. If keys are on storage, a new key is
    /// looked up in 17 runs or more, and a key takes space in each slice in which it occurred.
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
    /// If the tick is in another slice of the window, slices that are no longer remembered are removed. If there is a
    /// journal, all keys become durable first; otherwise those in memory stay there. After a crash during this call, or
    /// before the next change of the set, keys may be remembered for one slice longer, but none is forgotten early.
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
        // The keys of a journal belong to the slice of the manifest, so they become a run, and the manifest is saved.
        let journals = self.journal.is_some() || self.old_journal.is_some();
        let has_keys = self.keys_in_memory() > 0 || self.old_journal.is_some();
        if journals && has_keys || self.manifest.present_runs() > 1 {
            self.compact()?;
        }
        self.manifest.tick = tick;
        self.stale = true;
        let oldest = Window::oldest(slice);
        if !journals && self.manifest.runs.first().is_none_or(|run| run.slice >= oldest) {
            // Nothing on storage is to be forgotten, and the keys in memory keep the slices in which they occurred.
            return Ok(());
        }
        self.broken = true;
        let forgotten = self.manifest.runs.partition_point(|run| run.slice < oldest);
        let names: Vec<String> =
            self.manifest.runs.drain(..forgotten).map(|run| self.manifest.store.file_name(run.number)).collect();
        if self.saved {
            self.manifest.save(&self.storage)?;
        }
        self.stale = false;
        self.change_runs()?.drain(..forgotten);
        self.broken = false;
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
        // There is at most one run for each slice then.
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

    /// True if advancing to this tick would end the present slice of the window.
    pub fn will_end_slice(&self, tick: u64) -> bool {
        self.manifest.window.is_some_and(|window| window.slice_of(tick) > self.manifest.slice())
    }

    /// True if keys become durable when a slice of the window ends: if there is a journal, or if there are several runs
    /// of the slice, which are merged.
    pub(crate) fn syncs_slices(&self) -> bool {
        self.journal.is_some() || self.old_journal.is_some() || self.manifest.present_runs() > 1
    }

    /// The number of keys of the window's earlier slices that occurred again, and whose new occurrence is in no run and
    /// no journal yet. These keys are not among the [`unsynced`](Self::unsynced) keys.
    pub fn unsynced_repeats(&self) -> usize {
        self.journal.as_ref().map_or(0, super::JournalWriter::repeats)
    }
}
