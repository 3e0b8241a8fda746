use super::SplitBatch;

/// What a set knows of its shares while they are lent: how many keys each may have once all batches that were admitted
/// have been inserted.
///
/// So a batch is admitted only if no share finds itself full halfway. Until a batch is finished, all its keys count.
pub(super) struct Ledger {
    accounts: Vec<Account>,
    /// How many keys of admitted batches have no verdict yet.
    admitted: usize,
    /// How many batches were admitted and are not finished.
    pending: usize,
}

/// What is known of one share.
pub(super) struct Account {
    /// The number of keys in the table, including those that are only admitted.
    pub(super) keys: usize,
    /// The maximum number of keys of the table.
    pub(super) most: usize,
    pub(super) is_crowded: bool,
}

impl Ledger {
    pub(super) fn new(accounts: Vec<Account>) -> Self {
        Self { accounts, admitted: 0, pending: 0 }
    }

    /// The number of shares.
    pub(super) fn shares(&self) -> usize {
        self.accounts.len()
    }

    /// How many keys of admitted batches have no verdict yet.
    pub(super) fn admitted(&self) -> usize {
        self.admitted
    }

    /// True if a batch was admitted and is not finished.
    pub(super) fn is_pending(&self) -> bool {
        self.pending > 0
    }

    /// True if a share has a key, as far as is known.
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

    /// Notes that the keys of a batch may be inserted.
    pub(super) fn admit(&mut self, batch: &SplitBatch) {
        for (account, &count) in self.accounts.iter_mut().zip(&batch.counts) {
            account.keys += count;
        }
        self.admitted += batch.len();
        self.pending += 1;
    }

    /// Notes that the keys of a batch have been inserted.
    pub(super) fn finish(&mut self, batch: &SplitBatch) {
        for (account, part) in self.accounts.iter_mut().zip(&batch.parts) {
            account.keys -= part.len() - part.new.len();
            account.is_crowded |= part.is_crowded;
        }
        self.admitted -= batch.len();
        self.pending -= 1;
    }
}
