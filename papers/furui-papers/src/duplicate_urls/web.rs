//! A seeded graph like the web: hosts of very different sizes, most links to pages nearby, and a few pages that get
//! links from everywhere.

use super::order::Crawl;
use crate::keys::Random;

/// The size of a graph, and of the crawl of it.
pub(super) struct CrawlSize {
    /// The number of all pages or hosts; a crawl meets some of them.
    pub(super) universe: u32,
    /// The number of links after which the crawl ends.
    pub(super) links: usize,
}

pub(super) const FULL: CrawlSize = CrawlSize { universe: 1 << 23, links: 1 << 24 };
pub(super) const QUICK: CrawlSize = CrawlSize { universe: 1 << 14, links: 1 << 16 };

/// A sentence that says how the graph is made.
pub(super) const ABOUT: &str = "The seeded web is a graph that a seed determines. A host has 4/u pages for a \
                                uniform u, and a page has 16 to 400 links (log-uniform). Three of four links stay in \
                                the host, and half of these lead to pages nearby; the others lead to the page of rank \
                                r with a probability in proportion to r^-0.909. The pages of a section of 64 copy 70 \
                                % of their links from one list.";

/// The number of links of a page, log-uniform from 16 to 400: 119 on average, as the hosts of Kubota et al. have.
const LINKS: (f64, f64) = (16.0, 400.0);
/// The share of a page's links that lead to pages of its own host.
const AT_HOME: f64 = 0.75;
/// The share of links that a page has in common with its section, such as those of menus, lists and signatures (the
/// copying model of Kumar and others).
const COPIED: f64 = 0.7;
/// The number of pages of a section, whose pages have links in common.
const SECTION: u32 = 64;
/// The maximum size of a host, in pages. A size is 4/u for a u that is uniform between 0 and 1.
const LARGEST_HOST: f64 = 65536.0;
/// The exponent a of the popularity r^-a of the page of rank r. The number of pages with at least n in-links is then
/// proportional to n^-1.1, as on the web.
const POPULARITY: f64 = 0.909;

/// The graph of pages. It stores only where hosts begin: when the links of a page are needed, they are drawn from its
/// number.
struct Web {
    hosts: Vec<u32>,
    seed: u64,
}

pub(super) fn crawl(size: &CrawlSize, seed: u64) -> Crawl {
    let web = Web::new(size, seed);
    let links_of = |&page: &u32, targets: &mut Vec<u32>| web.links_of(page, targets);
    let is_front = |page: &u32| web.hosts.binary_search(page).is_ok();
    Crawl::breadth_first("seeded web", (0, seed), size.links, links_of, is_front)
}

impl Web {
    fn new(size: &CrawlSize, seed: u64) -> Self {
        let mut draw = Random::new(seed, u64::MAX);
        let (mut hosts, mut end) = (vec![], 0);
        while end < size.universe {
            hosts.push(end);
            end += (4.0 / draw.uniform()).min(LARGEST_HOST) as u32;
        }
        // The end of the last host.
        hosts.push(end);
        Self { hosts, seed }
    }

    fn links_of(&self, page: u32, targets: &mut Vec<u32>) {
        let mut own = Random::new(self.seed, page.into());
        let home = self.hosts.partition_point(|&start| start <= page) - 1;
        // The pages of a section have consecutive numbers. All but the first page copy links of the first page.
        let (start, _) = self.host(home);
        let first = page - (page - start) % SECTION;
        let mut section = Random::new(self.seed, u64::from(first) << 32);
        let count = LINKS.0 * (LINKS.1 / LINKS.0).powf(own.uniform());
        targets.extend((0..count as usize).map(|_| {
            let shared = self.target(first, home, &mut section);
            if own.uniform() < COPIED { shared } else { self.target(page, home, &mut own) }
        }));
    }

    /// The target of a link. Three of four links stay in the host: half of them lead to popular pages of the host, half
    /// to pages nearby. The other links lead to a nearby or a popular host: half of them to its front page, half to its
    /// popular pages.
    fn target(&self, page: u32, home: usize, draw: &mut Random) -> u32 {
        let hosts = self.hosts.len() - 1;
        if draw.uniform() < AT_HOME {
            let (start, size) = self.host(home);
            return match draw.coin() {
                true => start + rank(draw, size),
                false => start + near(draw, page - start, size),
            };
        }
        let host = match draw.coin() {
            true => near(draw, home as u32, hosts as u32),
            false => rank(draw, hosts as u32),
        };
        let (start, size) = self.host(host as usize);
        match draw.coin() {
            true => start,
            false => start + rank(draw, size),
        }
    }

    /// The number of the first page of the host with this number, and the number of the host's pages.
    fn host(&self, host: usize) -> (u32, u32) {
        (self.hosts[host], self.hosts[host + 1] - self.hosts[host])
    }
}

/// Draws a rank from 0 to `count` - 1. Rank 0 is the most popular, and the most likely.
pub(super) fn rank(random: &mut Random, count: u32) -> u32 {
    let flat = 1.0 - POPULARITY;
    let rank = (1.0 + random.uniform() * (f64::from(count + 1).powf(flat) - 1.0)).powf(1.0 / flat);
    (rank as u32).clamp(1, count) - 1
}

/// Draws a place near `here`, on either side, among `count` places in a circle. Nearer places are more likely.
pub(super) fn near(random: &mut Random, here: u32, count: u32) -> u32 {
    let way = (random.uniform().powi(-2) as u64).min(u64::from(count)) as u32;
    let on = if random.coin() { way } else { count - way };
    ((u64::from(here) + u64::from(on)) % u64::from(count)) as u32
}
