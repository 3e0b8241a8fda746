use super::TrieError;
use super::trie::reserve;
use crate::filter::{BlockedBloom, ConfigError, FilterMut};
use crate::hash::{HashSpec, KeyHash};

/// The hashes of the keys that a walk meets. They wait for the end of the walk: only then the number of keys is known,
/// and from it the size of the filter.
///
/// Cost: the size of `H` for each key, 8 bytes for a [`KeyHash`]. Room is reserved for all keys that the walk can
/// meet, but takes no memory before it is filled.
pub(super) struct FilterHashes<H>(Vec<H>);

impl<H> FilterHashes<H> {
    /// An empty list with room for the hashes of at most this many keys.
    pub(super) fn with_room(most: u64) -> Result<Self, TrieError> {
        let mut hashes = vec![];
        reserve(&mut hashes, usize::try_from(most).unwrap_or(usize::MAX))?;
        Ok(Self(hashes))
    }

    #[inline(always)]
    pub(super) fn push(&mut self, hash: H) {
        // A walk over damaged tries may meet more keys than the tries claim to have. `finish` reports that.
        if self.0.len() < self.0.capacity() {
            self.0.push(hash);
        }
    }

    /// Returns the hashes of all keys, or an error if their number is not `keys`.
    pub(super) fn finish(self, keys: u64) -> Result<Vec<H>, TrieError> {
        if self.0.len() as u64 == keys { Ok(self.0) } else { Err(TrieError::Damaged) }
    }
}

/// Builds the filter of keys with these hashes, with the false-positive `rate` at their number.
///
/// # Errors
/// Those of [`BlockedBloom::with_rate`]: the rate is out of range, the filter too large, or there is no memory.
pub(super) fn blocked(hashes: &[KeyHash], hash: HashSpec, rate: f64) -> Result<BlockedBloom, ConfigError> {
    let mut filter = BlockedBloom::with_rate(hashes.len() as u64, rate)?.hashed_by(hash);
    filter.insert_all(hashes).expect("a Bloom filter is never full");
    Ok(filter)
}
