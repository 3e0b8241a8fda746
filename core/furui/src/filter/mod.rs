//! Filters: compact sets that answer "have I seen this?". A "yes" may be wrong. A "no" is certain, unless the filter
//! forgets old keys.
//!
//! Every filter takes keys in three ways:
//! - as bytes: `contains`, `insert` and `extend` hash them by the filter's spec;
//! - as batches of [`Hashes`](crate::Hashes), for callers that hash keys themselves: `contains_hashes` and
//!   `insert_hashes` return an error if the batch was hashed in another way. They prefetch, and so are the fastest;
//! - as bare [`KeyHash`]es, through the traits [`Filter`] and [`FilterMut`], for code that is generic over filters or
//!   has hashes that no [`HashSpec`] made. Nothing checks how they were made.

use std::fmt;

use crate::hash::{HashSpec, KeyHash};

mod any;
mod batch;
mod bitwise;
mod blocked;
mod bloom;
mod checked;
mod concurrent;
mod counters;
mod counting;
mod error;
mod file;
mod fuse;
mod growing;
mod probes;
mod quotient;
pub(crate) mod ringed;
mod seedless;
mod shared_methods;
mod similarity;
pub mod sizing;
mod smallest_size;
mod split_block;
mod stable;
mod stable_light;
pub(crate) mod stable_point;
mod window;

pub use any::{AnyFilter, FilterRef};
pub use blocked::{BlockedBloom, FINEST_BLOCKED_RATE, MAX_BLOCKED_PROBES};
pub use bloom::Bloom;
pub use checked::CheckedFilter;
pub use concurrent::{Concurrent, Shareable};
pub use counters::MAX_COUNTERS;
pub use counting::CountingBloom;
pub use error::{ConfigError, InsertError, Mismatch};
pub use fuse::Fuse;
pub use growing::{GrowingBloom, MAX_PARTS};
pub use probes::MAX_PROBES;
pub use quotient::{FingerprintIter, QuotientFilter, QuotientSlot};
pub use ringed::{Gamma, RingedBloom, RingedKey, RingedParams};
pub use seedless::SeedlessFilter;
pub use similarity::{Estimate, Similarity};
pub use split_block::{FINEST_SPLIT_BLOCK_RATE, MAX_PARQUET_BYTES, ParquetError, SplitBlockBloom};
pub use stable::StableBloom;
pub use stable_light::StableBloomLight;
pub(crate) use stable_point::stable_decrements;
pub use window::WindowBloom;

/// A set whose "yes" may be wrong, at a stated rate, and whose "no" is certain, unless the filter
/// [`forgets`](Self::forgets).
///
/// The trait is for generic code, and takes bare hashes. The caller must have made them by
/// [`hash_spec`](Self::hash_spec): a hash that was made in another way is not noticed, and is usually answered by "no".
/// Each filter also has methods of its own that take keys as bytes, or [`Hashes`](crate::Hashes), which are checked.
///
/// ```
/// use furui::HashSpec;
/// use furui::filter::{Bloom, Filter, QuotientFilter};
///
/// fn known(filter: &impl Filter, lines: &[&str]) -> usize {
///     let hasher = filter.hash_spec().hasher();
///     let (keys, mut answers) = (lines.iter().map(|line| hasher.hash(line.as_bytes())).collect::<Vec<_>>(), vec![]);
///     filter.contains_all(&keys, &mut answers);
///     answers.iter().filter(|known| **known).count()
/// }
///
/// let (mut bloom, mut quotient) = (Bloom::with_rate(100, 1e-6)?, QuotientFilter::with_rate(100, 1e-6)?);
/// bloom.insert("a");
/// quotient.insert("a")?;
/// assert_eq!((known(&bloom, &["a", "b"]), known(&quotient, &["a", "b"])), (1, 1));
/// # Ok::<(), furui::Error>(())
/// ```
pub trait Filter {
    /// The spec (algorithm and seed) by which keys are hashed.
    fn hash_spec(&self) -> HashSpec;

    /// True if the key with this hash may be in the set.
    fn contains_hash(&self, key: KeyHash) -> bool;

    /// Looks up a batch of keys: `out` is cleared and gets one answer per key. Implementations prefetch here.
    fn contains_all(&self, keys: &[KeyHash], out: &mut Vec<bool>) {
        out.clear();
        out.extend(keys.iter().map(|&key| self.contains_hash(key)));
    }

    /// True if the filter forgets old keys, as a stable Bloom filter does. Then a "no" is not certain either.
    fn forgets(&self) -> bool {
        false
    }

    /// The probability that [`contains_hash`](Self::contains_hash) says yes to a key that was never inserted, by the
    /// formula of the filter for the keys that it holds now.
    fn false_positive_rate(&self) -> f64;
}

/// A filter into which keys can be inserted one at a time.
///
/// The trait is for generic code, and takes bare hashes, as [`Filter`] does: the caller must have made them by
/// [`hash_spec`](Filter::hash_spec), because a key that was inserted by another hash is never found.
///
/// ```
/// use furui::filter::{Bloom, FilterMut, Full};
///
/// fn fill(filter: &mut impl FilterMut, lines: &[&str]) -> Result<u64, Full> {
///     let hasher = filter.hash_spec().hasher();
///     filter.insert_all(&lines.iter().map(|line| hasher.hash(line.as_bytes())).collect::<Vec<_>>())
/// }
///
/// assert_eq!(fill(&mut Bloom::with_rate(100, 1e-6)?, &["a", "b", "a"])?, 2);
/// # Ok::<(), furui::Error>(())
/// ```
pub trait FilterMut: Filter {
    /// Inserts the key with this hash. Returns true if the key was certainly new.
    ///
    /// # Errors
    /// [`Full`] if the filter has no room. It is then unchanged.
    fn insert_hash(&mut self, key: KeyHash) -> Result<bool, Full>;

    /// Inserts many keys, and returns how many were certainly new. Implementations prefetch or sort here.
    ///
    /// # Errors
    /// [`Full`] if there is no room for all keys. Some of them may have been inserted then; nothing else is changed.
    fn insert_all(&mut self, keys: &[KeyHash]) -> Result<u64, Full> {
        keys.iter().try_fold(0, |new, &key| Ok(new + u64::from(self.insert_hash(key)?)))
    }
}

/// The reason why a structure of fixed size has no room for another key.
///
/// ```
/// use furui::filter::{Full, QuotientFilter};
///
/// let mut filter = QuotientFilter::with_rate(2, 0.01)?;
/// let full = (0..1000u32).find_map(|key| filter.insert(key.to_le_bytes()).err());
/// assert!(matches!(full, Some(Full::AtCapacity { .. })));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// The structure holds its maximum number of keys.
    AtCapacity {
        /// The maximum number of keys of the filter.
        capacity: u64,
    },
    /// The structure has room, but not where this key belongs: too many keys have neighbouring hashes, or one key was
    /// inserted too often. That does not happen with different keys and a uniform hash.
    Crowded {
        /// The number of keys that the structure holds.
        len: u64,
    },
    /// The structure was built from all its keys at once, and takes no others.
    Fixed,
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtCapacity { capacity } => {
                write!(f, "the filter is full at {capacity} keys: resize it or build it with more room")
            }
            Self::Crowded { len } => write!(
                f,
                "the filter holds {len} keys and has room, but not where this key belongs, because too many hashes are \
                 near its hash: if others choose the keys, hash them with a secret seed; if a key is inserted many \
                 times, count its copies outside the filter"
            ),
            Self::Fixed => f.write_str(
                "a fuse filter takes no keys after it was built: build a new one from all keys, or take a filter of \
                 another kind",
            ),
        }
    }
}

impl std::error::Error for Full {}
