//! Filters: small answers to "have I seen this?", wrong only in the direction they promise.

use std::fmt;

use crate::hash::KeyHash;

mod any;
mod bloom;
mod counting;
mod error;
mod file;
mod likeness;
mod probes;
mod quotient;
mod recent;
pub mod sizing;
mod split_block;
mod stable;
mod stable_light;
mod steady;

pub use any::{AnyFilter, FilterRef};
pub use bloom::Bloom;
pub use counting::CountingBloom;
pub use error::{ConfigError, Mismatch};
pub use likeness::{Estimate, Likeness};
pub use probes::{MAX_COUNTERS, MAX_PROBES};
pub use quotient::{Fingerprints, QuotientFilter, QuotientSlot};
pub use recent::{Recent, Tag};
pub use split_block::{FINEST_SPLIT_BLOCK_RATE, MAX_PARQUET_BYTES, ParquetError, SplitBlockBloom};
pub use stable::StableBloom;
pub use stable_light::StableBloomLight;
pub use steady::stable_decrements;

/// A set that may answer "yes" wrongly, at a stated rate, and "no" never, unless it [`forgets`](Self::forgets).
pub trait Filter {
    /// Whether `key` may be in the set.
    fn contains(&self, key: KeyHash) -> bool;

    /// Answers for a whole batch: `out` is cleared and gets one answer per key. Implementations prefetch here.
    fn contains_all(&self, keys: &[KeyHash], out: &mut Vec<bool>) {
        out.clear();
        out.extend(keys.iter().map(|&key| self.contains(key)));
    }

    /// True if old keys fade, as in a stable Bloom filter: then "no" is no proof either.
    fn forgets(&self) -> bool {
        false
    }

    /// The probability that [`contains`](Self::contains) says yes to a key that was never inserted, as the
    /// filter stands now, by its formula.
    fn false_positive_rate(&self) -> f64;
}

/// A filter that takes keys one at a time.
pub trait FilterMut: Filter {
    /// Puts `key` in. True if it was certainly new, as with `HashSet::insert`.
    ///
    /// # Errors
    /// [`Full`] if the filter has no room; it is unchanged then.
    fn insert(&mut self, key: KeyHash) -> Result<bool, Full>;

    /// Puts many keys in and says how many were certainly new. Implementations prefetch or sort here.
    ///
    /// # Errors
    /// [`Full`] if not all have room. None or some are in then, and the filter is otherwise as before.
    fn insert_all(&mut self, keys: &[KeyHash]) -> Result<u64, Full> {
        keys.iter().try_fold(0, |new, &key| Ok(new + u64::from(self.insert(key)?)))
    }
}

/// A structure of fixed size has no room for another key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full {
    /// How many keys it holds.
    pub capacity: u64,
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the filter is full at {} keys: resize it or build it with more room", self.capacity)
    }
}

impl std::error::Error for Full {}
