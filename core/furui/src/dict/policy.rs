//! The choice of the tries that are merged.

use super::{DictOptions, Merging};

/// With [`Merging::Geometric`], a trie is merged if its number of keys is at most 5/4 of that of all newer tries
/// together. This constant is that factor, in quarters. With a factor of 1, the choice between tries of equal size
/// would depend on a few keys.
const GROWTH_QUARTERS: u64 = 5;

/// Returns the number of tries, counted from the newest, that are to be merged with a new trie of `new` keys. `sizes`
/// has the number of keys of each existing trie, oldest first.
pub(super) fn tries_to_merge(sizes: &[u64], new: u64, options: &DictOptions) -> usize {
    let spare = (sizes.len() + 1).saturating_sub(options.merge_after);
    match options.merging {
        Merging::All if spare > 0 => sizes.len(),
        Merging::All => 0,
        Merging::Geometric => {
            let mut sum = new;
            let mut count = 0;
            for &size in sizes.iter().rev() {
                if count >= spare && size > sum.saturating_mul(GROWTH_QUARTERS) / 4 {
                    break;
                }
                sum = sum.saturating_add(size);
                count += 1;
            }
            count
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of times that each key is written on average when `windows` full write buffers are frozen
    /// into tries, one after the other, and the maximum number of tries at any time.
    fn simulate(windows: u64, merge_after: usize, merging: Merging) -> (f64, usize) {
        const WINDOW: u64 = 1000;
        let options = DictOptions { merge_after, merging, ..DictOptions::default() };
        let (mut sizes, mut written, mut most) = (vec![], 0, 0);
        for _ in 0..windows {
            let count = tries_to_merge(&sizes, WINDOW, &options);
            let trie = WINDOW + sizes.drain(sizes.len() - count..).sum::<u64>();
            sizes.push(trie);
            written += trie;
            most = most.max(sizes.len());
        }
        (written as f64 / (windows * WINDOW) as f64, most)
    }

    #[test]
    fn geometric_sizes_are_written_logarithmically_often() {
        let (written, most) = simulate(128, 7, Merging::Geometric);
        assert!(written <= 8.0 && most <= 7, "{written} times, {most} tries");
        let (written, most) = simulate(4096, 7, Merging::Geometric);
        assert!(written <= 20.0 && most <= 7, "{written} times, {most} tries");
    }

    #[test]
    fn the_paper_merges_all_that_there_are() {
        // N keys fill windows (write buffers) of w keys, and all tries are merged after every f windows. That takes
        // N / (w f) merges, each of which writes all keys so far.
        let (written, most) = simulate(70, 7, Merging::All);
        assert!(most == 7 && written > 4.0 && written < 7.0, "{written} times, {most} tries");
        assert_eq!(simulate(10, 1, Merging::All), (5.5, 1));
        assert_eq!(simulate(10, 1, Merging::Geometric), (5.5, 1));
    }
}
