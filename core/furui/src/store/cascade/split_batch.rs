use super::Part;
use super::memtable::range_of;
use super::room::reserve;
use crate::error::Result;
use crate::hash::Hashes;
use crate::store::Fingerprints;

/// A batch of keys for a set that is split: for each [`Share`](super::Share) a [`Part`] with the keys of its range.
///
/// [`Seen::split`](crate::seen::Seen::split) describes the steps that a batch passes.
///
/// ```
/// use furui::HashSpec;
/// use furui::store::cascade::SplitBatch;
///
/// let keys = HashSpec::default().hasher().hash_all(["a", "b", "a", "c"]);
/// let mut batch = SplitBatch::new(2);
/// // The key at index 2 is known to be a repeat.
/// batch.fill(&keys, &[0, 1, 3])?;
/// assert_eq!(batch.len(), 3);
/// assert!((0..2).any(|share| batch.waits_for(share)));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Debug)]
pub struct SplitBatch {
    pub(super) parts: Vec<Part>,
    /// The number of keys in the part for each share.
    pub(super) counts: Vec<usize>,
    /// The number of parts with keys that were not yet returned by their shares with the answers.
    left: usize,
}

impl SplitBatch {
    /// An empty batch for a set with this many shares.
    pub fn new(shares: usize) -> Self {
        Self { parts: (0..shares).map(|_| Part::default()).collect(), counts: vec![0; shares], left: 0 }
    }

    /// Replaces the content of the batch by those of `keys` whose indices are in `misses`, which ascend.
    ///
    /// # Errors
    /// [`Error::NoMemory`](crate::Error::NoMemory).
    ///
    /// # Panics
    /// If an index is not that of a key.
    pub fn fill(&mut self, keys: &Hashes, misses: &[u32]) -> Result<()> {
        self.clear();
        let (shares, keys) = (self.parts.len(), keys.as_slice());
        let hash = |i: u32| Fingerprints::EXACT.place_of(keys[i as usize]);
        for &i in misses {
            self.counts[range_of(hash(i), shares)] += 1;
        }
        for (part, &count) in self.parts.iter_mut().zip(&self.counts) {
            reserve(&mut part.hashes, count)?;
            reserve(&mut part.indices, count)?;
        }
        for &i in misses {
            let part = &mut self.parts[range_of(hash(i), shares)];
            part.hashes.push(hash(i));
            part.indices.push(i);
        }
        self.left = self.counts.iter().filter(|&&count| count > 0).count();
        Ok(())
    }

    /// Removes all keys from the batch, which keeps its allocated memory.
    pub fn clear(&mut self) {
        for part in &mut self.parts {
            part.hashes.clear();
            part.indices.clear();
            part.new.clear();
            (part.is_observed, part.is_crowded) = (false, false);
        }
        self.counts.fill(0);
        self.left = 0;
    }

    /// The number of shares into which the set is split. The batch has a part for each of them.
    pub fn shares(&self) -> usize {
        self.parts.len()
    }

    /// The number of keys in all parts of the batch.
    pub fn len(&self) -> usize {
        self.counts.iter().sum()
    }

    /// The number of keys in the part for the share with the index `share`.
    pub fn count(&self, share: usize) -> usize {
        self.counts[share]
    }

    /// True if there are no keys in the batch.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if the batch has keys for the share with this number, and they were not [taken](Self::take) yet.
    pub fn waits_for(&self, share: usize) -> bool {
        self.parts.get(share).is_some_and(|part| !part.is_empty() && !part.is_observed)
    }

    /// Removes the part for the share with this number from the batch and returns it.
    pub fn take(&mut self, share: usize) -> Part {
        std::mem::take(&mut self.parts[share])
    }

    /// Returns a part that was [taken](Self::take), with the answers of its share, to the batch.
    pub fn put(&mut self, share: usize, part: Part) {
        self.left -= usize::from(!part.is_empty());
        self.parts[share] = part;
    }

    /// True if every part with keys was taken and returned.
    pub fn is_complete(&self) -> bool {
        self.left == 0
    }

    /// True if every share has inserted the keys of its part.
    pub(super) fn is_observed(&self) -> bool {
        self.parts
            .iter()
            .zip(&self.counts)
            .all(|(part, &count)| part.len() == count && (part.is_observed || count == 0))
    }

    /// Calls `each` with the index, in the whole batch, of each key that was new. The order is arbitrary.
    pub(crate) fn for_each_new(&self, mut each: impl FnMut(usize)) {
        for part in &self.parts {
            part.new.iter().for_each(|&i| each(part.indices[i as usize] as usize));
        }
    }
}
