use furui::KeyHash;
use furui::filter::{ConfigError, FilterMut, Recent, RecentTag, StableBloom, StableBloomLight, stable_decrements};
use furui::seen::{Clock as ClockCache, Lru, Observed};

use super::order::{Crawl, Mode, Outcome};
use super::s3_fifo::S3Fifo;
use crate::papers::Result;

/// What stands before the exact set on storage, and how much of it.
#[derive(Clone, Copy)]
pub(super) enum Tier {
    Lru {
        entries: usize,
    },
    Clock {
        entries: usize,
    },
    /// The paper's: what the LRU evicts goes to a stable filter of `counters` counters.
    Stable {
        entries: usize,
        counters: usize,
        filter: Stable,
        /// The exact set answers for front pages, whatever the LRU and the filter say.
        spare_fronts: bool,
    },
    S3Fifo {
        bytes: usize,
    },
    /// Tags of 64 bits, 4 ways.
    Whole {
        bytes: usize,
    },
    /// Tags of 32 bits, 4 ways.
    Half {
        bytes: usize,
    },
    /// Tags of 16 bits, 8 ways.
    Quarter {
        bytes: usize,
    },
}

/// The stable filters, with counters of two bits.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Stable {
    /// SBF: decrements at random, as many as the paper's eq. 3 says, rounded down.
    Random { probes: u32, rate: f64 },
    /// SBFL to the letter: as many decrements as that, in a row.
    Cursor { probes: u32, rate: f64 },
    /// furui's: in a row, as many as the rate needs then.
    Own { rate: f64 },
}

impl Stable {
    /// The paper's two settings of SBFL.
    pub(super) const COARSE: Self = Self::Cursor { probes: 4, rate: 1e-2 };
    pub(super) const FINE: Self = Self::Cursor { probes: 8, rate: 1e-5 };

    pub(super) fn name(self) -> String {
        match self {
            Self::Random { probes, rate } => format!("SBF, k = {probes}, {}", percent(rate)),
            Self::Cursor { probes, rate } => format!("SBFL, k = {probes}, {}", percent(rate)),
            Self::Own { rate } => format!("furui's SBFL, {}", percent(rate)),
        }
    }

    fn light(self, counters: usize) -> std::result::Result<StableBloomLight, ConfigError> {
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

/// P by eq. 3, rounded down as the paper does.
fn decrements(probes: u32, rate: f64, counters: usize) -> usize {
    stable_decrements(probes, rate, 3, counters) as usize
}

/// Who asks the tier about every link: a crawl that counts what the answers come to, or a clock.
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

/// Nanoseconds a link.
pub(super) struct Clock;

impl Asker for Clock {
    type Answer = f64;
    fn ask(&self, crawl: &Crawl, seen: impl FnMut(u32, KeyHash) -> bool) -> f64 {
        crawl.time(seen)
    }
}

impl Tier {
    /// The paper's tiers with a front LRU of `entries`.
    pub(super) fn stable(entries: usize, counters: usize, filter: Stable) -> Self {
        Self::Stable { entries, counters, filter, spare_fronts: false }
    }

    /// The crawl asks an empty tier about every link.
    pub(super) fn ask<A: Asker>(self, crawl: &Crawl, asker: &A) -> Result<A::Answer> {
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
            Self::Whole { bytes } => recent::<u64, 4, A>(crawl, asker, bytes)?,
            Self::Half { bytes } => recent::<u32, 4, A>(crawl, asker, bytes)?,
            Self::Quarter { bytes } => recent::<u16, 8, A>(crawl, asker, bytes)?,
        })
    }
}

/// Section 4.3 of the paper: the LRU, then the filter; what the LRU evicts goes into the filter.
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

fn recent<T: RecentTag, const WAYS: usize, A: Asker>(crawl: &Crawl, asker: &A, bytes: usize) -> Result<A::Answer> {
    // Whole sets only, so that the budget is kept.
    let sets = bytes / size_of::<[T; WAYS]>();
    let mut recent = Recent::<T, WAYS>::new(sets * WAYS)?;
    Ok(asker.ask(crawl, |_, key| recent.observe(key)))
}
