//! Reads from the options the tiers in front of the exact set, such as its cache.

use furui::seen::{Cache, Replacement, TierSizes};

use crate::cli::{CacheKind, ReplacementKind, SeenOptions, TierOptions};
use crate::error::Error;

/// The default false-positive rate of the stable filter: the smaller of the two rates in the paper of Kubota, Ueda and
/// Yamana.
const DEFAULT_RATE: f64 = 1e-5;

/// The cache in front of the exact set. Options that do not belong to this cache are an error.
pub fn cache(options: &SeenOptions) -> Result<Cache, Error> {
    let tiers = &options.tiers;
    let kind = options.cache.unwrap_or(if tiers.paper { CacheKind::LruStable } else { CacheKind::Recent });
    let stable = [
        ("--fpr", options.fpr.is_some()),
        ("--protect", options.protect.is_some()),
        ("--counters", tiers.counters.is_some()),
        ("--probes", tiers.probes.is_some()),
        ("--decrements", tiers.decrements.is_some()),
        ("--paper", tiers.paper),
    ];
    let front = [("--lru", tiers.lru.is_some()), ("--replacement", tiers.replacement.is_some())];
    let given = |options: &[(&'static str, bool)]| options.iter().find(|option| option.1).map(|option| option.0);
    if let Some(name) = given(&stable).filter(|_| kind != CacheKind::LruStable) {
        return Err(Error::Message(format!("{name} is for --cache lru+stable: the other caches have no filter")));
    }
    if let Some(name) = given(&front).filter(|_| !matches!(kind, CacheKind::Lru | CacheKind::LruStable)) {
        return Err(Error::Message(format!(
            "{name} is for --cache lru and for lru+stable: the other caches have no LRU"
        )));
    }
    Ok(match kind {
        CacheKind::Recent => Cache::Recent,
        CacheKind::Lru => Cache::Lru,
        CacheKind::LruStable => Cache::LruStable { rate: options.fpr.unwrap_or(DEFAULT_RATE) },
        CacheKind::None => Cache::None,
    })
}

/// The sizes of the tiers (caches in front of the set) that the options give. With `--paper`, all other sizes are those
/// of the paper.
pub fn sizes(options: &TierOptions) -> TierSizes {
    let paper = if options.paper { TierSizes::PAPER } else { TierSizes::default() };
    TierSizes {
        lru: options.lru.or(paper.lru),
        counters: options.counters.or(paper.counters),
        probes: options.probes.or(paper.probes),
        decrements: options.decrements.or(paper.decrements),
        replacement: match options.replacement {
            Some(ReplacementKind::Clock) => Replacement::Clock,
            Some(ReplacementKind::Lru) | None => Replacement::Lru,
        },
    }
}
