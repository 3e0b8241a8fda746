//! The recent cache, an array of tags of keys, compared with other caches in front of an exact set, at equal memory.

use super::order::{Crawl, Mode};
use super::tier::{Stable, Tier};
use super::{LRU_BYTES, crawls, slug};
use crate::report::{Axis, Cell, Context, Finding, Grade, Plot, Result, Table, Verdict, brief};

/// The amounts of memory of the caches. A number s stands for the memory of an LRU of 2ˢ entries, in the scale of
/// Kubota et al.
const SIZES: [u32; 6] = [14, 16, 18, 20, 22, 24];

const KB: &str = "kB";
const REACH: &str = "reach the set, %";
const LOST: &str = "pages lost, %";
const SAVED: &str = "memory saved, %";

/// Each cache that is compared, with a size of `bytes` bytes, and its name. An LRU in front of a filter gets an eighth
/// of the bytes.
fn tiers(bytes: usize) -> [(&'static str, Tier); 7] {
    let entries = (bytes / 8 / LRU_BYTES).max(1);
    // A byte holds four counters.
    let stable = |filter| Tier::stable(entries, 4 * (bytes - entries * LRU_BYTES), filter);
    [
        ("LRU", Tier::Lru { entries: bytes / LRU_BYTES }),
        ("S3-FIFO", Tier::S3Fifo { bytes }),
        ("LRU and SBFL, k = 4, 1 %", stable(Stable::COARSE)),
        ("LRU and SBFL, k = 8, 0.001 %", stable(Stable::FINE)),
        ("tags of 64 bits, 4 ways", Tier::Tags { bits: 64, bytes }),
        ("tags of 32 bits, 4 ways", Tier::Tags { bits: 32, bytes }),
        ("tags of 16 bits, 8 ways", Tier::Tags { bits: 16, bytes }),
    ]
}

pub(crate) fn recent(context: &Context) -> Result<Finding> {
    let (crawls, data) = crawls(context)?;
    let caches = tiers(LRU_BYTES).map(|(name, _)| name);
    let mut table = Table::new("recent", "Caches of equal memory".to_owned(), ["crawl", "cache", KB, REACH, LOST]);
    let bar = context.bar((crawls.len() * SIZES.len() * caches.len()) as u64, "recent tags");
    let mut saved = Table::new(
        "recent-saved",
        "Memory saved compared with the LRU, if as few links reach the set; interpolated".to_owned(),
        ["crawl", "cache", "kB of the LRU", SAVED],
    );
    let mut plots = vec![];
    for crawl in &crawls {
        let budgets = SIZES.map(|log2| crawl.size(log2) * LRU_BYTES);
        for bytes in budgets {
            for (name, tier) in tiers(bytes) {
                let outcome = tier.ask(crawl, &Mode::Replay)?;
                let lost = 100.0 * outcome.lost as f64 / crawl.pages as f64;
                let reach = 100.0 * (1.0 - outcome.hit_ratio());
                table.push([crawl.name.into(), name.into(), (bytes as f64 / 1e3).into(), reach.into(), lost.into()]);
                bar.inc(1);
            }
        }
        let curve = |name: &str| table.points(KB, REACH, &only(crawl, name));
        for (name, (kb, reach)) in
            caches[1..].iter().flat_map(|name| curve(caches[0]).into_iter().map(move |at| (name, at)))
        {
            let cell = match memory_for(&curve(name), reach) {
                Some(needed) => (100.0 * (1.0 - needed / kb)).into(),
                None => "unknown".into(),
            };
            saved.push([crawl.name.into(), (*name).into(), kb.into(), cell]);
        }
        let name = format!("recent-{}", slug(crawl.name));
        let plot =
            Plot::new(&name, format!("{}: links that reach the set", crawl.name), Axis::log(KB), Axis::linear(REACH));
        plots.push(plot.lines(&table, [KB, REACH], caches, |name| only(crawl, name)));
    }
    let text = crawls.iter().map(|crawl| {
        let of = |name: &&str| {
            let (least, most) = saved.range(SAVED, &only(crawl, name));
            format!("{name} {} to {} %", brief(least), brief(most))
        };
        let known = |name: &&&str| saved.range(SAVED, &only(crawl, name)).0.is_finite();
        let each: Vec<_> = caches[1..].iter().filter(known).map(of).collect();
        format!("{}, memory saved compared with an LRU: {}.", crawl.name, each.join("; "))
    });
    let text = text.collect::<Vec<_>>().join(" ");
    Ok(Finding::new(data, Verdict::new(Grade::Measured, text), [saved, table], plots))
}

/// The smallest memory with which at most `reach` % of the links reach the set. It is interpolated between two measured
/// amounts of memory, linearly in their logarithms.
fn memory_for(curve: &[(f64, f64)], reach: f64) -> Option<f64> {
    let worse = curve.iter().rposition(|point| point.1 > reach)?;
    let (low, high) = (curve[worse], *curve.get(worse + 1)?);
    Some(low.0 * (high.0 / low.0).powf((low.1 - reach) / (low.1 - high.1)))
}

fn only(crawl: &Crawl, cache: &str) -> [(&'static str, Cell); 2] {
    [("crawl", crawl.name.into()), ("cache", cache.into())]
}
