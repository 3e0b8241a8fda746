use std::collections::HashMap;
use std::hash::Hash;

use furui::KeyHash;

use crate::clock::ns_each;
use crate::keys::mix;

/// The number of hosts in the paper's graph, for which all its memory sizes are meant.
pub(super) const PAPER_HOSTS: f64 = 538_137_220.0;
/// The number of links after which the time of a link is known well enough.
pub(super) const TIMED: usize = 1 << 22;
/// The maximum binary logarithm of the divisor of the paper's sizes: the smallest cache then still has 128 entries,
/// more than a page has links.
const MAX_SHIFT: u32 = 11;

/// A breadth-first crawl: every link in the order in which the crawler meets it. Of the links of a page to one target,
/// only the first counts.
///
/// Pages are numbered as they are first met, so they are also fetched in the order of their numbers.
pub(super) struct Crawl {
    pub(super) name: &'static str,
    /// The targets of page 0, then those of page 1, and so on.
    links: Vec<u32>,
    /// The position in `links` where the targets of each page begin; the last item is the end of `links`.
    starts: Vec<usize>,
    /// Whether each page is the front page of a host or directory, which a crawler can tell from the URL.
    fronts: Vec<bool>,
    seed: u64,
}

/// How the answers "seen before" and "new" influence the crawl.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Mode {
    /// The links are the same whatever the answers are, as if a page wrongly taken for seen were fetched some other
    /// way.
    Replay,
    /// A page wrongly taken for seen is not fetched, so the crawl does not meet its links.
    Live,
}

/// Counts of a cache's right and wrong answers in a crawl.
pub(super) struct Outcome {
    /// The number of links met; each is one question to the cache.
    pub(super) links: u64,
    /// The number of right answers "seen before", for each of which storage is spared a lookup.
    pub(super) hits: u64,
    /// The number of wrong answers "seen before": the page had not been crawled.
    pub(super) false_positives: u64,
    /// The number of answers "new" about pages that had been crawled: each costs an unnecessary lookup on storage.
    pub(super) false_negatives: u64,
    /// Which pages were crawled.
    pub(super) crawled: Vec<bool>,
}

impl Outcome {
    pub(super) fn hit_ratio(&self) -> f64 {
        self.hits as f64 / self.links as f64
    }

    /// The number of pages that were never crawled.
    pub(super) fn lost(&self) -> usize {
        self.crawled.iter().filter(|&&crawled| !crawled).count()
    }
}

impl Crawl {
    /// Crawls breadth first from `start`, until `limit` links were met or no page is left. `links_of` appends the
    /// targets of a page, and `is_front` tells whether a page is a front page.
    pub(super) fn breadth_first<P: Clone + Eq + Hash>(
        name: &'static str,
        (start, seed): (P, u64),
        limit: usize,
        mut links_of: impl FnMut(&P, &mut Vec<P>),
        is_front: impl Fn(&P) -> bool,
    ) -> Self {
        let mut pages = vec![start.clone()];
        let mut numbers = HashMap::from([(start, 0)]);
        // For each page, 1 plus the number of the page that linked to it last.
        let mut linked_by = vec![0];
        let (mut links, mut starts, mut targets) = (vec![], vec![0], vec![]);
        let mut page = 0;
        while page < pages.len() {
            if links.len() < limit {
                links_of(&pages[page], &mut targets);
            }
            for target in targets.drain(..) {
                let number = *numbers.entry(target.clone()).or_insert_with(|| {
                    pages.push(target);
                    linked_by.push(0);
                    pages.len() as u32 - 1
                });
                if linked_by[number as usize] != page + 1 {
                    linked_by[number as usize] = page + 1;
                    links.push(number);
                }
            }
            starts.push(links.len());
            page += 1;
        }
        let fronts = pages.iter().map(is_front).collect();
        Self { name, links, starts, fronts, seed }
    }

    pub(super) fn pages(&self) -> usize {
        self.fronts.len()
    }

    pub(super) fn links(&self) -> usize {
        self.links.len()
    }

    /// The number of pages that have links.
    pub(super) fn expanded(&self) -> usize {
        self.starts.windows(2).filter(|ends| ends[0] < ends[1]).count()
    }

    /// The paper's size of 2^`log2`, divided so that it is the same share of the pages as in the paper, or somewhat
    /// more for few pages.
    pub(super) fn size(&self, log2: u32) -> usize {
        1 << (log2 - self.shift())
    }

    /// The binary logarithm of the number by which the paper's sizes are divided.
    pub(super) fn shift(&self) -> u32 {
        (PAPER_HOSTS / self.pages() as f64).log2().round().clamp(0.0, MAX_SHIFT.into()) as u32
    }

    /// A sentence that describes the crawl.
    pub(super) fn about(&self) -> String {
        let (links, pages, expanded) = (self.links(), self.pages(), self.expanded());
        format!(
            "{}: {links} links, {pages} pages ({:.1} for 100 links), {expanded} of them with links; the paper's \
             sizes are divided by 2^{}.",
            self.name,
            100.0 * pages as f64 / links as f64,
            self.shift()
        )
    }

    /// The hash of a page's URL. Equal pages have equal hashes; the URL matters for nothing else.
    pub(super) fn key(&self, page: u32) -> KeyHash {
        KeyHash::new(mix(mix(self.seed).wrapping_add(u64::from(page))))
    }

    pub(super) fn is_front(&self, page: u32) -> bool {
        self.fronts[page as usize]
    }

    /// The keys of all links, in order.
    pub(super) fn keys(&self) -> impl Iterator<Item = KeyHash> {
        self.links.iter().map(|&page| self.key(page))
    }

    /// The number of in-links of each page.
    pub(super) fn in_links(&self) -> Vec<u32> {
        let mut in_links = vec![0; self.pages()];
        self.links.iter().for_each(|&page| in_links[page as usize] += 1);
        in_links
    }

    /// Asks `seen` about every link of the crawl, and counts the answers.
    pub(super) fn run(&self, mode: Mode, mut seen: impl FnMut(u32, KeyHash) -> bool) -> Outcome {
        let mut crawled = vec![false; self.pages()];
        crawled[0] = true;
        // In live mode, only pages that were crawled are expanded.
        let mut queue: Vec<u32> = match mode {
            Mode::Replay => (0..self.pages() as u32).collect(),
            Mode::Live => vec![0],
        };
        let mut counts = [[0; 2]; 2];
        let mut next = 0;
        while let Some(&page) = queue.get(next) {
            let page = page as usize;
            for &target in &self.links[self.starts[page]..self.starts[page + 1]] {
                let said = seen(target, self.key(target));
                let known = crawled[target as usize];
                counts[usize::from(said)][usize::from(known)] += 1;
                if !said && !known {
                    crawled[target as usize] = true;
                    if mode == Mode::Live {
                        queue.push(target);
                    }
                }
            }
            next += 1;
        }
        let [[new, false_negatives], [false_positives, hits]] = counts;
        let links = new + false_negatives + false_positives + hits;
        Outcome { links, hits, false_positives, false_negatives, crawled }
    }

    /// The time of a question to `seen`, in nanoseconds, measured over at most the first [`TIMED`] links.
    pub(super) fn time(&self, mut seen: impl FnMut(u32, KeyHash) -> bool) -> f64 {
        let links = &self.links[..self.links.len().min(TIMED)];
        let mut yes = 0u64;
        let ns = ns_each(links.len(), || {
            links.iter().for_each(|&page| yes += u64::from(seen(page, self.key(page))));
        });
        assert!(yes <= links.len() as u64, "an answer a link");
        ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crawl of four pages: a links to b, c, b; b links to a, d; c links to d; and d links to c.
    fn square() -> Crawl {
        let links_of = |page: &char, targets: &mut Vec<char>| {
            targets.extend(match page {
                'a' => "bcb".chars(),
                'b' => "ad".chars(),
                'c' => "d".chars(),
                _ => "c".chars(),
            });
        };
        Crawl::breadth_first("square", ('a', 1), usize::MAX, links_of, |&page| page == 'a')
    }

    #[test]
    fn pages_are_numbered_as_they_are_met_and_a_target_counts_once_a_page() {
        let crawl = square();
        assert_eq!(crawl.links, [1, 2, 0, 3, 3, 2]);
        assert_eq!((crawl.pages(), crawl.in_links()), (4, vec![1, 1, 2, 2]));
        assert!(crawl.is_front(0) && !crawl.is_front(1));
    }

    #[test]
    fn answers_are_counted_against_what_was_crawled() {
        let crawl = square();
        let exact = crawl.run(Mode::Replay, |_, _| false);
        assert_eq!((exact.links, exact.hits, exact.false_negatives, exact.lost()), (6, 0, 3, 0));
        // The answer about b is wrong. In replay mode all links are met nevertheless; in live mode d is met by way of
        // c.
        let no_b = |page: u32, _| page == 1;
        assert_eq!(crawl.run(Mode::Replay, no_b).links, 6);
        let live = crawl.run(Mode::Live, no_b);
        assert_eq!((live.links, live.false_positives, live.crawled), (4, 1, vec![true, false, true, true]));
        // All answers are "seen": both links of a are wrongly taken for seen, and no other link is met.
        let deaf = crawl.run(Mode::Live, |_, _| true);
        assert_eq!((deaf.links, deaf.false_positives, deaf.lost()), (2, 2, 3));
    }
}
