//! Makes the keys in RAM durable, in the journal or in a run.

use super::journal_writer::JournalWriter;
use super::room::reserve;
use super::{Cascade, Journal, policy};
use crate::error::Result;
use crate::hash::KeyHash;
use crate::store::{JOURNAL, Storage, Window};

impl<S: Storage> Cascade<S> {
    /// Makes the set durable. If the options ask for a journal, the keys are written to it, which costs 8 bytes for
    /// each key and one write; otherwise they become a run, as [`publish`](Self::publish) does.
    ///
    /// # Errors
    /// Those of [`insert_all`](Self::insert_all).
    pub fn sync(&mut self) -> Result<()> {
        self.sync_first(usize::MAX)
    }

    /// Makes durable at least the first `keys` of the keys that were new since the last sync, in the order in which
    /// they came; see [`sync`](Self::sync). An empty set is recorded too, with its hash.
    ///
    /// # Errors
    /// Those of [`insert_all`](Self::insert_all).
    pub fn sync_first(&mut self, keys: usize) -> Result<()> {
        if self.journal.is_none() || self.old_journal.is_some() {
            return self.publish();
        }
        self.check_open()?;
        self.write_journal(keys)
    }

    /// The number of keys that are in no run and no journal yet. Without a journal, such keys are not counted, and the
    /// number is 0.
    pub fn unsynced(&self) -> usize {
        self.journal.as_ref().map_or(0, JournalWriter::len)
    }

    /// Makes the set durable and ends the journal: the keys in RAM become a run, merged with the newest runs unless
    /// these are much larger. An empty set is recorded too, with its hash.
    ///
    /// # Errors
    /// Those of [`insert_all`](Self::insert_all).
    pub fn publish(&mut self) -> Result<()> {
        self.check_usable()?;
        if !self.saved {
            self.save_manifest()?;
        }
        if self.old_journal.is_some() && self.keys_in_memory() == 0 {
            self.end_old_journal()?;
        }
        self.publish_table()?;
        if self.stale {
            self.save_manifest()?;
        }
        Ok(())
    }

    /// Merges all runs and the keys in RAM into one run. After that, the set takes the least space, and a look-up reads
    /// at most one page. In a set with a window, only runs of the present slice are merged: runs of earlier slices were
    /// merged when the slices ended.
    ///
    /// # Errors
    /// Those of [`insert_all`](Self::insert_all).
    pub fn compact(&mut self) -> Result<()> {
        self.check_usable()?;
        if self.manifest.window.is_some() {
            self.publish_table()?;
        }
        while self.manifest.present_runs() + usize::from(self.keys_in_memory() > 0) > 1 {
            self.spill(self.manifest.present_runs().min(policy::MAX_FAN_IN))?;
        }
        self.publish()
    }

    /// The number of keys of the journal that existed when the set was opened; 0 if there was none. The whole journal
    /// is read.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format) with the file and the offset of the first damage;
    /// [`Error::Io`](crate::Error::Io).
    pub fn journal_keys(&self) -> Result<u64> {
        self.old_journal.as_ref().map_or(Ok(0), Journal::check)
    }

    /// Inserts the keys of the journal that an earlier process left, if storage has one that belongs to the set.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format) if the journal is damaged, and those of an insertion.
    pub(super) fn replay(&mut self) -> Result<()> {
        let Some(journal) = self.old_journal.take() else {
            // A crash may have left a journal of an earlier state.
            let _ = self.storage.remove(JOURNAL);
            return Ok(());
        };
        self.replaying = true;
        let mut new = Vec::new();
        let fingerprints = self.manifest.fingerprints;
        journal.for_each(|tick, keys| {
            let slice = match (self.manifest.window, tick) {
                (Some(window), Some(tick)) => {
                    self.manifest.tick = tick.max(self.manifest.tick);
                    window.slice_of(tick)
                }
                _ => 0,
            };
            if slice < Window::oldest(self.manifest.slice()) {
                return Ok(());
            }
            self.make_room(&[keys.len()])?;
            self.hashes.clear();
            reserve(&mut self.hashes, keys.len())?;
            self.hashes.extend(keys.iter().map(|&key| fingerprints.place(key)));
            new.clear();
            self.insert_hashes(slice, &mut new)
        })?;
        self.replaying = false;
        self.old_journal = Some(journal);
        Ok(())
    }

    /// Keeps the new keys of the current batch for the journal. `new` has their indices in the batch.
    pub(super) fn note(&mut self, new: &[u32]) {
        let Some(journal) = self.journal.as_mut().filter(|_| !self.replaying) else { return };
        let fingerprints = self.manifest.fingerprints;
        if new.is_sorted() {
            new.iter().for_each(|&i| journal.push(fingerprints.at(self.hashes[i as usize])));
            return;
        }
        // New keys are noted in the order in which they came, so that a caller can say how many of them may be
        // recorded.
        self.is_new.clear();
        self.is_new.resize(self.hashes.len(), false);
        new.iter().for_each(|&i| self.is_new[i as usize] = true);
        let noted = self.hashes.iter().zip(&self.is_new).filter(|&(_, &new)| new);
        noted.for_each(|(&hash, _)| journal.push(fingerprints.at(hash)));
    }

    /// Passes new keys of a set that is split to the writer of the journal, where they wait to be written.
    pub(super) fn note_keys(&mut self, new: impl Iterator<Item = KeyHash>) {
        if let Some(journal) = &mut self.journal {
            let fingerprints = self.manifest.fingerprints;
            new.for_each(|key| journal.push(fingerprints.of(key)));
        }
    }

    /// Writes the first `keys` of the new keys that wait for the journal, and makes them durable.
    ///
    /// # Errors
    /// Those of the storage. The set is unusable afterwards, because the effect of the failed write is unknown.
    pub(super) fn write_journal(&mut self, keys: usize) -> Result<()> {
        if !self.saved {
            self.save_manifest()?;
        }
        let Some(journal) = &mut self.journal else { return Ok(()) };
        // A write or sync that failed is never tried again, because its effect on storage is not known.
        self.broken = true;
        self.written += journal.sync(&self.storage, &mut self.manifest, keys)?;
        self.broken = false;
        Ok(())
    }

    /// Ends the journal of an earlier process, whose keys are all in runs.
    ///
    /// # Errors
    /// Those of saving the manifest. The set is unusable afterwards.
    pub(super) fn end_old_journal(&mut self) -> Result<()> {
        self.broken = true;
        self.manifest.end_journal();
        self.manifest.save(&self.storage)?;
        self.broken = false;
        self.remove_journal();
        Ok(())
    }

    /// Removes the file of the journal, which the manifest on storage no longer needs.
    pub(super) fn remove_journal(&mut self) {
        let ours = self.journal.as_mut().is_some_and(JournalWriter::end);
        if self.old_journal.take().is_some() || ours {
            // If this fails, the manifest's mark shows that the journal is not needed, and the next opening removes it.
            let _ = self.storage.remove(JOURNAL);
        }
    }
}
