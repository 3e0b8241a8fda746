//! Removes keys from a set and from its files.

use super::combine::KeyCursor;
use super::room::{fill_to, reserve};
use super::{Cascade, Run, RunWriter, SortedSource, WrittenRun, open_run};
use crate::error::Result;
use crate::store::{JOURNAL, RunEntry, Storage};

impl<S: Storage> Cascade<S> {
    /// Removes the keys of the set `gone` from this set, from all slices if it has a window. Returns the number of keys
    /// that were removed.
    ///
    /// Afterwards, no look-up finds the keys, and no file of this set holds them. All keys in RAM become durable first.
    /// Each run that has some of the keys is then replaced by a run without them, and a single new manifest puts all
    /// new runs into place. So if anything fails before this manifest is saved, no key is removed. Files of
    /// [snapshots](crate::store::snapshot()) keep the keys; and a power cut may bring back files of the old runs, which
    /// are not read, and which the next opening removes.
    ///
    /// Cost: a look-up of each key in each run, and a sequential pass over each run that has one of them. Memory: 100
    /// KiB for each run of `gone`, whatever its length.
    ///
    /// ```
    /// use furui::KeyHash;
    /// use furui::store::Memory;
    /// use furui::store::cascade::{Cascade, CascadeOptions};
    ///
    /// let mut set = Cascade::open(Memory::new(), CascadeOptions::default())?;
    /// set.insert_all(&[5, 6, 7].map(KeyHash::new), &mut vec![])?;
    /// let options = CascadeOptions { hash: Some(set.hash_spec()), ..CascadeOptions::default() };
    /// let mut gone = Cascade::open(Memory::new(), options)?;
    /// gone.insert_all(&[6, 8].map(KeyHash::new), &mut vec![])?;
    /// assert_eq!(set.remove_all(&gone)?, 1);
    /// assert!(!set.contains(KeyHash::new(6))? && set.len() == 2);
    /// # Ok::<(), furui::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format) if `gone` was hashed by another spec than this set, or if either set is
    /// damaged; [`Error::Store`](crate::Error::Store) if the keys of `gone` have another form, or if it has a
    /// window; those of [`insert_all`](Self::insert_all). If a file that is no longer needed cannot be removed, no
    /// answer has the keys, but that file may still have them: a second call tries again to remove it.
    pub fn remove_all<T: Storage>(&mut self, gone: &Cascade<T>) -> Result<u64> {
        self.check_combinable(gone)?;
        self.publish()?;
        let (removed, counts) = self.count_in_runs(gone)?;
        self.broken = true;
        let mut affected = vec![];
        for (index, count) in counts.into_iter().enumerate().filter(|&(_, count)| count > 0) {
            let left = self.manifest.runs[index].keys.saturating_sub(count);
            let number = if left > 0 { Some(self.manifest.take_number()?) } else { None };
            affected.push((index, left, number));
        }
        if affected.len() > 1 {
            // At most one file may have a number that no saved manifest has given out; after a crash, two such files
            // would be an error. So the numbers of several files are saved before the files are written.
            self.manifest.save(&self.storage)?;
        }
        let mut replacements = vec![];
        for &(index, left, number) in &affected {
            match number.map(|number| self.write_without(gone, index, left, number)).transpose() {
                Ok(written) => replacements.push((index, written)),
                Err(error) => {
                    for number in affected.iter().filter_map(|&(.., number)| number) {
                        // The result is ignored: the first error explains more, and the next opening removes the file.
                        let _ = self.storage.remove(&self.manifest.store.file_name(number));
                    }
                    return Err(error);
                }
            }
        }
        // The replacements are made from the last run to the first, so that the indices of the remaining runs are
        // unchanged.
        for (index, replacement) in replacements.into_iter().rev() {
            match replacement {
                Some((entry, run)) => {
                    self.written += entry.seal.length;
                    self.manifest.runs[index] = entry;
                    self.change_runs()?[index] = run;
                }
                None => {
                    self.manifest.runs.remove(index);
                    self.change_runs()?.remove(index);
                }
            }
        }
        // The manifest gets a new mark. If a crash brings back the journal or the saved caches (tiers) of the earlier
        // state, they do not count, because they have the old mark.
        self.manifest.end_journal();
        self.save_manifest()?;
        self.remove_leftovers()?;
        Ok(removed)
    }

    /// Returns the number of keys of `gone` that are in any run, and for each run the number of them that it has.
    fn count_in_runs<T: Storage>(&self, gone: &Cascade<T>) -> Result<(u64, Vec<u64>)> {
        let (mut total, mut counts) = (0, vec![0; self.runs.len()]);
        let (mut found, mut anywhere) = (vec![], vec![]);
        let mut gone = gone.merged();
        while let keys @ [_, ..] = gone.next_keys()? {
            anywhere.clear();
            fill_to(&mut anywhere, keys.len(), false)?;
            for (run, count) in self.runs.iter().zip(&mut counts) {
                found.clear();
                fill_to(&mut found, keys.len(), false)?;
                run.contains_sorted(keys, &mut found)?;
                for (anywhere, &found) in anywhere.iter_mut().zip(&found) {
                    *anywhere |= found;
                    *count += u64::from(found);
                }
            }
            total += anywhere.iter().filter(|&&found| found).count() as u64;
        }
        Ok((total, counts))
    }

    /// Writes a run with the number `number`, which has the keys of the run at `index` except those in `gone`, about
    /// `left` keys, and opens it.
    fn write_without<T: Storage>(
        &self,
        gone: &Cascade<T>,
        index: usize,
        left: u64,
        number: u64,
    ) -> Result<(RunEntry, Run<S::File>)> {
        let manifest = &self.manifest;
        let name = manifest.store.file_name(number);
        let path = self.storage.path(&name);
        let WrittenRun { keys, seal } = self.storage.publish(&name, |out| {
            let mut writer = RunWriter::of(out, &path, manifest.hash, manifest.fingerprints, left)?;
            let (mut reader, mut gone, mut kept) = (self.runs[index].reader(), KeyCursor::of(gone), vec![]);
            while let keys @ [_, ..] = reader.fill()? {
                let count = keys.len();
                kept.clear();
                reserve(&mut kept, count)?;
                kept.extend_from_slice(keys);
                reader.consume(count);
                gone.retain(&mut kept, false)?;
                writer.push(&kept)?;
            }
            writer.finish()
        })?;
        let entry = RunEntry { number, keys, seal, slice: manifest.runs[index].slice };
        let file = entry.open(&self.storage, manifest.store)?;
        let run = open_run(&self.storage, &entry, file, manifest)?;
        Ok((entry, run))
    }

    /// Removes all files that hold keys and that the manifest does not need.
    fn remove_leftovers(&self) -> Result<()> {
        for name in self.manifest.orphans(&self.storage)? {
            self.storage.remove(&name)?;
        }
        match self.storage.remove(JOURNAL) {
            Err(error) if !error.is_not_found() => Err(error),
            _ => Ok(()),
        }
    }
}
