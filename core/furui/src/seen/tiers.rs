use super::counters::SeenCounters;
use super::observed::Observed;
use super::recent::Recent;
use super::replacement::Front;
use super::sizes::TierSizes;
use crate::error::Result;
use crate::filter::{Filter, FilterMut, StableBloomLight};
use crate::hash::KeyHash;

/// The cache in front of the exact set, which answers for keys that are repeated soon.
///
/// ```
/// use furui::seen::{Cache, Seen, SeenOptions};
/// use furui::store::Memory;
///
/// // The paper's tiers: one new key in a hundred may be dropped.
/// let options = SeenOptions { cache: Cache::LruStable { rate: 0.01 }, ..SeenOptions::default() };
/// let mut seen = Seen::open_with(Memory::new(), options)?;
/// seen.extend(["a", "b", "a"])?;
/// assert_eq!(seen.counters().lru_hits, 1);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cache {
    /// A flat table of the latest hashes. It compares whole hashes, so it drops nothing.
    Recent,
    /// A cache that evicts the least recently used key, unless [`TierSizes::replacement`] names another policy. It
    /// drops nothing.
    Lru,
    /// Kubota, Ueda and Yamana's tiers: an LRU whose evicted keys feed a Stable Bloom Filter Light. A key that the
    /// filter claims to know is taken for a repeat. The filter is wrong about the share `rate` of the new keys, and
    /// those are dropped.
    LruStable {
        /// The false-positive rate of the stable filter. [`TierSizes::decrements`] takes precedence over it.
        rate: f64,
    },
    /// No cache: each key is looked up in the exact set.
    None,
}

/// The number of keys of a recent cache in front of a set in RAM: 256 KiB, which stay in the second-level cache. With
/// more keys, the additional hits would save less than the slower probes cost.
const RECENT_KEYS: u64 = 1 << 15;
/// The number of keys of a recent cache in front of a set on storage: 2 MiB, because a hit saves more there.
const RECENT_KEYS_STORAGE: u64 = 1 << 18;
/// A recent cache takes at most 1 / `RECENT_SHARE` of the memory that the set and its caches have.
const RECENT_SHARE: u64 = 32;
/// The minimum number of keys for which a recent cache has room.
const RECENT_LEAST: u64 = 1 << 10;

/// A key that was looked up in the stable filter and must still be looked up in the exact set.
pub(super) struct Undecided {
    /// The index of the key in the batch.
    pub(super) index: u32,
    /// True if the filter claimed to know the key, and the claim is audited; false if the filter did not know it.
    pub(super) claimed: bool,
}

/// The caches in front of the exact set.
pub(super) enum Tiers {
    Recent(Recent<u64, 1>),
    Lru(Front),
    LruStable(Stable),
    None,
}

/// The two tiers of Kubota, Ueda and Yamana: an exact cache, and a stable filter behind it.
pub(super) struct Stable {
    pub(super) front: Front,
    pub(super) filter: StableBloomLight,
    round: Round,
}

impl Tiers {
    /// Creates tiers that take a share of `memory` bytes, unless `sizes` says otherwise: a thirty-second for the recent
    /// cache, an eighth for the LRU, a quarter for the stable filter. Returns them with the maximum number of bytes of
    /// RAM that they take.
    ///
    /// # Errors
    /// [`Error::Config`](crate::Error::Config) if there are no tiers of these sizes, or if they leave too little memory
    /// for the set; [`Error::NoMemory`](crate::Error::NoMemory).
    pub(super) fn new(cache: Cache, sizes: &TierSizes, memory: u64) -> Result<(Self, u64)> {
        let entries = sizes.entries(memory, ROUND)?;
        let front_bytes = (entries as u64).saturating_mul(sizes.replacement.key_bytes() as u64);
        let front = |bytes| {
            TierSizes::check(bytes, memory)?;
            Front::new(sizes.replacement, entries)
        };
        Ok(match cache {
            Cache::Recent => {
                let bytes = recent_keys(RECENT_KEYS_STORAGE, memory) * size_of::<u64>() as u64;
                (Self::Recent(recent(RECENT_KEYS, memory)?), bytes)
            }
            Cache::Lru => (Self::Lru(front(front_bytes)?), front_bytes),
            Cache::LruStable { rate } => {
                let counters = sizes.counters(memory);
                let bytes = front_bytes.saturating_add(counters as u64 / 4);
                let (front, filter) = (front(bytes)?, sizes.stable(counters, rate)?);
                (Self::LruStable(Stable { front, filter, round: Round::default() }), bytes)
            }
            Cache::None => (Self::None, 0),
        })
    }

    /// Enlarges the recent cache, because the set has grown beyond memory, and a miss costs more.
    ///
    /// # Errors
    /// [`Error::NoMemory`](crate::Error::NoMemory); the small cache stays.
    pub(super) fn enlarge(&mut self, memory: u64) -> Result<()> {
        if let Self::Recent(small) = self {
            let large = recent(RECENT_KEYS_STORAGE, memory)?;
            if large.capacity() > small.capacity() {
                *small = large;
            }
        }
        Ok(())
    }

    /// Looks up a batch and records it. Appends to `misses` the indices of the keys that must be looked up in the exact
    /// set. Appends to `asked` those of the missed keys that were also looked up in the stable filter.
    pub(super) fn filter(
        &mut self,
        keys: &[KeyHash],
        is_protected: impl Fn(usize) -> bool,
        misses: &mut Vec<u32>,
        asked: &mut Vec<Undecided>,
        counters: &mut SeenCounters,
    ) {
        match self {
            Self::Recent(recent) => {
                recent.observe_all(keys, misses);
                counters.recent_hits += (keys.len() - misses.len()) as u64;
            }
            Self::Lru(front) => {
                misses.extend((0..).zip(keys).filter(|&(_, &key)| front.observe(key) != Observed::Hit).map(|(i, _)| i));
                counters.lru_hits += (keys.len() - misses.len()) as u64;
            }
            Self::LruStable(Stable { front, filter, round }) => {
                for (start, keys) in (0..).step_by(ROUND).zip(keys.chunks(ROUND)) {
                    round.missed.clear();
                    round.evicted.clear();
                    for (i, &key) in (start..).zip(keys) {
                        let observed = front.observe(key);
                        if let Observed::Miss { evicted: Some(evicted) } = observed {
                            round.evicted.push(evicted);
                        }
                        // The front cache also has keys that were dropped, so a protected key goes on to the exact set
                        // even if the front cache has it.
                        if is_protected(i as usize) {
                            misses.push(i);
                        } else if observed == Observed::Hit {
                            counters.lru_hits += 1;
                        } else {
                            round.missed.push((i, key));
                        }
                    }
                    round.ask(filter, misses, asked, counters);
                    filter.insert_all(&round.evicted).expect("a stable filter is never full");
                }
            }
            Self::None => misses.extend(0..keys.len() as u32),
        }
    }
}

/// A group of keys that pass the LRU and the stable filter together. So the cache misses of look-ups in the filter
/// overlap, and so do those of insertions. A key that the LRU evicts gets into the filter at the end of the round.
#[derive(Default)]
pub(super) struct Round {
    /// The keys that missed the LRU and are not protected, with their indices in the batch. They are looked up in the
    /// filter.
    missed: Vec<(u32, KeyHash)>,
    evicted: Vec<KeyHash>,
    keys: Vec<KeyHash>,
    claims: Vec<bool>,
}

/// The maximum number of keys of a [`Round`]. Every LRU has room for at least this many.
const ROUND: usize = 256;

impl Round {
    fn ask(
        &mut self,
        stable: &StableBloomLight,
        misses: &mut Vec<u32>,
        asked: &mut Vec<Undecided>,
        counters: &mut SeenCounters,
    ) {
        self.keys.clear();
        self.keys.extend(self.missed.iter().map(|&(_, key)| key));
        stable.contains_all(&self.keys, &mut self.claims);
        for (&(index, _), &claimed) in self.missed.iter().zip(&self.claims) {
            if claimed && !(counters.stable_hits + counters.audited).is_multiple_of(SeenCounters::AUDIT) {
                counters.stable_hits += 1;
            } else {
                counters.audited += u64::from(claimed);
                misses.push(index);
                asked.push(Undecided { index, claimed });
            }
        }
    }
}

/// Returns the capacity, in keys, of the recent cache of a set that has `memory` bytes of RAM. It is at most `most`.
fn recent_keys(most: u64, memory: u64) -> u64 {
    (memory / RECENT_SHARE / size_of::<u64>() as u64).clamp(RECENT_LEAST, most)
}

fn recent(most: u64, memory: u64) -> Result<Recent<u64, 1>> {
    Ok(Recent::new(recent_keys(most, memory) as usize)?)
}
