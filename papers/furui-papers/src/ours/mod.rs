//! Questions that no paper asks, with a page of their own; and the benchmarks behind the runs in `bench`, which compare
//! the filters, the dictionary and the exact set with those of others.

mod codings;
pub(crate) mod dict;
pub(crate) mod filters;
pub(crate) mod store;

use crate::duplicate_urls;
use crate::report::{Experiment, Source};

const RECENT: Experiment = Experiment {
    source: Source::Ours,
    name: "recent",
    title: "Recent tags against LRU, S3-FIFO, and LRU and SBFL",
    claim: "How many links of a crawl reach the exact set behind each cache, at equal memory?",
    run: duplicate_urls::recent,
};

/// The experiments: the codings of a search, the filters, and the caches.
pub(crate) fn experiments() -> Vec<Experiment> {
    [codings::EXPERIMENTS, filters::EXPERIMENTS, &[RECENT]].concat()
}
