//! Merging the table in RAM, when it is full, and the newest runs into a new run on storage.

use std::cell::Cell;

use super::commit::Absent;
use super::drain::Drain;
use super::journal_writer::JournalWriter;
use super::{Cascade, Merge, NewKeys, Run, RunWriter, SortedSource, WrittenRun, open_run, policy};
use crate::error::Result;
use crate::store::{RunEntry, Storage};

impl<S: Storage> Cascade<S> {
    /// The number of bytes of RAM that the runs take, for fences and marks.
    pub(super) fn run_bytes(&self) -> u64 {
        self.runs.iter().map(Run::resident_bytes).sum()
    }

    /// Makes room for a batch that has `counts[i]` keys for the table i. If the tables would exceed the memory limit,
    /// they are written to storage. A batch that does not fit even then gets the room it needs: the caller had memory
    /// for the batch, too.
    ///
    /// # Errors
    /// Those of writing a run or the journal; [`Error::NoMemory`](crate::Error::NoMemory) if a table cannot grow.
    pub(super) fn make_room(&mut self, counts: &[usize]) -> Result<()> {
        self.prepared = 0;
        if counts.iter().all(|&count| count == 0) {
            return Ok(());
        }
        if self.has_long_journal() || self.old_journal.is_some() && self.journal.is_some() && !self.replaying {
            // A journal whose writer was killed or failed is not continued, because its state on storage is not known.
            self.publish()?;
        }
        let numbers = self.numbers_of(counts.iter().sum());
        if self.journal.as_ref().is_some_and(|journal| !journal.has_room(numbers)) {
            self.write_journal(usize::MAX)?;
        }
        if self.reserve(counts, self.table_budget())? {
            return Ok(());
        }
        self.publish_table()?;
        if !self.reserve(counts, self.table_budget())? {
            self.reserve(counts, usize::MAX)?;
        }
        Ok(())
    }

    /// Makes room for `counts[i]` more keys in the table i, if all tables together then take at most `max_bytes`.
    /// Returns false if they would take more.
    fn reserve(&mut self, counts: &[usize], max_bytes: usize) -> Result<bool> {
        let most = max_bytes / self.shares.len();
        let window = self.manifest.window.map(|_| self.manifest.slice());
        for (share, &count) in self.shares.iter_mut().zip(counts) {
            let has_room = match window {
                Some(slice) => share.reserve_in(slice, count, most)?,
                None => share.reserve(count, most)?,
            };
            if !has_room {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The maximum size of the tables in bytes: the part of the memory that the runs leave, but at least half of the
    /// memory.
    pub(super) fn table_budget(&self) -> usize {
        let journal = self.journal.as_ref().map_or(0, JournalWriter::bytes);
        let room = self.memory.saturating_sub(self.run_bytes() + journal).max(self.memory / 2);
        usize::try_from(room).unwrap_or(usize::MAX)
    }

    /// Saves the manifest. The manifest of a new store is saved before any other file, because runs without a manifest
    /// are taken for a damaged store, not for a new one.
    ///
    /// # Errors
    /// Those of the storage. The set is unusable afterwards.
    pub(super) fn save_manifest(&mut self) -> Result<()> {
        self.broken = true;
        self.manifest.save(&self.storage)?;
        (self.saved, self.stale, self.broken) = (true, false, false);
        Ok(())
    }

    /// Writes the keys of the tables to storage as a run, merged with those newest runs that the policy chooses. In a
    /// set with a window, each slice gets a run of its own.
    ///
    /// # Errors
    /// Those of [`spill`](Self::spill).
    pub(super) fn publish_table(&mut self) -> Result<()> {
        if self.manifest.window.is_some() {
            return self.spill_slices();
        }
        let keys = self.keys_in_memory() as u64;
        if keys == 0 {
            return Ok(());
        }
        let sizes: Vec<u64> = self.manifest.runs.iter().map(|run| run.keys).collect();
        self.spill(policy::runs_to_merge(&sizes, keys))
    }

    /// Merges the tables and the newest `count` runs, all of the present slice, into one new run, makes it durable, and
    /// removes the merged runs.
    ///
    /// # Errors
    /// Those of reading the merged runs, of writing the new one and of saving the manifest. The set is unusable
    /// afterwards; storage has the state before or after the merge.
    pub(super) fn spill(&mut self, count: usize) -> Result<()> {
        self.spill_with(count, None)
    }

    /// Works as [`spill`](Self::spill), and adds new keys to the run: those that the set does not have. The number of
    /// the others is added to the cell.
    ///
    /// # Errors
    /// Those of [`spill`](Self::spill), and those of reading the new keys.
    pub(super) fn spill_with(&mut self, count: usize, new: Option<(NewKeys<'_>, &Cell<u64>)>) -> Result<()> {
        if !self.saved {
            self.save_manifest()?;
        }
        self.broken = true;
        let kept = self.manifest.runs.len() - count;
        let in_memory = self.keys_in_memory() as u64;
        let mut sources: Vec<Box<dyn SortedSource + '_>> =
            vec![Box::new(Drain::new(self.shares.iter().map(|share| &share.table)))];
        let merged = &self.runs[self.base + kept..];
        sources.extend(merged.iter().map(|run| Box::new(run.reader()) as Box<dyn SortedSource>));
        let mut keys = in_memory + self.manifest.runs[kept..].iter().map(|run| run.keys).sum::<u64>();
        if let Some((new, known)) = new {
            keys = keys.saturating_add(new.count);
            sources.push(Box::new(Absent::new(new.sources, &self.runs, &self.shares, known)));
        }
        let number = self.manifest.take_number()?;
        let (entry, run) = self.write_run(number, self.manifest.slice(), keys, sources)?;
        self.written += entry.seal.length;
        let mut replaced = self.manifest.runs.split_off(kept);
        // A run without keys is not named, and removed: a set had all new keys already.
        if entry.keys > 0 { &mut self.manifest.runs } else { &mut replaced }.push(entry);
        // A merge without new keys keeps the manifest's mark, so that the kept tiers of a set still belong to the set.
        if !self.replaying && (in_memory > 0 || self.old_journal.is_some()) {
            self.manifest.end_journal();
        }
        self.manifest.save(&self.storage)?;
        let base = self.base;
        let runs = self.change_runs()?;
        runs.truncate(base + kept);
        runs.extend((!run.is_empty()).then_some(run));
        self.end_merge(replaced);
        Ok(())
    }

    /// Empties the tables, whose keys are all in runs that the manifest names, and removes the files of the runs that
    /// it names no more, and of the journal.
    fn end_merge(&mut self, replaced: Vec<RunEntry>) {
        let is_large = self.table_bytes() > self.table_budget();
        for (number, share) in self.shares.iter_mut().enumerate() {
            share.table.clear();
            if is_large {
                share.table = share.table.renewed(number);
            }
        }
        (self.stale, self.broken) = (false, false);
        for old in replaced {
            // If the removal fails, the file is an orphan, and the next opening of the store removes it.
            let _ = self.storage.remove(&self.manifest.store.file_name(old.number));
        }
        if !self.replaying {
            self.remove_journal();
        }
    }

    /// Merges sorted sources of at most `keys` keys, all of one slice of the window, into a new run with the number
    /// `number`.
    ///
    /// # Errors
    /// Those of the sources and of the storage. No run has the number then.
    pub(super) fn write_run(
        &self,
        number: u64,
        slice: u64,
        keys: u64,
        sources: Vec<Box<dyn SortedSource + '_>>,
    ) -> Result<(RunEntry, Run<S::File>)> {
        let name = self.manifest.store.file_name(number);
        let path = self.storage.path(&name);
        let WrittenRun { keys, seal } = self.storage.publish(&name, |out| {
            let mut writer = RunWriter::of(out, &path, self.manifest.hash, self.manifest.fingerprints, keys)?;
            let mut merge = Merge::new(sources);
            loop {
                let keys = merge.next_keys()?;
                if keys.is_empty() {
                    return writer.finish();
                }
                writer.push(keys)?;
            }
        })?;
        let entry = RunEntry { number, keys, seal, slice };
        let file = entry.open(&self.storage, self.manifest.store)?;
        let run = open_run(&self.storage, &entry, file, &self.manifest)?;
        Ok((entry, run))
    }

    /// Writes the keys of the table of a set with a window to storage: those of each slice become a run. A slice that
    /// has ended has one run, so its earlier runs are merged with the new one.
    fn spill_slices(&mut self) -> Result<()> {
        self.prepared = 0;
        self.forget_runs()?;
        let present = self.manifest.slice();
        self.shares[0].table.forget(present);
        let slices = self.shares[0].table.slices();
        let has_journal =
            self.old_journal.is_some() || self.journal.as_ref().is_some_and(|journal| !journal.is_empty());
        if slices.is_empty() && !has_journal {
            return Ok(());
        }
        if !self.saved {
            self.save_manifest()?;
        }
        self.broken = true;
        let mut numbers = vec![];
        for _ in &slices {
            numbers.push(self.manifest.take_number()?);
        }
        if numbers.len() > 1 {
            // As in a removal of keys: a crash leaves at most one file with a number that no manifest has given out.
            self.manifest.save(&self.storage)?;
        }
        let mut replaced = vec![];
        for (&(slice, keys), number) in slices.iter().zip(numbers) {
            let runs = &self.manifest.runs;
            let (start, end) =
                (runs.partition_point(|run| run.slice < slice), runs.partition_point(|run| run.slice <= slice));
            let sizes: Vec<u64> = runs[start..end].iter().map(|run| run.keys).collect();
            let count = if slice < present { sizes.len() } else { policy::runs_to_merge(&sizes, keys) };
            let kept = end - count;
            let mut sources: Vec<Box<dyn SortedSource + '_>> =
                vec![Box::new(Drain::of_slice(&self.shares[0].table, slice))];
            sources.extend(self.runs[kept..end].iter().map(|run| Box::new(run.reader()) as Box<dyn SortedSource>));
            let keys = keys + sizes[sizes.len() - count..].iter().sum::<u64>();
            let (entry, run) = self.write_run(number, slice, keys, sources)?;
            self.written += entry.seal.length;
            replaced.extend(self.manifest.runs.splice(kept..end, [entry]));
            self.change_runs()?.splice(kept..end, [run]);
        }
        if !self.replaying {
            self.manifest.end_journal();
        }
        self.manifest.save(&self.storage)?;
        self.end_merge(replaced);
        Ok(())
    }
}
