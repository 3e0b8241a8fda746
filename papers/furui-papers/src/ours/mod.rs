//! Questions that no paper asks, with a page of their own; and the benchmarks behind the runs in `bench`, which compare
//! the filters, the dictionary and the exact set with those of others.

mod codings;
pub(crate) mod dict;
pub(crate) mod filters;
pub(crate) mod store;

use crate::duplicate_urls;
use crate::report::Run;

/// The experiments: the codings of a search, the filters, and the caches.
pub(crate) const EXPERIMENTS: &[(&str, Run)] = &[
    ("codings", codings::codings),
    ("coded-sets", codings::coded_sets),
    ("blocked", filters::blocked),
    ("recent", duplicate_urls::recent),
];
