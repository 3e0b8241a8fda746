use furui::store::cascade::Share;

use crate::files::AnyFile;

/// The shares of a split set. Each share is used by one worker at a time, and inserts its parts of the batches in the
/// order of the input.
pub struct Shares {
    /// The shares of the set, by index. An element is `None` while a worker has the share.
    shares: Vec<Option<Share<AnyFile>>>,
    /// For each share, the number of the batch that it inserts next.
    turns: Vec<u64>,
}

/// The maximum number of shares into which a set is split.
const MOST: usize = 16;
/// The minimum memory that a set must have for each share into which it is split, in bytes. With less, the free slots
/// of small tables would be a large part of this memory.
const LEAST_BYTES: u64 = 128 << 10;

impl Shares {
    /// Creates the list of shares, none of which has inserted a batch.
    pub fn new(shares: Vec<Share<AnyFile>>) -> Self {
        Self { turns: vec![0; shares.len()], shares: shares.into_iter().map(Some).collect() }
    }

    /// The number of shares for a set with `memory` bytes of memory and this many workers; 0 if the set is not to be
    /// split.
    pub fn count(workers: usize, memory: u64) -> usize {
        match workers.min(MOST).min((memory / LEAST_BYTES) as usize) {
            0 | 1 => 0,
            count => count,
        }
    }

    /// The number of shares of the set; 0 if it is not split.
    pub fn len(&self) -> usize {
        self.shares.len()
    }

    /// True if no worker uses a share.
    pub fn are_home(&self) -> bool {
        self.shares.iter().all(Option::is_some)
    }

    /// The number of the next batch that a share inserts.
    pub fn turn(&self, share: usize) -> u64 {
        self.turns[share]
    }

    /// Chooses the share that can insert its part of the earliest batch, among the batches with numbers from `left` up
    /// to but not including `end`. `waits` tells whether a batch has keys for a share.
    pub fn next(&mut self, left: u64, end: u64, waits: impl Fn(u64, usize) -> bool) -> Option<usize> {
        for (share, turn) in self.turns.iter_mut().enumerate() {
            *turn = (*turn).max(left);
            while *turn < end && !waits(*turn, share) {
                *turn += 1;
            }
        }
        let free = |&share: &usize| self.shares[share].is_some() && self.turns[share] < end;
        (0..self.len()).filter(free).min_by_key(|&share| self.turns[share])
    }

    /// Takes a share out of the list. Returns the number of the batch that it inserts next, and the share. `None` if a
    /// worker uses it.
    pub fn take(&mut self, share: usize) -> Option<(u64, Share<AnyFile>)> {
        let taken = self.shares[share].take()?;
        self.turns[share] += 1;
        Some((self.turns[share] - 1, taken))
    }

    /// Puts the share with this number back into the list.
    pub fn put(&mut self, number: usize, share: Share<AnyFile>) {
        self.shares[number] = Some(share);
    }

    /// Takes all shares out of the list. No worker may use one.
    pub fn take_all(&mut self) -> Vec<Share<AnyFile>> {
        self.shares.drain(..).flatten().collect()
    }

    /// Puts all shares back into the list.
    pub fn put_all(&mut self, shares: Vec<Share<AnyFile>>) {
        self.shares = shares.into_iter().map(Some).collect();
        self.turns.resize(self.shares.len(), 0);
    }
}
