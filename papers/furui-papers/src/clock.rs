//! The clock of all experiments: the CPU time of a thread, which other processes disturb least.

use rustix::time::{ClockId, clock_gettime};

/// The CPU time of this thread, in nanoseconds.
pub(crate) fn thread_ns() -> u64 {
    ns(ClockId::ThreadCPUTime)
}

/// The CPU time of all threads of this process, for measuring work in the background.
pub(crate) fn process_ns() -> u64 {
    ns(ClockId::ProcessCPUTime)
}

fn ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Measures `work`. Returns its CPU time in seconds, and its result.
pub(crate) fn seconds<R>(work: impl FnOnce() -> R) -> (f64, R) {
    let (ns, result) = timed(1, work);
    (ns / 1e9, result)
}

/// Measures `work`. Returns its CPU time in nanoseconds, divided by `items`, and its result.
pub(crate) fn timed<R>(items: usize, work: impl FnOnce() -> R) -> (f64, R) {
    let start = thread_ns();
    let result = work();
    ((thread_ns() - start) as f64 / items as f64, result)
}

/// Measures `work`. Returns its CPU time in nanoseconds, divided by `items`.
pub(crate) fn ns_each(items: usize, work: impl FnOnce()) -> f64 {
    timed(items, work).0
}

/// The median of several measurements, which are sorted in place.
pub(crate) fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

/// Measures several contestants in rounds. `round` returns a time for each contestant; the result has the median of
/// each contestant's times.
pub(crate) fn medians<const N: usize>(rounds: usize, mut round: impl FnMut() -> [f64; N]) -> [f64; N] {
    let mut samples = [const { Vec::new() }; N];
    for _ in 0..rounds {
        samples.iter_mut().zip(round()).for_each(|(samples, time)| samples.push(time));
    }
    samples.map(|mut samples| median(&mut samples))
}
