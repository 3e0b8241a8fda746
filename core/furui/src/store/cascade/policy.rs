//! The choice of the runs that are merged.

/// A run is merged with the newer runs if it has at most 5/4 of their number of keys; this is the factor in quarters.
/// With a factor of 1, whether runs of equal size are merged would depend on a few keys; above 2, keys would be
/// rewritten too often.
const GROWTH_QUARTERS: u64 = 5;

/// A run of at most this many keys (about 1 MiB) is always merged with the newer ones, because rewriting it costs less
/// than looking keys up in it.
const SMALL_RUN: u64 = 200_000;

/// The maximum number of runs that are merged at a time. It bounds the memory of a merge, which needs buffers for each
/// run.
pub(super) const MAX_FAN_IN: usize = 64;

/// Returns the number of runs, counted from the newest, that are merged with a new run of `new` keys. `sizes` has the
/// number of keys of each run, oldest first.
///
/// Runs then grow geometrically with age: with keys for n full tables there are at most log₂ n + 1 runs, and a key is
/// written at most that often. The table goes straight into the merge, so a run of one table is never written just to
/// be read again.
pub(super) fn runs_to_merge(sizes: &[u64], new: u64) -> usize {
    let mut sum = new;
    let mut count = 0;
    for &size in sizes.iter().rev().take(MAX_FAN_IN) {
        if size > SMALL_RUN && size > sum / 4 * GROWTH_QUARTERS {
            break;
        }
        sum += size;
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of times that each key is written on average, and the maximum number of runs at any time.
    fn simulate(keys: u64, table: u64) -> (f64, usize) {
        let (mut sizes, mut written, mut most) = (vec![], 0, 0);
        for done in (0..keys).step_by(table as usize) {
            let new = table.min(keys - done);
            let count = runs_to_merge(&sizes, new);
            let run = new + sizes.drain(sizes.len() - count..).sum::<u64>();
            sizes.push(run);
            written += run;
            most = most.max(sizes.len());
        }
        (written as f64 / keys as f64, most)
    }

    #[test]
    fn a_hundred_million_keys_are_written_about_twice_and_lie_in_four_runs() {
        for table in [7_000_000, 7_300_000, 7_549_747] {
            let (written, most) = simulate(100_000_000, table);
            assert!(written < 2.6 && most <= 4, "{table}: written {written} times, {most} runs");
        }
    }

    #[test]
    fn runs_and_rewrites_are_logarithmic() {
        let (written, most) = simulate(1 << 30, 1 << 20);
        assert!(written < 7.0 && most <= 11, "written {written} times, {most} runs");
        // Many small sessions leave few runs too.
        let (_, most) = simulate(3_000_000, 10);
        assert!(most <= 6, "{most} runs");
    }
}
