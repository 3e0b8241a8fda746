use std::collections::HashMap;
use std::hash::Hash;

use furui::KeyHash;

use crate::clock::ns_each;
use crate::keys::mix;

/// The number of hosts in the graph of Kubota et al. All memory sizes of the paper are meant for this graph.
pub(super) const PAPER_HOSTS: f64 = 538_137_220.0;
/// The maximum number of links of a crawl over which the time of a link is measured; it is then known well enough.
pub(super) const TIMED: usize = 1 << 22;
/// The maximum binary logarithm of the divisor of the sizes of Kubota et al. With this divisor the smallest cache still
/// has 128 entries, which is more than the number of links of a page.
const MAX_SHIFT: u32 = 11;

/// A breadth-first crawl: every link in the order in which the crawler meets it. Of the links of a page to one target,
/// only the first is part of the crawl.
///
/// Pages are numbered as they are first met, so they are also fetched in the order of their numbers.
pub(super) struct Crawl {
    pub(super) name: &'static str,
    source: Links,
    /// The number of links that the crawl meets.
    pub(super) links: usize,
    /// The number of pages of the crawl that have links.
    expanded: usize,
    /// The number of pages that a crawl without errors meets.
    pub(super) pages: usize,
    seed: u64,
}

/// A function that appends the targets of the links of a page.
type LinksOf = dyn Fn(u32, &mut Vec<u32>) + Send + Sync;

/// The source of the links of the pages of a crawl.
enum Links {
    /// The links of all pages are kept in memory.
    Kept {
        /// The targets of page 0, of page 1, and so on.
        targets: Vec<u32>,
        /// The index in `targets` at which the targets of each page begin, and at the end the index at which those of
        /// the last page end.
        starts: Vec<usize>,
        /// For each page, true if it is the front page of its host or directory, which a crawler can tell from the URL.
        fronts: Vec<bool>,
    },
    /// Links are made anew each time, because those of all pages do not fit into memory. Pages are numbered in any
    /// order, and a crawl does not meet all of them.
    Made {
        /// Appends the targets of a page, each once.
        of: Box<LinksOf>,
        /// The number of all pages.
        universe: u32,
    },
}

/// The way in which a crawl uses the answers "seen before" and "new".
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
    /// For each page, true if it was crawled.
    pub(super) crawled: Vec<bool>,
    /// For each page, true if the crawl came across it, as its first page or as the target of a link.
    pub(super) met: Vec<bool>,
    /// The number of pages that were never crawled, although a link to them was met or, in a live crawl, would have
    /// been met without false positives.
    pub(super) lost: usize,
    /// The number of pages at least one link of which was met.
    expanded: usize,
}

impl Outcome {
    pub(super) fn hit_ratio(&self) -> f64 {
        self.hits as f64 / self.links as f64
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
        let fronts: Vec<bool> = pages.iter().map(is_front).collect();
        let expanded = starts.windows(2).filter(|ends| ends[0] < ends[1]).count();
        let (count, pages) = (links.len(), fronts.len());
        let source = Links::Kept { targets: links, starts, fronts };
        Self { name, source, links: count, expanded, pages, seed }
    }

    /// Crawls from page 0 of a graph that does not fit into memory, until `limit` links were met. `of` appends the
    /// targets of a page, each once. Cost: one exact crawl, to count the pages.
    pub(super) fn streamed(
        name: &'static str,
        (universe, seed): (u32, u64),
        limit: usize,
        of: impl Fn(u32, &mut Vec<u32>) + Send + Sync + 'static,
    ) -> Self {
        let mut crawl = Self {
            name,
            source: Links::Made { of: Box::new(of), universe },
            links: limit,
            expanded: 0,
            pages: 0,
            seed,
        };
        let exact = crawl.run(Mode::Replay, |_, _| false);
        crawl.pages = exact.met.iter().filter(|&&met| met).count();
        (crawl.links, crawl.expanded) = (exact.links as usize, exact.expanded);
        crawl
    }

    /// A crawl of which only the name and two numbers are known. `is_whole` is true if the memory sizes are those of
    /// the paper of Kubota et al., and not divided.
    pub(super) fn recorded(name: &'static str, (links, pages): (usize, usize), is_whole: bool) -> Self {
        let source = match is_whole {
            true => Links::Made { of: Box::new(|_, _| ()), universe: 0 },
            false => Links::Kept { targets: vec![], starts: vec![0], fronts: vec![] },
        };
        Self { name, source, links, expanded: 0, pages, seed: 0 }
    }

    /// True if the sizes of memory are those of the paper of Kubota et al., and not divided.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self.source, Links::Made { .. })
    }

    /// The targets of a page's links. If the links are not kept in memory, they are computed and written into `room`.
    fn targets<'a>(&'a self, page: u32, room: &'a mut Vec<u32>) -> &'a [u32] {
        match &self.source {
            Links::Kept { targets, starts, .. } => &targets[starts[page as usize]..starts[page as usize + 1]],
            Links::Made { of, .. } => {
                room.clear();
                of(page, room);
                room
            }
        }
    }

    /// The number of pages that have numbers, whether a crawl meets them or not.
    fn numbers(&self) -> usize {
        match &self.source {
            Links::Kept { fronts, .. } => fronts.len(),
            Links::Made { universe, .. } => *universe as usize,
        }
    }

    /// The size 2^`log2` of the paper of Kubota et al., divided by a power of two so that its ratio to the number of
    /// pages is about that of the paper. If there are few pages, the divisor is limited and the ratio is higher.
    pub(super) fn size(&self, log2: u32) -> usize {
        1 << (log2 - self.shift())
    }

    /// The binary logarithm of the number by which the sizes of Kubota et al. are divided.
    pub(super) fn shift(&self) -> u32 {
        if self.is_whole() {
            return 0;
        }
        (PAPER_HOSTS / self.pages as f64).log2().round().clamp(0.0, MAX_SHIFT.into()) as u32
    }

    /// A sentence that describes the crawl.
    pub(super) fn about(&self) -> String {
        let (links, pages, expanded) = (self.links, self.pages, self.expanded);
        format!(
            "{}: {links} links, {pages} pages ({:.1} for 100 links), of which {expanded} were fetched and their links \
             followed; memory has the paper's sizes, divided by 2^{}.",
            self.name,
            100.0 * pages as f64 / links as f64,
            self.shift()
        )
    }

    /// The hash of the URL of the page with this number. Equal pages have equal hashes; the URL is used for nothing
    /// else.
    pub(super) fn key(&self, page: u32) -> KeyHash {
        KeyHash::new(mix(mix(self.seed).wrapping_add(u64::from(page))))
    }

    pub(super) fn is_front(&self, page: u32) -> bool {
        matches!(&self.source, Links::Kept { fronts, .. } if fronts[page as usize])
    }

    /// The hashes of the targets of all links, in the order of the crawl.
    pub(super) fn keys(&self) -> Vec<KeyHash> {
        let mut keys = Vec::with_capacity(self.links);
        self.run(Mode::Replay, |_, key| {
            keys.push(key);
            false
        });
        keys
    }

    /// For each page, the number of links that lead to it from pages for which `crawled` returns true.
    pub(super) fn in_links(&self, crawled: impl Fn(usize) -> bool) -> Vec<u32> {
        let (mut in_links, mut room) = (vec![0; self.numbers()], vec![]);
        for page in (0..self.numbers()).filter(|&page| crawled(page)) {
            self.targets(page as u32, &mut room).iter().for_each(|&target| in_links[target as usize] += 1);
        }
        in_links
    }

    /// Crawls, without errors, the pages `from`, which were not crawled before, and all new pages that they lead to.
    /// Returns the number of pages that it crawled.
    pub(super) fn resume(&self, from: &[u32], crawled: &mut [bool]) -> usize {
        let (mut queue, mut room, mut next) = (from.to_vec(), vec![], 0);
        queue.iter().for_each(|&page| crawled[page as usize] = true);
        while let Some(&page) = queue.get(next) {
            for &target in self.targets(page, &mut room) {
                if !std::mem::replace(&mut crawled[target as usize], true) {
                    queue.push(target);
                }
            }
            next += 1;
        }
        queue.len()
    }

    /// Crawls in this mode, and calls `seen` for the target of every link. Returns the numbers of right and wrong
    /// answers.
    pub(super) fn run(&self, mode: Mode, mut seen: impl FnMut(u32, KeyHash) -> bool) -> Outcome {
        let (mut crawled, mut met) = (vec![false; self.numbers()], vec![false; self.numbers()]);
        (crawled[0], met[0]) = (true, true);
        let (mut queue, mut room, mut next) = (vec![0], vec![], 0);
        let (mut counts, mut links, mut expanded) = ([[0; 2]; 2], 0, 0);
        while let Some(&page) = queue.get(next).filter(|_| links < self.links) {
            let targets = self.targets(page, &mut room);
            expanded += usize::from(!targets.is_empty());
            links += targets.len();
            for &target in targets {
                let said = seen(target, self.key(target));
                let target_at = target as usize;
                let known = crawled[target_at];
                counts[usize::from(said)][usize::from(known)] += 1;
                let first = !std::mem::replace(&mut met[target_at], true);
                let fetched = !said && !known;
                crawled[target_at] |= fetched;
                // In a live crawl, only pages that were crawled are expanded.
                if if mode == Mode::Live { fetched } else { first } {
                    queue.push(target);
                }
            }
            next += 1;
        }
        let [[new, false_negatives], [false_positives, hits]] = counts;
        let links = new + false_negatives + false_positives + hits;
        let lost = crawled.iter().zip(&met).filter(|&(crawled, met)| !crawled && (mode == Mode::Live || *met)).count();
        Outcome { links, hits, false_positives, false_negatives, crawled, met, lost, expanded }
    }

    /// The time of a call of `seen`, in nanoseconds, measured over at most the first [`TIMED`] links.
    pub(super) fn time(&self, mut seen: impl FnMut(u32, KeyHash) -> bool) -> f64 {
        let Links::Kept { targets, .. } = &self.source else { return f64::NAN };
        let links = &targets[..targets.len().min(TIMED)];
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
        assert_eq!(crawl.keys(), [1, 2, 0, 3, 3, 2].map(|page| crawl.key(page)));
        assert_eq!((crawl.pages, crawl.in_links(|_| true)), (4, vec![1, 1, 2, 2]));
        assert_eq!(crawl.in_links(|page| page == 0), [0, 1, 1, 0]);
        assert!(crawl.is_front(0) && !crawl.is_front(1));
    }

    #[test]
    fn a_graph_that_is_made_anew_is_crawled_as_one_that_is_kept() {
        // 0 -> 5, 3; 5 -> 0, 2; 3 -> 2; 2 -> 3; no page links to 1 or 4.
        let of = |page: u32, targets: &mut Vec<u32>| {
            targets.extend_from_slice([&[5, 3][..], &[], &[3], &[2], &[], &[0, 2]][page as usize]);
        };
        let crawl = Crawl::streamed("made", (6, 1), usize::MAX, of);
        assert_eq!((crawl.links, crawl.pages, crawl.expanded), (6, 4, 4));
        let outcomes = [crawl.run(Mode::Replay, |page, _| page == 5), square().run(Mode::Replay, |page, _| page == 1)];
        let [made, kept] = outcomes.map(|outcome| (outcome.links, outcome.hits, outcome.false_positives, outcome.lost));
        assert_eq!(made, kept);
        assert_eq!(Crawl::streamed("cut", (6, 1), 3, of).links, 4);
    }

    #[test]
    fn answers_are_counted_against_what_was_crawled() {
        let crawl = square();
        let exact = crawl.run(Mode::Replay, |_, _| false);
        assert_eq!((exact.links, exact.hits, exact.false_negatives, exact.lost), (6, 0, 3, 0));
        // The answer about b is wrong. In replay mode all links are met nevertheless; in live mode d is met by way of
        // c.
        let no_b = |page: u32, _| page == 1;
        assert_eq!(crawl.run(Mode::Replay, no_b).links, 6);
        let live = crawl.run(Mode::Live, no_b);
        assert_eq!((live.links, live.false_positives, &live.crawled[..]), (4, 1, &[true, false, true, true][..]));
        let mut crawled = vec![true, false, false, false];
        assert_eq!((crawl.resume(&[1], &mut crawled), crawled), (3, vec![true; 4]));
        // Every answer is "seen before": both links of a are wrongly taken for seen, and no other link is met.
        let deaf = crawl.run(Mode::Live, |_, _| true);
        assert_eq!((deaf.links, deaf.false_positives, deaf.lost), (2, 2, 3));
    }
}
