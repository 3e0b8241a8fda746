//! Questions that no paper asks, with a page of their own; and the benchmarks behind the runs in `bench`, which compare
//! the filters, the dictionary and the exact set with those of others.

mod codings;
pub(crate) mod dict;
pub(crate) mod filters;
pub(crate) mod store;

use crate::duplicate_urls;
use crate::report::Run;

/// The peak resident memory of this process in bytes; 0 if the system does not report it.
fn peak_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()).unwrap_or(0) * 1024
}

/// The experiments: the codings of a search, the filters, and the caches.
pub(crate) const EXPERIMENTS: &[(&str, Run)] = &[
    ("codings", codings::codings),
    ("coded-sets", codings::coded_sets),
    ("blocked", filters::blocked),
    ("recent", duplicate_urls::recent),
];
