use super::counters::Counters;
use super::lru::{Lru, LruOutcome};
use crate::error::Result;
use crate::filter::{Filter, FilterMut, Recent, StableBloomLight};
use crate::hash::KeyHash;

/// What stands before the exact set and spares it the keys that come again soon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cache {
    /// A flat table of the latest hashes. Whole hashes are compared, so it drops nothing.
    Recent,
    /// The least recently used are forgotten. Drops nothing.
    Lru,
    /// Kubota, Ueda and Yamana's tiers: an LRU, whose evicted keys feed a Stable Bloom Filter Light. A key the filter
    /// claims to know is a repeat. It is wrong for the share `rate` of the new keys, and those are dropped.
    LruStable {
        /// The filter's false-positive rate.
        rate: f64,
    },
    /// Nothing.
    None,
}

/// An LRU takes up to this many keys, as in the paper's experiments (2²⁰).
const LRU_KEYS: u64 = 1 << 20;
/// And this many bytes of memory each.
const LRU_KEY_BYTES: u64 = 20;
/// A stable filter takes up to this many counters of two bits, the paper's largest (2³⁰, 256 MiB).
const STABLE_COUNTERS: u64 = 1 << 30;

/// So many keys the recent cache holds: 8 KiB, which stay in the first-level cache.
const RECENT_KEYS: usize = 1 << 10;

/// A key that the stable filter was asked about and that went on to the exact set all the same.
pub(super) struct Asked {
    /// Its index in the batch.
    pub(super) index: u32,
    /// The filter claimed to know it, and is to be audited; otherwise it did not.
    pub(super) claimed: bool,
}

/// The tiers themselves.
pub(super) enum Tiers {
    Recent(Recent<u64, 1>),
    Lru(Lru),
    LruStable { lru: Lru, stable: StableBloomLight },
    None,
}

impl Tiers {
    /// Tiers within a share of `memory` bytes: an eighth for the LRU, a quarter for the stable filter.
    pub(super) fn new(cache: Cache, memory: u64) -> Result<Self> {
        let lru = || Lru::new((memory / 8 / LRU_KEY_BYTES).clamp(1, LRU_KEYS) as usize);
        Ok(match cache {
            Cache::Recent => Self::Recent(Recent::new(RECENT_KEYS)?),
            Cache::Lru => Self::Lru(lru()?),
            Cache::LruStable { rate } => {
                // Four counters a byte, of a quarter of the memory.
                let counters = memory.min(STABLE_COUNTERS) as usize;
                Self::LruStable { lru: lru()?, stable: StableBloomLight::with_rate(counters, rate)? }
            }
            Cache::None => Self::None,
        })
    }

    /// Bytes of RAM they may take.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Recent(recent) => (recent.capacity() * size_of::<u64>()) as u64,
            Self::Lru(lru) => lru.capacity() as u64 * LRU_KEY_BYTES,
            Self::LruStable { lru, stable } => lru.capacity() as u64 * LRU_KEY_BYTES + stable.counters() as u64 / 4,
            Self::None => 0,
        }
    }

    /// Takes in a batch, and appends to `misses` the indices of the keys that the exact set must answer for, and to
    /// `asked` those among them that the stable filter was asked about.
    pub(super) fn filter(
        &mut self,
        keys: &[KeyHash],
        is_protected: impl Fn(usize) -> bool,
        misses: &mut Vec<u32>,
        asked: &mut Vec<Asked>,
        counters: &mut Counters,
    ) -> Result<()> {
        match self {
            Self::Recent(recent) => {
                recent.observe_all(keys, misses);
                counters.recent_hits += (keys.len() - misses.len()) as u64;
            }
            Self::Lru(lru) => {
                misses.extend((0..).zip(keys).filter(|&(_, &key)| lru.observe(key) != LruOutcome::Hit).map(|(i, _)| i));
                counters.lru_hits += (keys.len() - misses.len()) as u64;
            }
            Self::LruStable { lru, stable } => {
                for (i, &key) in (0u32..).zip(keys) {
                    let LruOutcome::Miss { evicted } = lru.observe(key) else {
                        counters.lru_hits += 1;
                        continue;
                    };
                    if is_protected(i as usize) {
                        misses.push(i);
                    } else {
                        let claimed = stable.contains(key);
                        if claimed && !(counters.stable_hits + counters.audited).is_multiple_of(Counters::AUDIT) {
                            counters.stable_hits += 1;
                        } else {
                            counters.audited += u64::from(claimed);
                            misses.push(i);
                            asked.push(Asked { index: i, claimed });
                        }
                    }
                    if let Some(old) = evicted {
                        stable.insert(old)?;
                    }
                }
            }
            Self::None => misses.extend(0..keys.len() as u32),
        }
        Ok(())
    }
}
