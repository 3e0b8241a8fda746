//! Figs. 9 and 10 of the paper of Kubota, Ueda and Yamana: the memory of an LRU with a stable filter (SBFL), compared
//! with that of an LRU alone that has the same number of hits.

use std::ops::RangeInclusive;

use super::hits::{HITS, KB, SETTINGS, SIZE, only, stable_hits};
use super::order::{Crawl, Mode};
use super::tier::{Stable, Tier};
use super::{COUNTERS, FRONT, LRU, LRU_BYTES, crawls, slug};
use crate::report::{Axis, Context, Finding, Grade, Plot, Result, Source, Table, Verdict, brief};

const SAVED: &str = "memory saved, %";
const OWN: &str = "kB, LRU and SBFL";
const ALONE_KB: &str = "kB, LRU alone";
const KNOWN: &str = "of what passes the LRU, SBFL knows, %";

/// The largest share of memory that an LRU with a filter saves, in %, according to the paper of Kubota et al.
const PAPER_SAVED: f64 = 63.0;
/// The binary logarithms of the numbers of counters of the filters that are measured. They go beyond those of Kubota et
/// al., because an effect that their paper saw may appear only at larger sizes here.
const SIZES: RangeInclusive<u32> = *COUNTERS.start()..=*COUNTERS.end() + 5;
/// The binary logarithms of the numbers of entries of an LRU that is used alone. They go beyond those of the paper of
/// Kubota et al., so that the largest LRU has at least as many hits as the best combination of an LRU and a filter.
const ALONE: RangeInclusive<u32> = *LRU.start()..=*LRU.end() + 5;

pub(super) fn fig9(context: &Context) -> Result<Finding> {
    let (crawls, data) = crawls(context)?;
    let [table] = context.tables(Source::DuplicateUrls, ["fig9"], || {
        let measured = stable_hits(&crawls, &SIZES, context)?;
        let mut table = Table::new(
            "fig9",
            "Memory at equal hits".to_owned(),
            ["crawl", "filter", SIZE, HITS, KNOWN, OWN, ALONE_KB, SAVED],
        );
        let bar = context.bar((crawls.len() * ALONE.count()) as u64, "LRU alone");
        for crawl in &crawls {
            let mut alone: Vec<(f64, f64)> = vec![];
            let mut front = 0.0;
            for log2 in ALONE {
                let entries = crawl.size(log2);
                let hits = 100.0 * Tier::Lru { entries }.ask(crawl, &Mode::Replay)?.hit_ratio();
                if log2 == FRONT {
                    front = hits;
                }
                alone.push(((entries * LRU_BYTES) as f64 / 1e3, hits));
                bar.inc(1);
            }
            for filter in SETTINGS {
                for row in measured.only(&only(crawl, filter)) {
                    let (Some(own), Some(hits)) = (row[4].number(), row[5].number()) else { continue };
                    let Some(lru) = memory_for(&alone, hits) else { continue };
                    let known = 100.0 * (hits - front) / (100.0 - front);
                    let head = [row[0].clone(), row[1].clone(), row[2].clone()];
                    let figures = [hits, known, own, lru, 100.0 * (1.0 - own / lru)];
                    table.push(head.into_iter().chain(figures.map(Into::into)));
                }
            }
        }
        Ok([table])
    })?;
    // The plots show the share of links that the cache does not answer, because it differs more than the share of hits:
    // with 92 and 97 % of hits, storage is asked about 8 and 3 % of the links.
    let plots = crawls.iter().map(|crawl| {
        let name = format!("fig9-{}", slug(crawl.name));
        let title = format!("{}: links that storage is asked about, and memory", crawl.name);
        let plot = Plot::new(&name, title, Axis::log(KB), Axis::log("100 - hits, % of links"));
        SETTINGS.into_iter().fold(plot, |plot, filter| {
            let missed = |memory: &str| -> Vec<(f64, f64)> {
                let points = table.points(memory, HITS, &only(crawl, filter));
                points.into_iter().map(|(kb, hits)| (kb, 100.0 - hits)).collect()
            };
            plot.line(format!("LRU and {}", filter.name()), missed(OWN))
                .dots("an LRU alone with as many hits", missed(ALONE_KB))
        })
    });
    let plots: Vec<_> = plots.collect();
    let verdicts = crawls.iter().flat_map(|crawl| [coarse(&table, crawl), fine(&table, crawl)]);
    Ok(Finding::new(data, Verdict::all(verdicts), [table], plots))
}

/// The shares of memory that are saved, in %: first at the sizes of Kubota et al., then at the larger ones. A point is
/// (binary logarithm of the number of counters, share).
fn saved(table: &Table, crawl: &Crawl, filter: Stable) -> [Vec<(f64, f64)>; 2] {
    let points = table.points(SIZE, SAVED, &only(crawl, filter));
    let (paper, larger) = points.into_iter().partition(|point| point.0 <= f64::from(*COUNTERS.end()));
    [paper, larger]
}

fn coarse(table: &Table, crawl: &Crawl) -> Verdict {
    let [paper, _] = saved(table, crawl, Stable::COARSE);
    let most = paper.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
    let least = paper.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
    let text = format!(
        "{}, k = 4: {} % of the memory are saved at best ({} in the paper), and {} at worst.",
        crawl.name,
        brief(most),
        brief(PAPER_SAVED),
        brief(least)
    );
    Verdict::new(Grade::of_gains(&[(PAPER_SAVED, most)], 0.1, 0.5), text)
}

/// The verdict on the claim of Kubota et al. that a filter with k = 8 saves memory where there are few hits, and costs
/// memory where there are many.
fn fine(table: &Table, crawl: &Crawl) -> Verdict {
    let [paper, larger] = saved(table, crawl, Stable::FINE);
    let loses = |points: &[(f64, f64)]| points.iter().find(|point| point.1 < 0.0).map(|point| point.0);
    let list = |points: &[(f64, f64)]| points.iter().map(|point| brief(point.1)).collect::<Vec<_>>().join(", ");
    let wins = paper.first().is_some_and(|point| point.1 > 0.0);
    let text = format!("{}, k = 8, from few hits to many: {} %", crawl.name, list(&paper));
    match (loses(&paper), loses(&larger)) {
        (Some(_), _) if wins => Verdict::new(Grade::Reproduced, format!("{text}.")),
        (None, Some(size)) if wins => {
            let known = table.number(KNOWN, &[&only(crawl, Stable::FINE)[..], &[(SIZE, size.into())]].concat());
            Verdict::new(
                Grade::NotReproduced,
                format!(
                    "{text}: it never becomes a loss at the paper's sizes. Beyond them {} %: the LRU alone wins from 2^{size} on, \
                     where SBFL knows {} % of what it is asked.",
                    list(&larger),
                    brief(known)
                ),
            )
        }
        _ => Verdict::new(Grade::NotReproduced, format!("{text}; beyond the paper's sizes {} %.", list(&larger))),
    }
}

/// The memory with which a cache has this many hits, by linear interpolation between two measured points (memory,
/// hits).
fn memory_for(curve: &[(f64, f64)], hits: f64) -> Option<f64> {
    let above = curve.iter().position(|point| point.1 >= hits)?;
    let (low, high) = (curve[above.checked_sub(1)?], curve[above]);
    Some(low.0 + (high.0 - low.0) * (hits - low.1) / (high.1 - low.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_interpolated_between_the_sizes_around_the_hits() {
        let curve = [(10.0, 20.0), (20.0, 40.0), (40.0, 50.0)];
        assert_eq!([30.0, 45.0, 50.0].map(|hits| memory_for(&curve, hits)), [Some(15.0), Some(30.0), Some(40.0)]);
        assert_eq!([10.0, 60.0].map(|hits| memory_for(&curve, hits)), [None, None]);
    }
}
