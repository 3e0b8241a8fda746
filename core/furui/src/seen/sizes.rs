use super::index::MAX_CAPACITY;
use super::replacement::Replacement;
use crate::error::Result;
use crate::filter::{ConfigError, StableBloomLight};

/// The sizes of the tiers of [`Cache::Lru`](super::Cache::Lru) and [`Cache::LruStable`](super::Cache::LruStable). A
/// size that is `None` follows from the memory of the set and its caches, and from the false-positive rate.
///
/// ```
/// use furui::seen::{Cache, Seen, SeenOptions, TierSizes};
/// use furui::store::Memory;
///
/// let sizes = TierSizes { lru: Some(1000), counters: Some(1 << 20), ..TierSizes::PAPER };
/// let options = SeenOptions { cache: Cache::LruStable { rate: 1e-5 }, sizes, ..SeenOptions::default() };
/// let mut seen = Seen::open_with(Memory::new(), options)?;
/// assert!(seen.insert("a")?);
/// assert!(seen.stable_rate().is_some_and(|rate| rate < 1e-5));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TierSizes {
    /// The number of entries of the exact cache, at least 256. By default, entries take an eighth of the memory of the
    /// set and its caches, and there are at most 2²⁰.
    pub lru: Option<usize>,
    /// The number of counters of the stable filter (m). By default, counters take a quarter of the memory of the set
    /// and its caches, and there are at most 2³⁰.
    pub counters: Option<usize>,
    /// The number of counters that belong to each key (k). By default, the smallest number with which the filter
    /// remembers keys almost as long as with the best one: 4 at a rate of 1 %.
    pub probes: Option<u32>,
    /// The number of counters that an insertion decrements (P). By default, the number that the rate needs. If this
    /// number is given, the filter's rate follows from `probes` and `decrements`, and the rate of the cache is not
    /// used.
    pub decrements: Option<usize>,
    /// The policy by which the exact cache chooses the key that it evicts.
    pub replacement: Replacement,
}

/// The maximum number of entries that an exact cache gets by default: 2²⁰, as in the experiments of Kubota, Ueda and
/// Yamana.
const LRU_KEYS: u64 = 1 << 20;
/// The maximum number of counters, of two bits each, that a stable filter gets by default: 2³⁰ (256 MiB), the paper's
/// largest.
const STABLE_COUNTERS: u64 = 1 << 30;
/// The tiers (caches in front of a set) take at most 7 / 8 of the memory of the set and its caches. The rest is for the
/// set.
const MOST_SHARE: (u64, u64) = (7, 8);

impl TierSizes {
    /// The sizes of Kubota, Ueda and Yamana (sections 4.1.3 and 5.3): an LRU of 2²⁰ entries, 2³⁰ counters, k = 8 and
    /// P = 84, which is the value of their eq. 3 for a rate of 0.001 %, rounded down. The tiers take 277 MiB.
    pub const PAPER: Self = Self {
        lru: Some(1 << 20),
        counters: Some(1 << 30),
        probes: Some(8),
        decrements: Some(84),
        replacement: Replacement::Lru,
    };

    /// The number of entries of the exact cache, if the set and its caches have `memory` bytes: the given size, or by
    /// default an eighth of these bytes. An error if it is less than `least`.
    pub(super) fn entries(&self, memory: u64, least: usize) -> Result<usize> {
        let share = memory / 8 / self.replacement.key_bytes() as u64;
        let entries = self.lru.unwrap_or_else(|| share.clamp(least as u64, LRU_KEYS) as usize);
        if !(least..=MAX_CAPACITY).contains(&entries) {
            let (given, least, most) = (entries as u64, least as u64, MAX_CAPACITY as u64);
            return Err(ConfigError::OutOfRange { what: "entries of an exact cache", given, least, most }.into());
        }
        Ok(entries)
    }

    /// The number of counters of the stable filter, if the set and its caches have `memory` bytes: the given number, or
    /// by default those that fit into a quarter of these bytes, four in each.
    pub(super) fn counters(&self, memory: u64) -> usize {
        self.counters.unwrap_or(memory.min(STABLE_COUNTERS) as usize)
    }

    /// Creates a stable filter of these sizes. Sizes that are not given follow from `rate`.
    ///
    /// # Errors
    /// [`Error::Config`](crate::Error::Config) if there is no filter of these sizes.
    pub(super) fn stable(&self, counters: usize, rate: f64) -> Result<StableBloomLight> {
        let probes = self.probes.map_or_else(|| StableBloomLight::probes_for(counters, rate), Ok)?;
        Ok(match self.decrements {
            Some(decrements) => StableBloomLight::from_parts(counters, probes, decrements)?,
            None => StableBloomLight::with_probes(counters, rate, probes)?,
        })
    }

    /// Returns an error if tiers of `bytes` bytes do not leave an eighth of the `memory` for the set.
    pub(super) fn check(bytes: u64, memory: u64) -> Result<()> {
        let (part, whole) = MOST_SHARE;
        let most = memory / whole * part;
        if bytes > most {
            return Err(ConfigError::BeyondMemory { what: "tiers of these sizes", bytes, most }.into());
        }
        Ok(())
    }
}
