//! What no paper asks.

use super::{Experiment, Source, crawl};

/// A list for each module: the codings of a search, the filters, the sets and the tries.
pub(super) const EXPERIMENTS: &[Experiment] = &[Experiment {
    source: Source::Ours,
    name: "recent",
    title: "Recent tags against LRU, S3-FIFO, and LRU and SBFL",
    claim: "how many links of a crawl reach the exact set behind each cache, at equal memory.",
    run: crawl::recent,
}];
