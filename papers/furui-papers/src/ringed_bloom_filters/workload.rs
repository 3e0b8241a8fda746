//! Queries for measurements: uniform choices of words, each with the lists to be intersected.

use furui_search::ContentId;

use super::corpus::Corpus;
use crate::keys::Random;
use crate::report::Context;
use crate::side_by_side::side_by_side;

/// The number that distinguishes the random numbers drawn here from those drawn for other purposes.
const QUERIES: u64 = 3;

/// The number of queries of a measurement: 5000, or 50 in a quick run.
pub(crate) fn queries(context: &Context) -> usize {
    context.size(5000, 50)
}

/// Queries over the first documents of a corpus.
pub(crate) struct Workload<'a> {
    pub(crate) corpus: &'a Corpus,
    pub(crate) documents: u32,
    /// The words of each query, in the order in which they were drawn.
    queries: Vec<Vec<u32>>,
}

impl<'a> Workload<'a> {
    /// Draws queries of `words` different words each, among all words of the first `documents` documents.
    pub(crate) fn new(context: &Context, corpus: &'a Corpus, documents: u32, words: usize) -> Self {
        Self::of_round(context, corpus, documents, words, 0)
    }

    /// Draws the queries of a further round of the same measurement.
    pub(crate) fn of_round(context: &Context, corpus: &'a Corpus, documents: u32, words: usize, round: u64) -> Self {
        let all = corpus.words(documents);
        assert!(all.len() >= words, "as many words as a query has");
        let mut random = Random::new(context.seed + round, QUERIES);
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
        Self { corpus, documents, queries: (0..queries(context)).map(|_| draw()).collect() }
    }

    /// Calls `of_query` with the lists of each query, whose ids ascend, and the number of the query. Returns the
    /// results in the order of the queries. All processors are used.
    pub(crate) fn map<T: Send>(&self, of_query: impl Fn(&[Vec<ContentId>], u32) -> T + Sync) -> Vec<T> {
        let queries = self.queries.iter().zip(0..).collect();
        side_by_side(queries, |(query, number)| of_query(&self.lists(query), number))
    }

    fn lists(&self, query: &[u32]) -> Vec<Vec<ContentId>> {
        query.iter().map(|&word| self.corpus.ids(&self.corpus.list(word, self.documents))).collect()
    }
}
