//! A seeded graph of hosts, like the graph of the paper of Kubota et al. It is too large to be kept in memory, so the
//! links of a host are made anew whenever the host is met.

use super::order::Crawl;
use super::web::{CrawlSize, near, rank};
use crate::keys::Random;

pub(super) const FULL: CrawlSize = CrawlSize { universe: 1 << 27, links: 400_000_000 };
pub(super) const QUICK: CrawlSize = CrawlSize { universe: 1 << 16, links: 1 << 17 };

/// The name of the crawl.
pub(super) const NAME: &str = "seeded hosts";
/// A sentence that says how the graph is made.
pub(super) const ABOUT: &str = "The seeded hosts are a graph that a seed determines. A host has 16 to 400 links (log-uniform). Half of \
                                them lead to hosts nearby, half to the host of rank r with a probability in proportion to r^-0.909. \
                                The hosts of a group of 64 copy 70 % of their links from one list.";

/// A host has from 16 to 400 links, log-uniform: 119 on average, as in the paper of Kubota et al.
const LINKS: (f64, f64) = (16.0, 400.0);
/// The share of their links that the hosts of a group (such as those of one provider) copy from one common list.
const COPIED: f64 = 0.7;
/// The number of hosts in a group whose hosts have links in common.
const GROUP: u32 = 64;

pub(super) fn crawl(size: &CrawlSize, seed: u64) -> Crawl {
    let hosts = size.universe;
    let links_of = move |host: u32, targets: &mut Vec<u32>| links_of(host, hosts, seed, targets);
    Crawl::streamed(NAME, (hosts, seed), size.links, links_of)
}

fn links_of(host: u32, hosts: u32, seed: u64, targets: &mut Vec<u32>) {
    let mut own = Random::new(seed, host.into());
    let first = host - host % GROUP;
    // The random numbers of a host are seeded with the number of the host, and those of a group with a number that no
    // host has.
    let mut group = Random::new(seed, u64::from(first) << 32 | 1 << 31);
    let count = LINKS.0 * (LINKS.1 / LINKS.0).powf(own.uniform());
    targets.extend((0..count as usize).map(|_| {
        let shared = target(first, hosts, &mut group);
        if own.uniform() < COPIED { shared } else { target(host, hosts, &mut own) }
    }));
    targets.sort_unstable();
    targets.dedup();
}

/// Draws the target of a link of the host `here`: half of the links lead to popular hosts, half to hosts nearby.
fn target(here: u32, hosts: u32, draw: &mut Random) -> u32 {
    if draw.coin() { rank(draw, hosts) } else { near(draw, here, hosts) }
}
