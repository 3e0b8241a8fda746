//! Filters: compact sets that answer "have I seen this?", and err only in the direction that they promise.

use std::fmt;

use crate::hash::{HashSpec, KeyHash};

mod any;
mod batch;
mod blocked;
mod bloom;
mod checked;
mod concurrent;
mod counters;
mod counting;
mod error;
mod file;
mod growing;
mod keys;
mod least;
mod probes;
mod quotient;
mod recent;
mod ringed;
mod sets;
mod similarity;
pub mod sizing;
mod split_block;
mod stable;
mod stable_light;
mod steady;

pub use any::{AnyFilter, FilterRef};
pub use blocked::{BlockedBloom, FINEST_BLOCKED_RATE, MAX_BLOCKED_PROBES};
pub use bloom::Bloom;
pub use checked::CheckedFilter;
pub use concurrent::{Concurrent, Shareable};
pub use counters::MAX_COUNTERS;
pub use counting::CountingBloom;
pub use error::{ConfigError, Mismatch};
pub use growing::{GrowingBloom, MAX_PARTS};
pub use probes::MAX_PROBES;
pub use quotient::{Fingerprints, QuotientFilter, QuotientSlot};
pub use recent::{Recent, RecentTag};
pub use ringed::{Gamma, RingedBloom, RingedKey, RingedParams, ringed_rate, ringed_rate_refined};
pub use similarity::{Estimate, Similarity};
pub use split_block::{FINEST_SPLIT_BLOCK_RATE, MAX_PARQUET_BYTES, ParquetError, SplitBlockBloom};
pub use stable::StableBloom;
pub use stable_light::StableBloomLight;
pub use steady::stable_decrements;

/// A set whose "yes" may be wrong, at a stated rate, and whose "no" is certain, unless the filter
/// [`forgets`](Self::forgets).
pub trait Filter {
    /// How keys are hashed.
    fn hash_spec(&self) -> HashSpec;

    /// Whether the key with this hash may be in the set.
    fn contains_hash(&self, key: KeyHash) -> bool;

    /// Looks up a batch of keys: `out` is cleared and gets one answer per key. Implementations prefetch here.
    fn contains_all(&self, keys: &[KeyHash], out: &mut Vec<bool>) {
        out.clear();
        out.extend(keys.iter().map(|&key| self.contains_hash(key)));
    }

    /// Whether old keys fade, as in a stable Bloom filter: then "no" is not certain either.
    fn forgets(&self) -> bool {
        false
    }

    /// The probability that [`contains_hash`](Self::contains_hash) says yes to a key that was never inserted, by the
    /// formula of the filter for the keys that it holds now.
    fn false_positive_rate(&self) -> f64;
}

/// A filter into which keys can be inserted one at a time.
pub trait FilterMut: Filter {
    /// Inserts the key with this hash. True if it was certainly new.
    ///
    /// # Errors
    /// [`Full`] if the filter has no room; it is unchanged then.
    fn insert_hash(&mut self, key: KeyHash) -> Result<bool, Full>;

    /// Inserts many keys, and returns how many were certainly new. Implementations prefetch or sort here.
    ///
    /// # Errors
    /// [`Full`] if there is no room for all keys. Some of them may be inserted then; nothing else is changed.
    fn insert_all(&mut self, keys: &[KeyHash]) -> Result<u64, Full> {
        keys.iter().try_fold(0, |new, &key| Ok(new + u64::from(self.insert_hash(key)?)))
    }
}

/// Why a structure of fixed size has no room for another key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// The structure holds as many keys as it was made for.
    AtCapacity {
        /// The maximum number of keys.
        capacity: u64,
    },
    /// The structure has room, but not where this key belongs: too many keys have neighbouring hashes, or one key was
    /// inserted too often. That does not happen with different keys and a uniform hash.
    Crowded {
        /// How many keys the structure holds.
        len: u64,
    },
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtCapacity { capacity } => {
                write!(f, "the filter is full at {capacity} keys: resize it or build it with more room")
            }
            Self::Crowded { len } => write!(
                f,
                "the filter holds {len} keys and has room, but not where this one belongs, since too many hashes are near \
                 it: if keys are chosen by others, hash them with a secret seed; if copies of a key are counted, keep \
                 their number elsewhere"
            ),
        }
    }
}

impl std::error::Error for Full {}
