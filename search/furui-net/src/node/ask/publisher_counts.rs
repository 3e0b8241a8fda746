use std::collections::HashMap;

use furui_search::PublisherKey;

use crate::node::Hit;

/// The maximum number of places on a page for what one publisher has published whom the owner does not trust. Chosen:
/// five others fill a page of ten.
const PLACES: usize = 2;

/// The number of results of each publisher on a page, which decides whether the next result has a place on it. What has
/// none is shown below those that have one, so that nobody fills a page alone.
#[derive(Debug, Default)]
pub(crate) struct PublisherCounts(HashMap<PublisherKey, usize>);

impl PublisherCounts {
    /// Counts a result, which follows the others in rank. Returns its publisher if he has his [`PLACES`] already, so
    /// that this result has none.
    pub(crate) fn crowded_out(&mut self, hit: &Hit) -> Option<PublisherKey> {
        let publisher = *hit.publishers.first().filter(|_| !hit.trusted)?;
        let count = self.0.entry(publisher).or_default();
        *count += 1;
        (*count > PLACES).then_some(publisher)
    }

    /// True if a single publisher, whom the owner does not trust, has published all `results` of the page.
    pub(crate) fn are_of_one(&self, results: u64) -> bool {
        self.0.values().any(|count| *count as u64 == results)
    }
}
