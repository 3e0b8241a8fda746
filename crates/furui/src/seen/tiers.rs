use super::counters::Counters;
use super::lru::{Lru, LruOutcome};
use crate::error::Result;
use crate::filter::{Recent, StableBloomLight};
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
const LRU_KEY_BYTES: u64 = 21;
/// A stable filter takes up to this many counters of two bits, the paper's largest (2³⁰, 256 MiB).
const STABLE_COUNTERS: u64 = 1 << 30;

/// A recent cache before a set in RAM: 256 KiB, which stay in the second-level cache. More hits would not pay for the
/// slower probes.
const RECENT_KEYS: u64 = 1 << 15;
/// A recent cache before a set on storage, where a hit spares more: 2 MiB.
const RECENT_KEYS_STORAGE: u64 = 1 << 18;
/// But no recent cache takes more than this share of the memory.
const RECENT_SHARE: u64 = 32;
/// And each has at least so many keys.
const RECENT_LEAST: u64 = 1 << 10;

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
    LruStable { lru: Lru, stable: StableBloomLight, round: Round },
    None,
}

impl Tiers {
    /// Tiers within a share of `memory` bytes: a thirty-second for the recent cache, an eighth for the LRU, a quarter
    /// for the stable filter.
    pub(super) fn new(cache: Cache, memory: u64) -> Result<Self> {
        let lru = || Lru::new((memory / 8 / LRU_KEY_BYTES).clamp(ROUND as u64, LRU_KEYS) as usize);
        Ok(match cache {
            Cache::Recent => Self::Recent(recent(RECENT_KEYS, memory)?),
            Cache::Lru => Self::Lru(lru()?),
            Cache::LruStable { rate } => {
                // Four counters a byte, of a quarter of the memory.
                let counters = memory.min(STABLE_COUNTERS) as usize;
                Self::LruStable {
                    lru: lru()?,
                    stable: StableBloomLight::with_rate(counters, rate)?,
                    round: Round::default(),
                }
            }
            Cache::None => Self::None,
        })
    }

    /// Fits the tiers to a set that has gone to storage.
    pub(super) fn enlarge(&mut self, memory: u64) -> Result<()> {
        if let Self::Recent(small) = self {
            let large = recent(RECENT_KEYS_STORAGE, memory)?;
            if large.capacity() > small.capacity() {
                *small = large;
            }
        }
        Ok(())
    }

    /// Bytes of RAM they may come to take, of `memory`.
    pub(super) fn bytes(&self, memory: u64) -> u64 {
        match self {
            Self::Recent(_) => recent_keys(RECENT_KEYS_STORAGE, memory) * size_of::<u64>() as u64,
            Self::Lru(lru) => lru.capacity() as u64 * LRU_KEY_BYTES,
            Self::LruStable { lru, stable, .. } => lru.capacity() as u64 * LRU_KEY_BYTES + stable.counters() as u64 / 4,
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
    ) {
        match self {
            Self::Recent(recent) => {
                recent.observe_all(keys, misses);
                counters.recent_hits += (keys.len() - misses.len()) as u64;
            }
            Self::Lru(lru) => {
                misses.extend((0..).zip(keys).filter(|&(_, &key)| lru.observe(key) != LruOutcome::Hit).map(|(i, _)| i));
                counters.lru_hits += (keys.len() - misses.len()) as u64;
            }
            Self::LruStable { lru, stable, round } => {
                for (start, keys) in (0..).step_by(ROUND).zip(keys.chunks(ROUND)) {
                    round.missed.clear();
                    round.evicted.clear();
                    for (i, &key) in (start..).zip(keys) {
                        match lru.observe(key) {
                            LruOutcome::Hit => counters.lru_hits += 1,
                            LruOutcome::Miss { evicted } => {
                                round.evicted.extend(evicted);
                                if is_protected(i as usize) {
                                    misses.push(i);
                                } else {
                                    round.missed.push((i, key));
                                }
                            }
                        }
                    }
                    round.ask(stable, misses, asked, counters);
                    stable.insert_all(&round.evicted);
                }
            }
            Self::None => misses.extend(0..keys.len() as u32),
        }
    }
}

/// Some keys on their way through LRU and stable filter: the lookups of a round go together, and so do its
/// insertions, for each waits for memory. An eviction reaches the filter at the end of its round.
#[derive(Default)]
pub(super) struct Round {
    /// What missed the LRU and may be claimed, with its index in the batch.
    missed: Vec<(u32, KeyHash)>,
    evicted: Vec<KeyHash>,
    keys: Vec<KeyHash>,
    claims: Vec<bool>,
}

/// Keys in a round: less than any LRU holds.
const ROUND: usize = 256;

impl Round {
    fn ask(
        &mut self,
        stable: &StableBloomLight,
        misses: &mut Vec<u32>,
        asked: &mut Vec<Asked>,
        counters: &mut Counters,
    ) {
        self.keys.clear();
        self.keys.extend(self.missed.iter().map(|&(_, key)| key));
        stable.contains_all(&self.keys, &mut self.claims);
        for (&(index, _), &claimed) in self.missed.iter().zip(&self.claims) {
            if claimed && !(counters.stable_hits + counters.audited).is_multiple_of(Counters::AUDIT) {
                counters.stable_hits += 1;
            } else {
                counters.audited += u64::from(claimed);
                misses.push(index);
                asked.push(Asked { index, claimed });
            }
        }
    }
}

/// How many keys a recent cache of at most `most` keys has.
fn recent_keys(most: u64, memory: u64) -> u64 {
    (memory / RECENT_SHARE / size_of::<u64>() as u64).clamp(RECENT_LEAST, most)
}

fn recent(most: u64, memory: u64) -> Result<Recent<u64, 1>> {
    Ok(Recent::new(recent_keys(most, memory) as usize)?)
}
