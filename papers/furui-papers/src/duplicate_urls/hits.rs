//! Figs. 5 and 8 of the paper of Kubota, Ueda and Yamana: the share of links that the caches answer.

use std::ops::RangeInclusive;

use furui::Error;

use super::order::{Crawl, Mode, PAPER_HOSTS};
use super::tier::{Stable, Tier};
use super::{COUNTERS, FRONT, LRU_BYTES, crawls_and_hosts, lru_sizes, measured_of, stable_bytes};
use crate::report::{Axis, Cell, Context, Finding, Grade, Plot, Result, Source, Table, Verdict, brief};
use crate::side_by_side::side_by_side;

const ENTRIES: &str = "log2 of the paper's entries";
pub(super) const SIZE: &str = "log2 of the paper's counters";
pub(super) const HITS: &str = "hits, % of links";
const CLOCK: &str = "hits of CLOCK, % of links";
pub(super) const KB: &str = "kB";

/// The hit ratio that Broder, Najork and Wiener found for a large enough LRU, according to the paper of Kubota et al.
const BRODER: f64 = 80.0;
pub(super) const SETTINGS: [Stable; 2] = [Stable::FINE, Stable::COARSE];
/// The numbers of false positives at 2^30 counters with each of the [`SETTINGS`], according to the paper of Kubota et
/// al.
const PAPER_FALSE_POSITIVES: [f64; 2] = [1e4, 1.5e6];
/// If a crawl has fewer false positives than this, their number depends on chance, and is not compared.
const FEW: f64 = 20.0;

pub(super) fn fig5(context: &Context) -> Result<Finding> {
    let (crawls, data) = crawls_and_hosts(context)?;
    let [table] = context.tables(Source::DuplicateUrls, ["fig5"], || {
        let columns = ["crawl", ENTRIES, "entries", KB, HITS, CLOCK, "false positives"];
        let mut table = Table::new("fig5", "An LRU alone, and a CLOCK of as many entries".to_owned(), columns);
        let sizes: Vec<_> = crawls.iter().flat_map(|crawl| lru_sizes(crawl).map(move |log2| (crawl, log2))).collect();
        let bar = context.bar(sizes.len() as u64, "LRU");
        let rows = side_by_side(sizes, |(crawl, log2)| {
            let entries = crawl.size(log2);
            let outcome = Tier::Lru { entries }.ask(crawl, &Mode::Replay)?;
            let clock = Tier::Clock { entries }.ask(crawl, &Mode::Replay)?;
            bar.inc(1);
            Ok::<_, Error>([
                crawl.name.into(),
                u64::from(log2).into(),
                (entries as u64).into(),
                kb(entries * LRU_BYTES),
                (100.0 * outcome.hit_ratio()).into(),
                (100.0 * clock.hit_ratio()).into(),
                (outcome.false_positives + clock.false_positives).into(),
            ])
        });
        for row in rows {
            table.push(row?);
        }
        Ok([table])
    })?;
    let plot = Plot::new("fig5", "Hit ratio of an LRU alone", Axis::linear(ENTRIES), Axis::linear(HITS));
    let curve = |crawl: &Crawl, what| table.points(ENTRIES, what, &[("crawl", crawl.name.into())]);
    let plot = crawls.iter().fold(plot, |plot, crawl| plot.line(crawl.name, curve(crawl, HITS)));
    let reach = crawls.iter().map(|crawl| {
        let (least, most) = table.range(HITS, &[("crawl", crawl.name.into())]);
        let reaches = if most >= BRODER { "reaches" } else { "does not reach" };
        let text = format!("{}: {} to {} %, which {reaches} the 80 %.", crawl.name, brief(least), brief(most));
        Verdict::holds(most >= BRODER, text)
    });
    let grows = crawls.iter().all(|crawl| curve(crawl, HITS).windows(2).all(|two| two[0].1 <= two[1].1));
    let exact = table.range("false positives", &[]).1 == 0.0;
    let more: Vec<f64> = crawls
        .iter()
        .flat_map(|crawl| curve(crawl, CLOCK).into_iter().zip(curve(crawl, HITS)))
        .map(|(clock, lru)| clock.1 - lru.1)
        .collect();
    let (worst, best) = (more.iter().copied().fold(f64::NAN, f64::min), more.iter().copied().fold(f64::NAN, f64::max));
    let verdict = Verdict::all(
        [Verdict::holds(grows && exact, "Hits grow with the size, and there is no false positive.")]
            .into_iter()
            .chain(reach),
    )
    .and(format!(
        "A CLOCK with as many entries, which takes two thirds of the memory, answers {} to {} % of the links more.",
        brief(worst),
        brief(best)
    ));
    Ok(Finding::new(data, verdict, [table], [plot]))
}

/// Measures an LRU with SBFL in the two settings of Kubota et al. `sizes` are the binary logarithms of their numbers of
/// counters. The table is that of their Fig. 8; Figs. 9 and 10 are computed from it.
pub(super) fn stable_hits(crawls: &[Crawl], sizes: &RangeInclusive<u32>, context: &Context) -> Result<Table> {
    let columns = ["crawl", "filter", SIZE, "counters", KB, HITS, "false positives", "pages lost"];
    let mut table = Table::new("fig8", "An LRU of the paper's 2^20 entries, and SBFL".to_owned(), columns);
    let filters: Vec<_> = each(crawls)
        .flat_map(|(crawl, filter)| measured_of(sizes.clone(), crawl).map(move |log2| (crawl, filter, log2)))
        .collect();
    let bar = context.bar(filters.len() as u64, "LRU and SBFL");
    let rows = side_by_side(filters, |(crawl, filter, log2)| {
        let outcome = Tier::stable(crawl.size(FRONT), crawl.size(log2), filter).ask(crawl, &Mode::Replay)?;
        bar.inc(1);
        Ok::<_, Error>([
            crawl.name.into(),
            filter.name().into(),
            u64::from(log2).into(),
            (crawl.size(log2) as u64).into(),
            kb(stable_bytes(crawl, log2)),
            (100.0 * outcome.hit_ratio()).into(),
            outcome.false_positives.into(),
            (outcome.lost as u64).into(),
        ])
    });
    for row in rows {
        table.push(row?);
    }
    Ok(table)
}

pub(super) fn fig8(context: &Context) -> Result<Finding> {
    let (crawls, data) = crawls_and_hosts(context)?;
    let [table] =
        context.tables(Source::DuplicateUrls, ["fig8"], || Ok([stable_hits(&crawls, &COUNTERS, context)?]))?;
    let plot = Plot::new("fig8", "Hit ratio of LRU and SBFL", Axis::linear(SIZE), Axis::linear(HITS));
    let plot = each(&crawls).fold(plot, |plot, (crawl, filter)| {
        let points = table.points(SIZE, HITS, &only(crawl, filter));
        plot.line(format!("{}, {}", crawl.name, filter.name()), points)
    });
    let growth = crawls.iter().map(|crawl| {
        let grows = SETTINGS
            .iter()
            .all(|&filter| table.points(SIZE, HITS, &only(crawl, filter)).windows(2).all(|two| two[0].1 <= two[1].1));
        let text = if grows { "hits grow" } else { "hits do not always grow" };
        Verdict::holds(grows, format!("{}: {text} with the number of counters.", crawl.name))
    });
    let errors = each(&crawls).map(|(crawl, filter)| {
        let [own, setting] = only(crawl, filter);
        let found = table.number("false positives", &[own, setting, (SIZE, 30u64.into())]);
        let paper =
            PAPER_FALSE_POSITIVES[SETTINGS.iter().position(|&other| other == filter).unwrap_or(0)] / PAPER_HOSTS;
        errors(crawl, filter, found, paper)
    });
    Ok(Finding::new(data, Verdict::all(growth.chain(errors)), [table], [plot]))
}

/// The verdict on the false positives of a crawl, compared with the paper of Kubota et al., which has `paper` of them
/// for each page.
fn errors(crawl: &Crawl, filter: Stable, found: f64, paper: f64) -> Verdict {
    let expected = paper * crawl.pages as f64;
    let off = (found / expected).max(expected / found);
    let few = found.max(expected) < FEW;
    let grade = match off {
        _ if few => Grade::Measured,
        off if off <= 1.2 => Grade::Reproduced,
        _ if found < expected => Grade::Better,
        off if off <= 4.0 => Grade::WithinBand,
        _ => Grade::NotReproduced,
    };
    let way = if found > expected { "more" } else { "fewer" };
    let text = format!(
        "{}, {}: {} false positives at 2^30, {way} than the {} that the paper has for as many pages{}.",
        crawl.name,
        filter.name(),
        brief(found),
        brief(expected),
        if few { ", both too few to tell" } else { "" }
    );
    Verdict::new(grade, text)
}

fn each(crawls: &[Crawl]) -> impl Iterator<Item = (&Crawl, Stable)> {
    crawls.iter().flat_map(|crawl| SETTINGS.map(|filter| (crawl, filter)))
}

pub(super) fn only(crawl: &Crawl, filter: Stable) -> [(&'static str, Cell); 2] {
    [("crawl", crawl.name.into()), ("filter", filter.name().into())]
}

fn kb(bytes: usize) -> Cell {
    (bytes as f64 / 1e3).into()
}
