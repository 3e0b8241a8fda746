use furui::seen::Cache;
use furui::store::cascade::Share;

use super::batch::Batch;
use super::judge::Judge;
use super::limit::Limit;
use super::shares::Shares;
use crate::error::Error;
use crate::files::AnyFile;
use crate::keys::Counts;

/// Decides which lines are new, and counts them.
pub struct Decider {
    pub judge: Judge,
    limit: Option<Limit>,
    there: Vec<bool>,
    /// The number of lines so far that had a key.
    pub keys: u64,
    /// The number of those lines whose key was new.
    pub new: u64,
    /// The total length of the blocks so far, in bytes.
    pub bytes: u64,
    /// The numbers of lines so far that had no key.
    pub counts: Counts,
}

/// The minimum number of keys of a worker's recent cache. A recent cache of this size stays in the second-level cache
/// of the processor.
const LEAST_RECENT: usize = 1 << 15;

impl Decider {
    pub fn new(judge: Judge, limit: Option<Limit>) -> Self {
        Self { judge, limit, there: vec![], keys: 0, new: 0, bytes: 0, counts: Counts::default() }
    }

    /// The number of keys for which the recent cache of each worker has room, if there are this many workers. `None` if
    /// there is no set in this process, or if the set has a cache that must see all keys in order.
    pub fn recent_keys(&self, workers: usize) -> Option<usize> {
        self.judge.set()?.recent_keys().map(|most| (most / workers).max(LEAST_RECENT).min(most))
    }

    /// True if the set has runs on storage.
    pub fn is_on_storage(&self) -> bool {
        self.judge.set().is_some_and(|seen| !seen.set().runs().is_empty())
    }

    /// The maximum number of lines of the next block, if `--limit` makes it smaller. `None` for the usual maximum.
    pub fn room(&self) -> Option<u64> {
        // A block that has at most as many lines as are still wanted cannot contain too many of them.
        self.limit.filter(|_| !self.foresees()).map(|limit| limit.left)
    }

    /// True if it can be found out which keys of a block are new before any of them is recorded. The set must be exact
    /// and without a window.
    fn foresees(&self) -> bool {
        let is_exact = |cache| !matches!(cache, Cache::LruStable { .. });
        let set = self.judge.set().filter(|seen| is_exact(seen.options().cache));
        set.is_some_and(|seen| seen.set().manifest().window.is_none())
    }

    /// Splits the set into shares for this many workers. Returns no shares if the set must see all keys in order, or if
    /// it is too small.
    pub fn split(&mut self, workers: usize) -> Vec<Share<AnyFile>> {
        let Some(seen) = self.judge.set_mut() else { return vec![] };
        match Shares::count(workers, seen.options().memory) {
            // If there is no memory for the shares, the set stays whole.
            count if count > 0 && seen.can_split() => seen.split(count).unwrap_or_default(),
            _ => vec![],
        }
    }

    /// True if the set makes earlier keys durable before it inserts the keys of this batch.
    pub fn will_sync(&self, batch: &Batch) -> bool {
        self.judge.set().is_some_and(|seen| match batch.split.shares() {
            0 => seen.will_sync(batch.hashes.len()),
            _ => seen.will_sync_for(&batch.split),
        })
    }

    /// Gives the keys of a batch to the shares of a split set. Batches must come in the order of the input. Returns
    /// false if there is no room for the keys before [`make_room`](Self::make_room) is called.
    pub fn admit(&mut self, batch: &mut Batch) -> bool {
        if !batch.is_void
            && batch.header.is_none()
            && let Some(seen) = self.judge.set_mut()
        {
            match seen.admit(&batch.hashes, &batch.split) {
                Ok(true) => {}
                Ok(false) => return false,
                Err(error) => batch.give_up(error.into()),
            }
        }
        true
    }

    /// Makes room for the keys of a batch in all shares of the set, and returns the shares. All earlier batches must
    /// have been decided. If the set fails, the batch stores the error.
    pub fn make_room(&mut self, batch: &mut Batch, shares: Vec<Share<AnyFile>>) -> Vec<Share<AnyFile>> {
        let Some(seen) = self.judge.set_mut() else { return shares };
        let shares = seen
            .join(shares)
            .and_then(|()| seen.make_room_for(&batch.split))
            .and_then(|()| seen.split(batch.split.shares()));
        shares.unwrap_or_else(|error| {
            batch.give_up(error.into());
            vec![]
        })
    }

    /// Joins the shares to one set again, at the end of the run.
    pub fn join(&mut self, shares: Vec<Share<AnyFile>>) -> Result<(), Error> {
        match self.judge.set_mut() {
            Some(seen) if !shares.is_empty() => Ok(seen.join(shares)?),
            _ => Ok(()),
        }
    }

    /// Decides which lines of a batch are new. Batches must come in the order of the input. If the set fails, the batch
    /// stores the error. The batch is marked as the last one if no more lines are wanted after it.
    pub fn decide(&mut self, batch: &mut Batch) {
        if batch.is_void {
            return;
        }
        if batch.header.is_none() {
            match self.cut(batch) {
                Ok(()) => self.judge.observe(batch),
                Err(error) => batch.fail(error),
            }
            if batch.is_void {
                batch.verdicts.clear();
            }
            if let Some(limit) = &mut self.limit
                && limit.take(&batch.verdicts)
            {
                batch.is_last = true;
                // The error is about a line after the last one that is wanted.
                batch.failure = None;
            }
            self.keys += batch.verdicts.len() as u64;
            self.new += batch.new_lines() as u64;
        }
        (batch.keys_so_far, batch.new_so_far) = (self.keys, self.new);
        self.bytes += batch.block.bytes().len() as u64;
        self.counts.add(batch.keys.take_counts());
    }

    /// Cuts a block after the last line that is wanted, so that later lines are not recorded.
    fn cut(&mut self, batch: &mut Batch) -> Result<(), Error> {
        if let Some(limit) = self.limit.filter(|limit| (batch.hashes.len() as u64) > limit.left)
            && self.foresees()
            && let Some(seen) = self.judge.set_mut()
        {
            seen.contains_hashes(&batch.hashes, &mut self.there)?;
            if let Some(keys) = limit.reach(batch.hashes.as_slice(), &self.there)? {
                let last = batch.keys.with_key()(keys - 1);
                batch.cut(last + 1);
            }
        }
        Ok(())
    }
}
