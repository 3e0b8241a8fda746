//! The experiments of Kubota, Ueda and Yamana, and the questions that they left open. A crawler asks "have I seen this
//! URL?" at every link, on a seeded graph like the web and on a real site.

mod decrement;
mod equal_hits;
mod errors;
mod hits;
mod hosts;
mod important;
mod order;
mod recent;
mod s3_fifo;
mod site;
mod tier;
mod time;
mod web;

pub(crate) use recent::recent;

use std::iter::StepBy;
use std::ops::RangeInclusive;
use std::path::Path;

use crate::report::{Context, Result, Run, Source};
use order::Crawl;

pub(crate) const EXPERIMENTS: &[(&str, Run)] = &[
    ("fig5", hits::fig5),
    ("fig6", errors::fig6),
    ("table1", decrement::table1),
    ("fig8", hits::fig8),
    ("fig9", equal_hits::fig9),
    ("time", time::time),
    ("important", important::important),
];

/// The binary logarithms of the numbers of entries that an LRU alone has in the paper of Kubota et al.
const LRU: RangeInclusive<u32> = 18..=24;
/// The binary logarithm of the number of entries that an LRU in front of a filter has in the paper of Kubota et al.
const FRONT: u32 = 20;
/// The binary logarithms of the numbers of counters that a filter has in the paper of Kubota et al.
const COUNTERS: RangeInclusive<u32> = 24..=30;
/// The bytes of an LRU entry as the paper of Kubota et al. counts them. This project's LRU takes 21.
const LRU_BYTES: usize = 20;

/// The crawls of this run, and a text about them for the page: how they were made, and a sentence about each. If
/// recorded tables are read instead of measuring, only their sizes are known, and the text is empty.
fn crawls(context: &Context) -> Result<(Vec<Crawl>, String)> {
    if let Some(dir) = &context.recorded {
        return Ok((recorded(dir, &["seeded web", "rust-doc"])?, String::new()));
    }
    let mut crawls = vec![web::crawl(&context.size(web::FULL, web::QUICK), context.seed)];
    let mut about = format!("breadth-first crawls, in which each target counts once a page. {} ", web::ABOUT);
    match context.real("rust-doc") {
        Some(root) => crawls.push(site::crawl(&root, context.seed)?),
        None => about += "The real site is missing: synthetic data only. ",
    }
    about += &crawls.iter().map(Crawl::about).collect::<Vec<_>>().join(" ");
    Ok((crawls, about))
}

/// The crawls with these names that the page in `dir` describes, without their links: only their numbers of links and
/// pages are known.
fn recorded(dir: &Path, names: &[&'static str]) -> Result<Vec<Crawl>> {
    let page = std::fs::read_to_string(dir.join(Source::DuplicateUrls.page()).with_extension("md"))?;
    let of = |name: &&'static str| {
        let about = format!(" {name}: ");
        // The text of a verdict may have the name before other numbers.
        let numbers = page.split(&about).skip(1).find_map(|about| {
            let (links, rest) = about.split_once(" links, ")?;
            Some((links.parse().ok()?, rest.split_once(" pages")?.0.parse().ok()?))
        });
        Some(Crawl::recorded(name, numbers?, *name == hosts::NAME))
    };
    Ok(names.iter().filter_map(of).collect())
}

/// The crawls of [`crawls`], and, if the scale of Kubota et al. is requested, a crawl with as many links as in the
/// paper.
fn crawls_and_hosts(context: &Context) -> Result<(Vec<Crawl>, String)> {
    if let Some(dir) = &context.recorded {
        return Ok((recorded(dir, &["seeded web", "rust-doc", hosts::NAME])?, String::new()));
    }
    let (mut crawls, mut about) = crawls(context)?;
    if context.full {
        let hosts = hosts::crawl(&context.size(hosts::FULL, hosts::QUICK), context.seed);
        about =
            format!("{about} {} {} Every other size of memory is measured on this crawl.", hosts::ABOUT, hosts.about());
        crawls.push(hosts);
    }
    Ok((crawls, about))
}

/// The numbers of entries, as binary logarithms, of an LRU alone that are measured on a crawl. On a crawl of the
/// paper's scale, the largest ones are left out.
fn lru_sizes(crawl: &Crawl) -> StepBy<RangeInclusive<u32>> {
    let sizes = if crawl.is_whole() { *LRU.start()..=*LRU.end() - 2 } else { LRU };
    measured_of(sizes, crawl)
}

/// The sizes, as binary logarithms, that are measured on a crawl: all of `sizes` or, on a crawl of the scale of Kubota
/// et al., every other one, because each takes some minutes.
fn measured_of(sizes: RangeInclusive<u32>, crawl: &Crawl) -> StepBy<RangeInclusive<u32>> {
    sizes.step_by(if crawl.is_whole() { 2 } else { 1 })
}

/// The memory, in bytes, of the tiers of Kubota et al. with 2^`FRONT` entries of the LRU and 2^`counters` counters of
/// the filter.
fn stable_bytes(crawl: &Crawl, counters: u32) -> usize {
    LRU_BYTES * crawl.size(FRONT) + crawl.size(counters) / 4
}

/// A form of the name of a crawl that fits into file names.
fn slug(name: &str) -> String {
    name.replace(' ', "-")
}
