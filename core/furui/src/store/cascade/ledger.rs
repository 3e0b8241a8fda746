use super::SplitBatch;

/// The number of keys that each share of a set may have once all admitted batches have been inserted. The set keeps
/// these accounts while its shares are lent to other threads.
///
/// A batch is admitted only if every share has room for its keys. Until a batch is finished, all its keys count as new.
pub(super) struct Ledger {
    accounts: Vec<Account>,
    /// The number of keys, in admitted batches, that have no verdict (new or repeated) yet.
    admitted: usize,
    /// The number of batches that were admitted and are not finished.
    pending: usize,
}

/// The account of one share of a set: its number of keys, and its limit.
pub(super) struct Account {
    /// The number of keys in the share's table, including those that are admitted and may turn out to be new.
    pub(super) keys: usize,
    /// The maximum number of keys that the share's table can hold.
    pub(super) most: usize,
    pub(super) is_crowded: bool,
}

impl Ledger {
    pub(super) fn new(accounts: Vec<Account>) -> Self {
        Self { accounts, admitted: 0, pending: 0 }
    }

    /// The number of shares into which the set is split: the number of accounts.
    pub(super) fn shares(&self) -> usize {
        self.accounts.len()
    }

    /// The number of keys, in admitted batches, that have no verdict (new or repeated) yet.
    pub(super) fn admitted(&self) -> usize {
        self.admitted
    }

    /// True if a batch was admitted and is not finished.
    pub(super) fn is_pending(&self) -> bool {
        self.pending > 0
    }

    /// True if some share has at least one key, or may have one after the admitted batches.
    pub(super) fn has_keys(&self) -> bool {
        self.accounts.iter().any(|account| account.keys > 0)
    }

    /// True if each share has room for its keys of the batch.
    ///
    /// # Panics
    /// If the batch is split for another number of shares.
    pub(super) fn has_room(&self, batch: &SplitBatch) -> bool {
        assert_eq!(self.accounts.len(), batch.counts.len(), "a batch has a part for each share");
        self.accounts.iter().zip(&batch.counts).all(|(account, &count)| {
            count == 0 || !account.is_crowded && account.keys.saturating_add(count) <= account.most
        })
    }

    /// Admits a batch: adds its keys to the accounts of the shares that will insert them.
    pub(super) fn admit(&mut self, batch: &SplitBatch) {
        for (account, &count) in self.accounts.iter_mut().zip(&batch.counts) {
            account.keys += count;
        }
        self.admitted += batch.len();
        self.pending += 1;
    }

    /// Completes a batch whose keys have been inserted: its keys that were not new are subtracted from the accounts of
    /// the shares.
    pub(super) fn finish(&mut self, batch: &SplitBatch) {
        for (account, part) in self.accounts.iter_mut().zip(&batch.parts) {
            account.keys -= part.len() - part.new.len();
            account.is_crowded |= part.is_crowded;
        }
        self.admitted -= batch.len();
        self.pending -= 1;
    }
}
