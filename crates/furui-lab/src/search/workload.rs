//! The queries: uniform choices of words, each with the lists that meet.

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

    /// The lists of each query, ascending.
    pub(crate) fn lists(&self) -> impl Iterator<Item = Vec<Vec<ContentId>>> {
        self.queries.iter().map(|query| {
            let list = |&word: &u32| self.corpus.ids(&self.corpus.list(word, self.documents));
            query.iter().map(list).collect()
        })
    }
}
