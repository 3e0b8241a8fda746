//! A question that the paper of Kubota et al. leaves open: false positives on important pages.

use super::order::{Crawl, Mode, Outcome};
use super::tier::{Stable, Tier};
use super::{FRONT, crawls, slug, stable_bytes};
use crate::report::{Axis, Context, Finding, Grade, Mark, Plot, Result, Source, Table, Verdict, brief};

/// The binary logarithm of the number of counters with which the filter is measured: the middle of the sizes of Kubota
/// et al.
const COUNTERS: u32 = 27;
/// Classes of pages by their number of in-links: each class begins at one of these numbers and ends below the next.
const CLASSES: [u32; 6] = [1, 2, 4, 16, 64, 256];
const IN_LINKS: &str = "in-links, from";
const LOST: &str = "lost, %";
const SHARE: &str = "fetched, % of those that were linked to";

fn tiers(crawl: &Crawl) -> [(&'static str, Tier); 6] {
    let (entries, counters, bytes) = (crawl.size(FRONT), crawl.size(COUNTERS), stable_bytes(crawl, COUNTERS));
    let coarse = |spare_fronts| Tier::Stable { entries, counters, filter: Stable::COARSE, spare_fronts };
    [
        ("LRU and SBFL, k = 4, 1 %", coarse(false)),
        ("the same, front pages spared", coarse(true)),
        ("LRU and SBFL, k = 8, 0.001 %", Tier::stable(entries, counters, Stable::FINE)),
        ("recent tags of 16 bits", Tier::Tags { bits: 16, bytes }),
        ("recent tags of 32 bits", Tier::Tags { bits: 32, bytes }),
        ("recent tags of 64 bits", Tier::Tags { bits: 64, bytes }),
    ]
}

/// The shares of the list of lost pages that are fetched after the crawl, in %. The list begins with the pages to which
/// most links lead.
const FETCHED: [usize; 3] = [1, 10, 100];
const PROTECTED: &str = "protected";
const MANY_LINKS: &str = "16 in-links or more";

pub(super) fn important(context: &Context) -> Result<Finding> {
    let (crawls, data) = crawls(context)?;
    let names = ["important-kept", "important-remedy", "important-all", "important"];
    let [kept, remedy, totals, classes] = context.tables(Source::DuplicateUrls, names, || measure(&crawls, context))?;
    let plots: Vec<_> = crawls.iter().map(|crawl| plot(crawl, &classes)).collect();
    let text: Vec<_> = crawls.iter().map(|crawl| result(crawl, &kept, &remedy)).collect();
    Ok(Finding::new(data, Verdict::new(Grade::Measured, text.join(" ")), [kept, remedy, totals, classes], plots))
}

/// Measures each cache on each crawl. The tables are those of the pages to keep, of what is fetched after the crawl, of
/// all pages, and of the classes of pages.
fn measure(crawls: &[Crawl], context: &Context) -> Result<[Table; 4]> {
    let [mut kept, mut remedy, mut totals, mut classes] = empty_tables();
    let bar = context.bar((crawls.len() * 2 * 6) as u64, "important pages");
    for crawl in crawls {
        let in_links = crawl.in_links(|_| true);
        let class = |page: usize| CLASSES.partition_point(|&least| least <= in_links[page].max(1)) - 1;
        let mut pages = [0u64; CLASSES.len()];
        (0..crawl.pages).for_each(|page| pages[class(page)] += 1);
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
            let many = |page: usize| in_links[page] >= 16;
            let protected = |page: usize| crawl.is_front(page as u32);
            for (pages, is_one) in [(PROTECTED, &protected as &dyn Fn(usize) -> bool), (MANY_LINKS, &many)] {
                let all: Vec<usize> = (0..crawl.pages).filter(|&page| is_one(page)).collect();
                let lost = all.iter().filter(|&&page| !live.crawled[page]);
                let (met, unmet): (Vec<usize>, Vec<usize>) = lost.partition(|&&page| live.met[page]);
                kept.push([
                    crawl.name.into(),
                    name.into(),
                    pages.into(),
                    (all.len() as u64).into(),
                    (met.len() as u64).into(),
                    (unmet.len() as u64).into(),
                    (100.0 * (met.len() + unmet.len()) as f64 / all.len().max(1) as f64).into(),
                ]);
            }
            for row in come_back(crawl, &live).into_iter().filter(|_| live.lost > 0) {
                let left = |is_one: &dyn Fn(usize) -> bool| {
                    row.crawled.iter().enumerate().filter(|&(page, crawled)| !crawled && is_one(page)).count() as u64
                };
                let figures = [row.fetched as u64, row.back as u64, left(&|_| true), left(&protected), left(&many)];
                let head = [crawl.name.into(), name.into(), (row.share as u64).into()];
                remedy.push(head.into_iter().chain(figures.map(Into::into)));
            }
            let of_links = |count: u64| 100.0 * count as f64 / crawl.links as f64;
            totals.push([
                crawl.name.into(),
                name.into(),
                (replayed.lost as u64).into(),
                (live.lost as u64).into(),
                of_links(crawl.links as u64 - live.links).into(),
                (100.0 - of_links(replayed.hits + replayed.false_positives)).into(),
            ]);
        }
    }
    Ok([kept, remedy, totals, classes])
}

fn empty_tables() -> [Table; 4] {
    let columns = ["crawl", "cache", IN_LINKS, "pages", "pages lost", LOST];
    let classes = Table::new("important", "Pages never crawled, by how many pages link to them".to_owned(), columns);
    let columns = [
        "crawl",
        "cache",
        "lost at their first link, replayed",
        "never crawled, live",
        "links never met, %",
        "links that storage is asked about, %",
    ];
    let totals = Table::new("important-all", "All pages".to_owned(), columns);
    let columns = ["crawl", "cache", "pages", "how many", "taken for seen, never crawled", "no link met", LOST];
    let kept = Table::new("important-kept", "The pages that are to be kept, live".to_owned(), columns);
    let columns = [
        "crawl",
        "cache",
        SHARE,
        "pages fetched",
        "pages back",
        "still lost",
        "of the protected, still lost",
        "of 16 in-links or more, still lost",
    ];
    let remedy = Table::new("important-remedy", "Lost pages fetched after the crawl".to_owned(), columns);
    [kept, remedy, totals, classes]
}

/// The plot of the pages of a crawl that were never crawled because of false positives, by their class.
fn plot(crawl: &Crawl, classes: &Table) -> Plot {
    let points = |cache: &str| classes.points(IN_LINKS, LOST, &[("crawl", crawl.name.into()), ("cache", cache.into())]);
    // A logarithmic axis shows small shares, but cannot show the 0 of caches that lose no page, so these are left out.
    let loses = |cache: &str| points(cache).iter().any(|point| point.1 > 0.0);
    let (losing, safe): (Vec<_>, Vec<_>) = tiers(crawl).map(|(name, _)| name).into_iter().partition(|name| loses(name));
    let safe = if safe.is_empty() { "" } else { "; with the other caches there are none" };
    let title = format!("{}: pages never crawled{safe}", crawl.name);
    let plot = Plot::new(&format!("important-{}", slug(crawl.name)), title, Axis::log(IN_LINKS), Axis::log(LOST));
    losing.into_iter().zip(0u32..).fold(plot, |plot, (name, i)| {
        // Lines that coincide are told apart by their marks.
        plot.with(if i % 2 == 0 { Mark::Line } else { Mark::Points }, name, points(name))
    })
}

/// The text of the results on a crawl: the number of important pages that are lost, and how many are gained by fetching
/// lost pages after the crawl.
fn result(crawl: &Crawl, kept: &Table, remedy: &Table) -> String {
    let [(coarse, _), (spared, _), ..] = tiers(crawl);
    let only = |name: &str| [("crawl", crawl.name.into()), ("cache", name.into())];
    let kept = |name: &str, pages: &str| {
        let only = [&only(name)[..], &[("pages", pages.into())]].concat();
        (kept.number("taken for seen, never crawled", &only), kept.number("how many", &only))
    };
    let ((before, all), (after, _)) = (kept(coarse, PROTECTED), kept(spared, PROTECTED));
    let (many, all_many) = kept(coarse, MANY_LINKS);
    let first = format!(
        "{}: at 1 % the crawl takes {} of the {} protected pages for seen and never crawls them; if the exact set \
         answers for these pages, {}. Of the {} pages with {MANY_LINKS}, {} are taken for seen.",
        crawl.name,
        brief(before),
        brief(all),
        brief(after),
        brief(all_many),
        brief(many)
    );
    let back = |share: usize| {
        let only = [&only(coarse)[..], &[(SHARE, (share as u64).into())]].concat();
        let number = |what: &str| brief(remedy.number(what, &only));
        format!(
            "{share} % of the list, {} pages, brings back {}, and leaves {} of those with many in-links lost",
            number("pages fetched"),
            number("pages back"),
            number("of 16 in-links or more, still lost")
        )
    };
    let known = remedy.range("pages back", &only(coarse)).0.is_finite();
    let second = if known {
        format!("Lost pages fetched after the crawl, the most linked first: {}.", FETCHED.map(back).join("; "))
    } else {
        "Nothing was lost.".to_owned()
    };
    format!("{first} {second}")
}

/// The pages that are gained if a part of the lost pages is fetched after the crawl.
struct Back {
    /// The share that is fetched, in % of the lost pages to which a crawled page has a link.
    share: usize,
    fetched: usize,
    back: usize,
    crawled: Vec<bool>,
}

fn come_back(crawl: &Crawl, live: &Outcome) -> Vec<Back> {
    let links = crawl.in_links(|page| live.crawled[page]);
    let mut lost: Vec<u32> =
        (0..crawl.pages as u32).filter(|&page| links[page as usize] > 0 && !live.crawled[page as usize]).collect();
    lost.sort_by_key(|&page| std::cmp::Reverse(links[page as usize]));
    let back = |share: usize| {
        let (fetched, mut crawled) = ((lost.len() * share).div_ceil(100), live.crawled.clone());
        Back { share, fetched, back: crawl.resume(&lost[..fetched], &mut crawled), crawled }
    };
    FETCHED.map(back).into()
}
