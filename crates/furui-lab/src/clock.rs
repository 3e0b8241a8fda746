//! The clock of all experiments: the CPU time of this thread, which a busy neighbour disturbs least.

use rustix::time::{ClockId, clock_gettime};

/// The CPU time of this thread, in nanoseconds.
pub(crate) fn thread_ns() -> u64 {
    ns(ClockId::ThreadCPUTime)
}

/// The CPU time of all threads of this process, for what works in the background.
pub(crate) fn process_ns() -> u64 {
    ns(ClockId::ProcessCPUTime)
}

fn ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// What `work` costs, in seconds, and its result.
pub(crate) fn seconds<R>(work: impl FnOnce() -> R) -> (f64, R) {
    let start = thread_ns();
    let result = work();
    ((thread_ns() - start) as f64 / 1e9, result)
}

/// What `work` costs, in nanoseconds for each of `items`.
pub(crate) fn ns_each(items: usize, work: impl FnOnce()) -> f64 {
    let start = thread_ns();
    work();
    (thread_ns() - start) as f64 / items as f64
}

/// The middle one of several measurements.
pub(crate) fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}
