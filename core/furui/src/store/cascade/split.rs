//! A set whose table is split by ranges of the hash, so that several threads can insert.

use std::sync::Arc;

use super::ledger::{Account, Ledger};
use super::memtable::{MemTable, range_of};
use super::{Cascade, JournalWriter, Run, Share, SplitBatch};
use crate::error::{Result, StoreProblem};
use crate::hash::KeyHash;
use crate::store::Storage;

impl<S: Storage> Cascade<S> {
    /// Divides the set into this many shares and returns them to the caller; see
    /// [`Seen::split`](crate::seen::Seen::split). The set must have no window.
    ///
    /// # Errors
    /// [`StoreProblem::Lent`] if the set is split already; [`StoreProblem::Failed`] after a failed write;
    /// [`Error::NoMemory`](crate::Error::NoMemory) if the keys do not fit into memory twice.
    pub(crate) fn split(&mut self, shares: usize) -> Result<Vec<Share<S::File>>> {
        self.check_usable()?;
        self.divide(shares)?;
        let most_bytes = self.table_budget() / shares;
        let mut lent = std::mem::take(&mut self.shares);
        let accounts = lent.iter().map(|share| {
            let table = &share.table;
            Account { keys: table.len(), most: table.most(most_bytes), is_crowded: table.is_crowded() }
        });
        self.ledger = Some(Ledger::new(accounts.collect()));
        for share in &mut lent {
            (share.runs, share.most_bytes) = (Some(Arc::clone(&self.runs)), most_bytes);
        }
        Ok(lent)
    }

    /// Takes back all shares. If a batch was admitted and not finished, the set cannot be used afterwards, but its
    /// journal can still be written.
    ///
    /// # Errors
    /// [`StoreProblem::Lent`] if these are not the shares that were lent.
    pub(crate) fn join(&mut self, mut shares: Vec<Share<S::File>>) -> Result<()> {
        let is_ours = |share: &Share<S::File>| share.runs.as_ref().is_some_and(|runs| Arc::ptr_eq(runs, &self.runs));
        let ledger = self.ledger.as_ref().filter(|ledger| ledger.shares() == shares.len());
        let Some(ledger) = ledger.filter(|_| shares.iter().all(is_ours)) else {
            return Err(self.refusal(StoreProblem::Lent));
        };
        if !ledger.is_pending() {
            self.ledger = None;
        }
        shares.sort_unstable_by_key(|share| share.table.first());
        shares.iter_mut().for_each(|share| share.runs = None);
        self.shares = shares;
        Ok(())
    }

    /// True if the shares have room for a batch. False if keys must be written to storage first, or if it is not known
    /// whether there is room.
    pub(crate) fn has_room_for(&self, batch: &SplitBatch) -> bool {
        let Some(ledger) = &self.ledger else { return false };
        let has_room = |journal: &JournalWriter| match ledger.admitted() {
            0 => journal.has_room(batch.len()),
            admitted => journal.fits(admitted + batch.len()),
        };
        // A batch without keys needs no room, and none is made for it.
        batch.is_empty() || ledger.has_room(batch) && self.journal.as_ref().is_none_or(has_room)
    }

    /// Admits a batch, which the shares may then insert. They must have room for it.
    pub(crate) fn admit(&mut self, batch: &SplitBatch) {
        if let Some(ledger) = &mut self.ledger {
            ledger.admit(batch);
        }
    }

    /// True if there are keys in RAM. While shares are lent, keys that are admitted are regarded as in RAM.
    pub(crate) fn has_keys_in_memory(&self) -> bool {
        self.keys_in_memory() > 0 || self.ledger.as_ref().is_some_and(Ledger::has_keys)
    }

    /// Records the new keys of a batch for the journal, in order, after all shares have inserted its keys. Batches are
    /// finished in the order in which they were admitted.
    ///
    /// # Errors
    /// [`StoreProblem::Lent`] if the set is not split, or if a share has not inserted its part of the batch yet.
    pub(crate) fn finish(&mut self, batch: &SplitBatch, new: impl Iterator<Item = KeyHash>) -> Result<()> {
        match &mut self.ledger {
            Some(ledger) if batch.is_observed() => ledger.finish(batch),
            _ => return Err(self.refusal(StoreProblem::Lent)),
        }
        self.note_keys(new);
        Ok(())
    }

    /// Makes room for a batch in all shares, none of which is lent.
    ///
    /// # Errors
    /// [`StoreProblem::Lent`] if a share is lent; [`StoreProblem::Failed`] after a failed write; those of writing a run
    /// or the journal.
    pub(crate) fn make_room_for(&mut self, batch: &SplitBatch) -> Result<()> {
        self.check_usable()?;
        self.divide(batch.counts.len())?;
        self.make_room(&batch.counts)
    }

    /// Divides the keys in RAM among `count` tables with equal ranges of hashes. A set that is not split has one table.
    ///
    /// # Errors
    /// [`Error::NoMemory`](crate::Error::NoMemory) if the new tables cannot be allocated beside the old ones, which
    /// stay.
    pub(super) fn divide(&mut self, count: usize) -> Result<()> {
        if self.shares.len() == count {
            return Ok(());
        }
        let mut shares: Vec<_> = (0..count).map(|number| Share::new(MemTable::of_range(number, count))).collect();
        let mut keys = vec![0; count];
        let old = || self.shares.iter().flat_map(|share| share.table.slots()).filter(|&&slot| slot != 0);
        old().for_each(|&hash| keys[range_of(hash, count)] += 1);
        for (share, keys) in shares.iter_mut().zip(keys) {
            share.reserve(keys, usize::MAX)?;
        }
        for &hash in old() {
            shares[range_of(hash, count)].table.insert_all(&[hash], |_| {});
        }
        self.shares = shares;
        Ok(())
    }

    /// The list of runs, mutable. It is an error if a share is lent.
    pub(super) fn change_runs(&mut self) -> Result<&mut Vec<Run<S::File>>> {
        let problem = self.refusal(StoreProblem::Lent);
        Arc::get_mut(&mut self.runs).ok_or(problem)
    }
}
