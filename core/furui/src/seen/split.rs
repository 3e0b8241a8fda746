//! A set that is split, so that several threads can work on it at a time.

use super::Verdict;
use super::pipeline::Seen;
use super::tiers::Tiers;
use crate::error::Result;
use crate::filter::Mismatch;
use crate::hash::Hashes;
use crate::store::Storage;
use crate::store::cascade::room::reserve;
use crate::store::cascade::{Share, SplitBatch};

impl<S: Storage> Seen<S> {
    /// Splits the set into this many [`Share`]s, each with an equal range of the hashes, and lends them. Different
    /// threads can look up and insert the keys of different shares at a time. The set must be one that
    /// [can be split](Self::can_split).
    ///
    /// A batch of the stream passes four steps:
    ///
    /// 1. Any thread hashes its keys, leaves out those that a recent cache of its own knows (see
    ///    [`observe_missed`](Self::observe_missed)), and [fills](SplitBatch::fill) a [`SplitBatch`].
    /// 2. The owner of the set [admits](Self::admit) it. Batches are admitted in the order of the stream.
    /// 3. Each share [observes](Share::observe) its part. It takes batches in the order of the stream, but need not
    ///    wait for other shares.
    /// 4. The owner [finishes](Self::finish) the batch, in the order of the stream, which gives the verdicts.
    ///
    /// If the set does not admit a batch, keys must first be written to storage. The owner then finishes all earlier
    /// batches, [joins](Self::join) the shares, [makes room](Self::make_room_for), and splits the set again.
    ///
    /// While shares are lent, the set can do nothing else, but [`sync`](Self::sync) and
    /// [`sync_first`](Self::sync_first) write the journal, if there is one, with the keys of the batches that are
    /// finished.
    ///
    /// ```
    /// use furui::seen::{Seen, SeenOptions, Verdict};
    /// use furui::store::Memory;
    /// use furui::store::cascade::SplitBatch;
    ///
    /// let mut seen = Seen::open_with(Memory::new(), SeenOptions::default())?;
    /// let keys = seen.hash_spec().hasher().hash_all(["a", "b", "a"]);
    /// let mut batch = SplitBatch::new(2);
    /// batch.fill(&keys, &[0, 1, 2])?;
    ///
    /// let mut shares = seen.split(2)?;
    /// assert!(seen.admit(&keys, &batch)?);
    /// std::thread::scope(|scope| {
    ///     for (number, share) in shares.iter_mut().enumerate() {
    ///         let mut part = batch.take(number);
    ///         let observed = scope.spawn(move || share.observe(&mut part).map(|()| part)).join().unwrap();
    ///         batch.put(number, observed?);
    ///     }
    ///     Ok::<(), furui::Error>(())
    /// })?;
    /// let mut verdicts = vec![];
    /// seen.finish(&keys, &batch, &mut verdicts)?;
    /// assert_eq!(verdicts, [Verdict::New, Verdict::New, Verdict::Repeat]);
    /// seen.join(shares)?;
    /// assert!(seen.contains("b")?);
    /// # Ok::<(), furui::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoMemory`](crate::Error::NoMemory); [`Error::Store`](crate::Error::Store) if an earlier change failed,
    /// or if the shares are lent already.
    ///
    /// # Panics
    /// If `shares` is 0, or if the set cannot be split.
    pub fn split(&mut self, shares: usize) -> Result<Vec<Share<S::File>>> {
        assert!(shares > 0, "a set has at least one share");
        assert!(self.can_split(), "the cache or the window of this set needs all keys in order");
        self.set.split(shares)
    }

    /// True if the set can be [split](Self::split): it has no window, and its cache need not observe every key in
    /// order.
    pub fn can_split(&self) -> bool {
        matches!(self.tiers, Tiers::Recent(_) | Tiers::None) && self.set.manifest().window.is_none()
    }

    /// Takes back all shares. If a batch was admitted and not finished, for example because of an error, the set must
    /// be opened again, but its journal can still be written.
    ///
    /// # Errors
    /// [`Error::Store`](crate::Error::Store) if these are not all the shares that were lent.
    pub fn join(&mut self, shares: Vec<Share<S::File>>) -> Result<()> {
        self.set.join(shares)
    }

    /// Lets the shares observe the parts of a batch of these keys. False if they have no room for it, and nothing has
    /// changed then.
    ///
    /// # Errors
    /// [`Error::Mismatch`](crate::Error::Mismatch) if the keys were hashed by another spec than
    /// [`hash_spec`](Self::hash_spec).
    pub fn admit(&mut self, keys: &Hashes, batch: &SplitBatch) -> Result<bool> {
        Mismatch::check(self.hash_spec(), keys)?;
        let has_room = self.set.has_room_for(batch);
        if has_room {
            self.set.admit(batch);
        }
        Ok(has_room)
    }

    /// Determines for each key of a batch, in order, whether it is new. All shares must have observed their parts.
    /// `verdicts` is cleared first.
    ///
    /// # Errors
    /// [`Error::NoMemory`](crate::Error::NoMemory); [`Error::Store`](crate::Error::Store) if a share has not observed
    /// its part. The verdicts are then invalid.
    pub fn finish(&mut self, keys: &Hashes, batch: &SplitBatch, verdicts: &mut Vec<Verdict>) -> Result<()> {
        verdicts.clear();
        reserve(verdicts, keys.len())?;
        verdicts.resize(keys.len(), Verdict::Repeat);
        let mut new = 0;
        batch.for_each_new(|index| {
            verdicts[index] = Verdict::New;
            new += 1;
        });
        let is_new = |&(_, &verdict): &(_, &Verdict)| verdict == Verdict::New;
        self.set.finish(batch, keys.as_slice().iter().zip(&*verdicts).filter(is_new).map(|(&key, _)| key))?;
        self.counters.keys += keys.len() as u64;
        self.counters.recent_hits += (keys.len() - batch.len()) as u64;
        self.counters.new += new;
        self.counters.set_repeats += batch.len() as u64 - new;
        Ok(())
    }

    /// Makes room for a batch that was not [admitted](Self::admit), before the set is split again. Keys of earlier
    /// batches may become durable. All batches must be finished, and the shares joined.
    ///
    /// # Errors
    /// Those of [`observe_all`](Self::observe_all).
    pub fn make_room_for(&mut self, batch: &SplitBatch) -> Result<()> {
        let on_storage = !self.set.runs().is_empty();
        self.set.make_room_for(batch)?;
        if !on_storage && !self.set.runs().is_empty() {
            self.tiers.enlarge(self.options.memory)?;
        }
        Ok(())
    }

    /// True if keys of earlier batches may become durable when the set makes [room](Self::make_room_for) for a batch.
    /// If so, a caller that writes out the new keys must first make its output durable.
    pub fn will_sync_for(&self, batch: &SplitBatch) -> bool {
        !self.set.has_room_for(batch) && (self.set.unsynced() > 0 || self.set.has_keys_in_memory())
    }
}
