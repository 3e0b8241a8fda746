//! Questions that no paper asks.

mod filters;
mod search;

use super::{Experiment, Source, crawl};

const RECENT: Experiment = Experiment {
    source: Source::Ours,
    name: "recent",
    title: "Recent tags against LRU, S3-FIFO, and LRU and SBFL",
    claim: "How many links of a crawl reach the exact set behind each cache, at equal memory?",
    run: crawl::recent,
};

/// The experiments: the codings of a search, the filters, and the caches.
pub(super) fn experiments() -> Vec<Experiment> {
    [search::EXPERIMENTS, filters::EXPERIMENTS, &[RECENT]].concat()
}
