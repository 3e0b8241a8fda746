//! What is in RAM is in the journal as well, as far as it was synced.

use super::{Cascade, Journal};
use crate::error::Result;
use crate::hash::KeyHash;
use crate::store::{JOURNAL, Storage};

impl<S: Storage> Cascade<S> {
    /// Takes in the keys of the journal, if storage has one.
    pub(super) fn replay(&mut self) -> Result<()> {
        let Some(journal) = Journal::of(&self.storage, &self.manifest)? else {
            // One that a crash has left behind, if there is any.
            let _ = self.storage.remove(JOURNAL);
            return Ok(());
        };
        (self.old_journal, self.replaying) = (true, true);
        let (mut keys, mut new) = (Vec::new(), Vec::new());
        journal.for_each(|hashes| {
            keys.clear();
            keys.extend(hashes.iter().map(|&hash| KeyHash::new(hash)));
            new.clear();
            self.insert_all(&keys, &mut new)
        })?;
        self.replaying = false;
        Ok(())
    }

    /// Notes which keys of the batch at hand are new, by their indices in it: they wait for the journal.
    pub(super) fn note(&mut self, new: &[u32]) {
        let Some(journal) = self.journal.as_mut().filter(|_| !self.replaying) else { return };
        if new.is_sorted() {
            new.iter().for_each(|&i| journal.push(self.hashes[i as usize]));
            return;
        }
        // In the order in which they came, so that a caller can say how many of them may be recorded.
        self.found.clear();
        self.found.resize(self.hashes.len(), false);
        new.iter().for_each(|&i| self.found[i as usize] = true);
        self.hashes.iter().zip(&self.found).filter(|&(_, &new)| new).for_each(|(&hash, _)| journal.push(hash));
    }

    /// Records the first `keys` of those that wait.
    pub(super) fn write_journal(&mut self, keys: usize) -> Result<()> {
        if !self.saved {
            self.save_first()?;
        }
        let Some(journal) = &mut self.journal else { return Ok(()) };
        // A write or sync that failed is never tried again: what it left nobody knows.
        self.broken = true;
        self.written += journal.sync(&self.storage, &self.manifest, keys)?;
        self.broken = false;
        Ok(())
    }

    /// Ends a journal of an earlier process that has nothing that the runs do not have.
    pub(super) fn end_old_journal(&mut self) -> Result<()> {
        self.broken = true;
        self.manifest.end_journal();
        self.manifest.save(&self.storage)?;
        self.broken = false;
        self.remove_journal();
        Ok(())
    }

    /// Forgets the journal, which the manifest on storage does not need any more.
    pub(super) fn remove_journal(&mut self) {
        let ours = self.journal.as_mut().is_some_and(super::JournalWriter::end);
        if std::mem::take(&mut self.old_journal) || ours {
            // Where this fails, the mark says that it is of no use, and the next opening removes it.
            let _ = self.storage.remove(JOURNAL);
        }
    }
}
