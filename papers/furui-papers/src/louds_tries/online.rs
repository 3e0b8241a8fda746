use furui::raw::PolynomialHashes;
use furui::raw::{LoudsTrie, Merged, Node};

use super::dynamic::DynamicTrie;
use super::path_hash::{PathHash, build, build_concurrently, scan, scan_keys};
use crate::clock::{seconds, thread_ns};

/// The hash of a key in the paper of Koyanagi et al., which consists of four polynomial hash functions.
type Hash = PolynomialHashes<4>;
type Filter = <Hash as PathHash>::Filter;

/// The dictionary of Koyanagi et al.: a buffer, and frozen tries with their filters, all of which are merged when there
/// are too many.
///
/// Every trie and filter is built in each of three ways, whose times are kept apart. Look-ups do not depend on the way,
/// because all ways build the same tries and filters.
pub(super) struct Online {
    buffer: DynamicTrie,
    /// The frozen tries and their filters, the oldest first.
    frozen: Vec<(LoudsTrie, Filter)>,
    window: usize,
    most_tries: usize,
    building: Building,
    /// The CPU time spent on building tries and filters in nanoseconds: the sum over the three ways of building.
    building_ns: u64,
    most_buffer_bytes: usize,
}

/// The CPU time, in seconds, spent so far on building the tries and filters of a dictionary, for each way of building.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Building {
    /// The CPU time, in seconds, to build the tries without filters.
    tries: f64,
    /// The CPU time, in seconds, to fill the filters by a second walk over each finished trie.
    second_walk: f64,
    /// The CPU time, in seconds, to fill the filters by reading each key out of the finished trie and hashing it.
    by_key: f64,
    /// The CPU time, in seconds, to make tries and filters in one walk.
    at_once: f64,
    builds: usize,
}

/// The way in which the filter of a trie is filled: in the walk that builds the trie, by a second walk over the
/// finished trie, or key by key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FilterBuild {
    AtOnce,
    SecondWalk,
    ByKey,
}

/// The cost of a dictionary that grew with a whole stream.
pub(super) struct Cost {
    /// The CPU time, in seconds, for all look-ups, and for putting unknown words into the buffer.
    pub(super) query: f64,
    building: Building,
    /// The size of the largest buffer, divided by the size of the tries at the end.
    pub(super) buffer_share: f64,
    /// The number of distinct words of the stream.
    pub(super) distinct: u32,
}

impl Online {
    fn new(window: usize, most_tries: usize) -> Self {
        Self {
            buffer: DynamicTrie::new(),
            frozen: Vec::new(),
            window,
            most_tries,
            building: Building::default(),
            building_ns: 0,
            most_buffer_bytes: 0,
        }
    }

    fn get(&self, word: &[u8]) -> Option<u32> {
        self.buffer.get(word).or_else(|| {
            let hash = Hash::of(word);
            self.frozen
                .iter()
                .rev()
                .filter(|(_, filter)| hash.is_in(filter))
                .find_map(|(trie, _)| trie.get(word).flatten())
        })
    }

    fn put(&mut self, word: &[u8], number: u32) {
        self.buffer.insert(word, number);
        if self.buffer.keys() < self.window {
            return;
        }
        let start = thread_ns();
        let buffer = std::mem::replace(&mut self.buffer, DynamicTrie::new());
        self.most_buffer_bytes = self.most_buffer_bytes.max(buffer.bytes());
        self.frozen.push(self.building.build(buffer.root(), buffer.keys()));
        if self.frozen.len() > self.most_tries {
            let keys = self.frozen.iter().map(|(trie, _)| trie.keys() as usize).sum();
            let root = Merged::new(self.frozen.iter().rev().map(|(trie, _)| trie.root()));
            self.frozen = root.map(|root| self.building.build(root, keys)).into_iter().collect();
        }
        self.building_ns += thread_ns() - start;
    }

    /// Looks up each word of a stream of indices, inserts the unknown words, and measures the cost. The dictionary has
    /// at most `most_tries` tries, and freezes its buffer at `window` words.
    pub(super) fn measure(words: &[(Vec<u8>, f64)], stream: &[u32], window: usize, most_tries: usize) -> Cost {
        let mut dictionary = Self::new(window, most_tries);
        let (all, distinct) = seconds(|| {
            let mut known = 0;
            for &index in stream {
                let word = &words[index as usize].0;
                if dictionary.get(word).is_none() {
                    dictionary.put(word, known);
                    known += 1;
                }
            }
            known
        });
        let tries: usize = dictionary.frozen.iter().map(|(trie, _)| trie.bytes()).sum();
        Cost {
            query: all - dictionary.building_ns as f64 / 1e9,
            building: dictionary.building,
            buffer_share: dictionary.most_buffer_bytes as f64 / tries as f64,
            distinct,
        }
    }
}

impl Building {
    /// Builds a trie and its filter in each way. The order of the ways alternates, because a later way finds its input
    /// in the caches.
    fn build(&mut self, root: impl Node + Clone, keys: usize) -> (LoudsTrie, Filter) {
        self.builds += 1;
        let early = self.builds.is_multiple_of(2).then(|| self.at_once(root.clone(), keys));
        let trie = timed(&mut self.tries, || build(root.clone()));
        let filters = if self.builds % 4 < 2 {
            let second_walk = timed(&mut self.second_walk, || scan::<Hash>(&trie));
            [second_walk, timed(&mut self.by_key, || scan_keys::<Hash>(&trie))]
        } else {
            let by_key = timed(&mut self.by_key, || scan_keys::<Hash>(&trie));
            [timed(&mut self.second_walk, || scan::<Hash>(&trie)), by_key]
        };
        drop(trie);
        let built = early.unwrap_or_else(|| self.at_once(root, keys));
        assert!(filters.iter().all(|filter| *filter == built.1), "the same filter in each way");
        built
    }

    fn at_once(&mut self, root: impl Node, keys: usize) -> (LoudsTrie, Filter) {
        timed(&mut self.at_once, || build_concurrently::<Hash>(root, keys))
    }
}

fn timed<R>(spent: &mut f64, work: impl FnOnce() -> R) -> R {
    let (time, result) = seconds(work);
    *spent += time;
    result
}

impl FilterBuild {
    /// The ways that fill a filter after its trie is built, with which building at once is compared.
    pub(super) const RIVALS: [Self; 2] = [Self::SecondWalk, Self::ByKey];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::AtOnce => "at once with the trie",
            Self::SecondWalk => "after it, by a second walk",
            Self::ByKey => "after it, key by key",
        }
    }
}

impl Cost {
    /// The CPU time, in seconds, to build all tries and their filters if the filters are built in this way.
    pub(super) fn build(&self, way: FilterBuild) -> f64 {
        let Building { tries, second_walk, by_key, at_once, .. } = self.building;
        match way {
            FilterBuild::AtOnce => at_once,
            FilterBuild::SecondWalk => tries + second_walk,
            FilterBuild::ByKey => tries + by_key,
        }
    }

    /// The CPU time, in seconds, for all look-ups, and to build all tries and their filters if the filters are built in
    /// this way.
    pub(super) fn all(&self, way: FilterBuild) -> f64 {
        self.query + self.build(way)
    }

    /// The share of the building in the CPU time for look-ups and building, in per cent.
    pub(super) fn build_share(&self, way: FilterBuild) -> f64 {
        100.0 * self.build(way) / self.all(way)
    }

    /// The share of the building time that building at once saves, compared with a rival, in per cent.
    pub(super) fn saved_building(&self, rival: FilterBuild) -> f64 {
        100.0 * (1.0 - self.build(FilterBuild::AtOnce) / self.build(rival))
    }

    /// The share of the whole dictionary's time that filters built at once save, compared with a rival, in per cent.
    pub(super) fn saved(&self, rival: FilterBuild) -> f64 {
        100.0 * (1.0 - self.all(FilterBuild::AtOnce) / self.all(rival))
    }
}
