//! A question that the paper leaves open: false positives on important pages.

use super::order::{Crawl, Mode};
use super::tier::{Stable, Tier};
use super::{FRONT, crawls, slug, stable_bytes};
use crate::papers::{Axis, Context, Finding, Grade, Mark, Plot, Result, Series, Verdict, brief};
use crate::table::Table;

/// The number of counters of the filter that is measured, in the middle of the paper's sizes.
const COUNTERS: u32 = 27;
/// Classes of pages by their number of in-links: each class begins at one of these numbers and ends below the next.
const CLASSES: [u32; 6] = [1, 2, 4, 16, 64, 256];
const IN_LINKS: &str = "in-links, from";
const LOST: &str = "lost, %";

fn tiers(crawl: &Crawl) -> [(&'static str, Tier); 6] {
    let (entries, counters, bytes) = (crawl.size(FRONT), crawl.size(COUNTERS), stable_bytes(crawl, COUNTERS));
    let coarse = |spare_fronts| Tier::Stable { entries, counters, filter: Stable::COARSE, spare_fronts };
    [
        ("LRU and SBFL, k = 4, 1 %", coarse(false)),
        ("the same, front pages spared", coarse(true)),
        ("LRU and SBFL, k = 8, 0.001 %", Tier::stable(entries, counters, Stable::FINE)),
        ("recent tags of 16 bits", Tier::Quarter { bytes }),
        ("recent tags of 32 bits", Tier::Half { bytes }),
        ("recent tags of 64 bits", Tier::Whole { bytes }),
    ]
}

pub(in super::super) fn important(context: &Context) -> Result<Finding> {
    let (crawls, data) = crawls(context)?;
    let columns = ["crawl", "cache", IN_LINKS, "pages", "pages lost", LOST];
    let mut classes =
        Table::new("important", "Pages never crawled, by how many pages link to them".to_owned(), columns);
    let columns = [
        "crawl",
        "cache",
        "lost at their first link, replayed",
        "never crawled, live",
        "links never met, %",
        "links that storage is asked about, %",
    ];
    let mut totals = Table::new("important-all", "All pages".to_owned(), columns);
    let bar = context.bar((crawls.len() * 2 * 6) as u64, "important pages");
    let mut plots = vec![];
    for crawl in &crawls {
        let in_links = crawl.in_links();
        let class = |page: usize| CLASSES.partition_point(|&least| least <= in_links[page].max(1)) - 1;
        let mut pages = [0u64; CLASSES.len()];
        (0..crawl.pages()).for_each(|page| pages[class(page)] += 1);
        for (name, tier) in tiers(crawl) {
            let replayed = tier.ask(crawl, &Mode::Replay)?;
            bar.inc(1);
            let live = tier.ask(crawl, &Mode::Live)?;
            bar.inc(1);
            let mut lost = [0u64; CLASSES.len()];
            let not_crawled = live.crawled.iter().enumerate().filter(|(_, crawled)| !**crawled);
            not_crawled.for_each(|(page, _)| lost[class(page)] += 1);
            for (i, least) in CLASSES.into_iter().enumerate().filter(|&(i, _)| pages[i] > 0) {
                classes.push([
                    crawl.name.into(),
                    name.into(),
                    u64::from(least).into(),
                    pages[i].into(),
                    lost[i].into(),
                    (100.0 * lost[i] as f64 / pages[i] as f64).into(),
                ]);
            }
            let of_links = |count: u64| 100.0 * count as f64 / crawl.links() as f64;
            totals.push([
                crawl.name.into(),
                name.into(),
                (replayed.lost() as u64).into(),
                (live.lost() as u64).into(),
                of_links(crawl.links() as u64 - live.links).into(),
                (100.0 - of_links(replayed.hits + replayed.false_positives)).into(),
            ]);
        }
        let name = format!("important-{}", slug(crawl.name));
        let title = format!("{}: pages never crawled", crawl.name);
        let plot = Plot::new(&name, title, Axis::log(IN_LINKS), Axis::linear(LOST));
        plots.push(tiers(crawl).into_iter().fold(plot, |plot, (name, _)| {
            let points = classes.points(IN_LINKS, LOST, &[("crawl", crawl.name.into()), ("cache", name.into())]);
            plot.with(Series::new(name, Mark::Line, points))
        }));
    }
    let text = crawls.iter().map(|crawl| {
        let lost = |name: &str, least: u32| {
            let only = [("crawl", crawl.name.into()), ("cache", name.into()), (IN_LINKS, u64::from(least).into())];
            classes.range(LOST, &only).0
        };
        let [(coarse, _), (spared, _), ..] = tiers(crawl);
        let most = CLASSES.into_iter().rfind(|&least| lost(coarse, least).is_finite()).unwrap_or(1);
        format!(
            "{}: at 1 % the crawl loses {} % of the pages with one in-link and {} % of those with {most} or more; with front pages \
             spared {} % and {} %.",
            crawl.name,
            brief(lost(coarse, 1)),
            brief(lost(coarse, most)),
            brief(lost(spared, 1)),
            brief(lost(spared, most)),
        )
    });
    let text = text.collect::<Vec<_>>().join(" ");
    Ok(Finding {
        data,
        verdict: Verdict::new(Grade::Measured, text),
        tables: vec![totals, classes],
        plots,
        notes: vec![
            "\"Live\" means that a page wrongly taken for seen is not fetched, so that its links are not met and \
             other pages may be lost with it. \"Replayed\" means that the links do not depend on the answers. The \
             difference is the number of pages that are lost because of other lost pages."
                .to_owned(),
            "A page is usually crawled at its first link or not at all: whatever the answer, the LRU then knows the \
             page and later the filter, and while they remember it, each further link to it is answered \"seen\". A \
             page gets another chance only at links that come after they have forgotten it."
                .to_owned(),
            "Spared front pages bypass the filter and go to the exact set. A front page is the first page of a host, \
             or index.html, which a crawler recognises by its URL. `Seen::observe_protected` works like this."
                .to_owned(),
            "The tags have as much memory as LRU and SBFL together: 20 bytes an entry and 2 bits a counter.".to_owned(),
        ],
    })
}
