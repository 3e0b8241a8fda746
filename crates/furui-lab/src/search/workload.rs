//! The queries: uniform choices of words, each with the lists that meet.

use furui::KeyHash;
use furui::search::ContentId;

use super::corpus::Corpus;
use super::random::Random;

/// What seeded choices are for.
const QUERIES: u64 = 3;

/// Queries over the first documents of a corpus.
pub(crate) struct Workload<'a> {
    pub(crate) corpus: &'a Corpus,
    pub(crate) documents: u32,
    /// The words of each query, in the order in which they were drawn.
    queries: Vec<Vec<u32>>,
}

/// The list of a word, as both sides of an exchange have it.
#[derive(Clone)]
pub(crate) struct List {
    /// Ascending.
    pub(crate) ids: Vec<ContentId>,
    /// Of the same ids.
    pub(crate) hashes: Vec<KeyHash>,
}

impl List {
    pub(crate) fn new(ids: Vec<ContentId>) -> Self {
        Self { hashes: ids.iter().map(|id| id.hash()).collect(), ids }
    }

    pub(crate) fn len(&self) -> u64 {
        self.ids.len() as u64
    }

    /// What is in both.
    pub(crate) fn intersect(&self, other: &Self) -> Self {
        let mut rest = other.ids.as_slice();
        let in_other = |id: &&ContentId| {
            rest = &rest[rest.partition_point(|other| other < id)..];
            rest.first() == Some(id)
        };
        Self::new(self.ids.iter().filter(in_other).copied().collect())
    }
}

impl<'a> Workload<'a> {
    /// `queries` choices of `words` different words, among all that occur in the first `documents`.
    pub(crate) fn new(corpus: &'a Corpus, documents: u32, words: usize, queries: usize, seed: u64) -> Self {
        let all = corpus.words(documents);
        assert!(all.len() >= words, "as many words as a query has");
        let mut random = Random::new(seed, QUERIES);
        let mut draw = || {
            let mut query = Vec::with_capacity(words);
            while query.len() < words {
                let word = all[random.below(all.len() as u64) as usize];
                if !query.contains(&word) {
                    query.push(word);
                }
            }
            query
        };
        Self { corpus, documents, queries: (0..queries).map(|_| draw()).collect() }
    }

    /// The lists of each query.
    pub(crate) fn lists(&self) -> impl ExactSizeIterator<Item = Vec<List>> {
        self.queries.iter().map(|query| {
            let list = |&word: &u32| List::new(self.corpus.ids(&self.corpus.list(word, self.documents)));
            query.iter().map(list).collect()
        })
    }
}
