use furui::filter::{ConfigError, FilterMut, StableBloom, StableBloomLight};
use furui::raw::stable_decrements;
use furui::raw::{Clock as ClockCache, Lru, RecentTag};
use furui::seen::{Observed, Recent};
use furui::{Error, KeyHash};

use super::order::{Crawl, Mode, Outcome};
use super::s3_fifo::S3Fifo;

/// The cache that stands in front of the exact set on storage, and its size.
#[derive(Clone, Copy)]
pub(super) enum Tier {
    Lru {
        entries: usize,
    },
    Clock {
        entries: usize,
    },
    /// The tiers of Kubota et al.: the keys that the LRU evicts go to a stable filter of `counters` counters.
    Stable {
        entries: usize,
        counters: usize,
        filter: Stable,
        /// If true, the exact set is always asked about front pages, whatever the LRU and the filter say.
        spare_fronts: bool,
    },
    S3Fifo {
        bytes: usize,
    },
    /// A set-associative array of tags (parts of the hashes) of keys: tags of 64 or 32 bits with 4 ways, or tags of 16
    /// bits with 8 ways.
    Tags {
        bits: u32,
        bytes: usize,
    },
}

/// The stable filters that are compared. All have counters of two bits.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Stable {
    /// SBF: decrements random counters. Their number is that of eq. 3 of the paper of Kubota et al., rounded down.
    Random { probes: u32, rate: f64 },
    /// SBFL as the paper of Kubota et al. describes it: decrements consecutive counters. Their number is the same as in
    /// SBF.
    Cursor { probes: u32, rate: f64 },
    /// This project's filter: decrements consecutive counters. The number of decrements is computed for consecutive
    /// counters, so that the filter settles at the rate.
    Own { rate: f64 },
}

impl Stable {
    /// The setting of SBFL in the paper of Kubota et al. with the higher rate.
    pub(super) const COARSE: Self = Self::Cursor { probes: 4, rate: 1e-2 };
    /// The setting of SBFL in the paper of Kubota et al. with the lower rate.
    pub(super) const FINE: Self = Self::Cursor { probes: 8, rate: 1e-5 };

    pub(super) fn name(self) -> String {
        match self {
            Self::Random { probes, rate } => format!("SBF, k = {probes}, {}", percent(rate)),
            Self::Cursor { probes, rate } => format!("SBFL, k = {probes}, {}", percent(rate)),
            Self::Own { rate } => format!("furui's SBFL, {}", percent(rate)),
        }
    }

    fn light(self, counters: usize) -> Result<StableBloomLight, ConfigError> {
        match self {
            Self::Own { rate } => StableBloomLight::with_rate(counters, rate),
            Self::Random { probes, rate } | Self::Cursor { probes, rate } => {
                StableBloomLight::from_parts(counters, probes, decrements(probes, rate, counters))
            }
        }
    }
}

fn percent(rate: f64) -> String {
    format!("{} %", 100.0 * rate)
}

/// The number P of counters that an insertion decrements, by eq. 3 of the paper of Kubota et al., rounded down as in
/// the paper.
fn decrements(probes: u32, rate: f64, counters: usize) -> usize {
    stable_decrements(probes, rate, 3, counters) as usize
}

/// A caller that asks the tier about every link: a crawl that counts right and wrong answers, or a clock.
pub(super) trait Asker {
    type Answer;
    fn ask(&self, crawl: &Crawl, seen: impl FnMut(u32, KeyHash) -> bool) -> Self::Answer;
}

impl Asker for Mode {
    type Answer = Outcome;
    fn ask(&self, crawl: &Crawl, seen: impl FnMut(u32, KeyHash) -> bool) -> Outcome {
        crawl.run(*self, seen)
    }
}

/// An [`Asker`] that measures the mean time of a link, in nanoseconds.
pub(super) struct Clock;

impl Asker for Clock {
    type Answer = f64;
    fn ask(&self, crawl: &Crawl, seen: impl FnMut(u32, KeyHash) -> bool) -> f64 {
        crawl.time(seen)
    }
}

impl Tier {
    /// The tiers of Kubota et al., with an LRU of `entries` entries in front of a stable filter.
    pub(super) fn stable(entries: usize, counters: usize, filter: Stable) -> Self {
        Self::Stable { entries, counters, filter, spare_fronts: false }
    }

    /// Makes an empty tier of this kind, and lets `asker` ask it about every link of the crawl.
    pub(super) fn ask<A: Asker>(self, crawl: &Crawl, asker: &A) -> Result<A::Answer, Error> {
        Ok(match self {
            Self::Lru { entries } => {
                let mut lru = Lru::new(entries)?;
                asker.ask(crawl, |_, key| lru.observe(key) == Observed::Hit)
            }
            Self::Clock { entries } => {
                let mut clock = ClockCache::new(entries)?;
                asker.ask(crawl, |_, key| clock.observe(key) == Observed::Hit)
            }
            Self::Stable { entries, counters, filter: Stable::Random { probes, rate }, spare_fronts } => {
                let filter = StableBloom::from_parts(counters, 2, probes, decrements(probes, rate, counters))?;
                stable(crawl, asker, Lru::new(entries)?, filter, spare_fronts)
            }
            Self::Stable { entries, counters, filter, spare_fronts } => {
                stable(crawl, asker, Lru::new(entries)?, filter.light(counters)?, spare_fronts)
            }
            Self::S3Fifo { bytes } => {
                let mut cache = S3Fifo::new(bytes);
                asker.ask(crawl, |_, key| cache.observe(key))
            }
            Self::Tags { bits: 64, bytes } => recent::<u64, 4, A>(crawl, asker, bytes)?,
            Self::Tags { bits: 32, bytes } => recent::<u32, 4, A>(crawl, asker, bytes)?,
            Self::Tags { bytes, .. } => recent::<u16, 8, A>(crawl, asker, bytes)?,
        })
    }
}

/// The tiers of section 4.3 of the paper of Kubota et al.: an LRU, then a filter that takes the keys that the LRU
/// evicts.
fn stable<A: Asker>(
    crawl: &Crawl,
    asker: &A,
    mut lru: Lru,
    mut filter: impl FilterMut,
    spare_fronts: bool,
) -> A::Answer {
    asker.ask(crawl, |page, key| {
        let observed = lru.observe(key);
        let known = observed == Observed::Hit || filter.contains_hash(key);
        if let Observed::Miss { evicted: Some(evicted) } = observed {
            filter.insert_hash(evicted).expect("a stable filter is never full");
        }
        known && !(spare_fronts && crawl.is_front(page))
    })
}

fn recent<T: RecentTag, const WAYS: usize, A: Asker>(
    crawl: &Crawl,
    asker: &A,
    bytes: usize,
) -> Result<A::Answer, Error> {
    // Round down to whole sets, so that the tags stay within the budget.
    let sets = bytes / size_of::<[T; WAYS]>();
    let mut recent = Recent::<T, WAYS>::new(sets * WAYS)?;
    Ok(asker.ask(crawl, |_, key| recent.observe(key)))
}
