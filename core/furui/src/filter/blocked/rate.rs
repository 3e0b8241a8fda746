//! The false-positive rate of a blocked filter: the expected rate before it is filled, and the rate that follows from
//! its bits.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use super::super::{sizing, smallest_size};
use super::MAX_LINES;
use super::kernel::Line;
use super::layout::{Layout, MAX_BLOCKED_PROBES};

/// The probability that a probe misses a given bit of its lane.
const MISS: f64 = 63.0 / 64.0;

/// The smallest number of cache lines of a filter that has the rate `rate` when it holds `keys` keys, and the layout of
/// this filter; `None` if there is none.
/// [`Layout::LINE`], with all bits in one line, is preferred if it takes only a few more lines.
pub(super) fn least(keys: u64, rate: f64) -> Option<(u64, Layout)> {
    // The layout with a Bloom filter's best number of probes is tried first, because it rules out most other layouts at
    // once.
    let likely = Layout::of(sizing::least(rate, keys).1.min(MAX_BLOCKED_PROBES))?;
    let mut least = least_lines(keys, rate, likely, MAX_LINES).map(|lines| (lines, likely));
    for layout in Layout::all() {
        let most = least.map_or(MAX_LINES, |(lines, _)| lines - 1);
        least = least_lines(keys, rate, layout, most).map(|lines| (lines, layout)).or(least);
    }
    let (lines, layout) = least?;
    let most = (lines + lines / FOR_ONE_LINE).min(MAX_LINES);
    let quick = least_lines(keys, rate, Layout::LINE, most).filter(|_| most > lines);
    Some(quick.map_or((lines, layout), |lines| (lines, Layout::LINE)))
}

/// Eight bits in one line are preferred to more bits in two lines, because a second line costs as much time as the
/// first. For this, the number of lines may be greater by a fraction of at most 1 / `FOR_ONE_LINE`. So a key takes
/// 10.10 bits instead of 9.93 at 1 %, and 15.73 instead of 15.07 at 0.1 %.
const FOR_ONE_LINE: u64 = 20;

/// The smallest number of lines, at most `most`, with which `keys` keys have the rate `rate` in this layout.
fn least_lines(keys: u64, rate: f64, layout: Layout, most: u64) -> Option<u64> {
    let step = if layout.is_pair() { 2 } else { 1 };
    let excess = |number: u64| (expected(keys, number * step, layout) / rate).ln();
    // A layout that needs more than `most` lines is not searched.
    if most < step || excess(most / step) > 0.0 {
        return None;
    }
    let guess = sizing::least(rate, keys).0 / (8 * size_of::<Line>() as u64) / 15 * 16;
    Some(step * smallest_size::least(guess / step, most / step, excess)?)
}

/// A group of sets S of bits of a looked-up key; inserted keys hit each of these sets with the same probability.
struct Alike {
    /// The number of sets of even size minus the number of sets of odd size, as a mean over all ways in which a
    /// looked-up key can have its bits.
    sign: f64,
    /// The probability that an inserted key sets a bit of the set S, times the number of lines.
    reached: f64,
}

/// The mean false-positive rate over all ways in which random keys can be distributed.
///
/// By inclusion and exclusion, the probability that all bits of a looked-up key are set is a sum over all sets S of
/// these bits: plus or minus the probability that no key has set any bit of S. A key that belongs to the line of S sets
/// at least one bit of S with probability 1 - z, and a key of another line never does. So n keys leave S at 0 with
/// probability (1 - (1 - z)/lines)ⁿ. If keys have bits in two lines, each line has its own keys and its own z.
pub(super) fn expected(keys: u64, lines: u64, layout: Layout) -> f64 {
    let term = |set: &Alike| set.sign * (keys as f64 * (-set.reached / lines as f64).ln_1p()).exp();
    sets(layout).iter().map(term).sum::<f64>().clamp(0.0, 1.0)
}

/// All sets of bits of a looked-up key, grouped by the probability that inserted keys hit them.
fn sets(layout: Layout) -> &'static [Alike] {
    static SETS: [OnceLock<Vec<Alike>>; MAX_BLOCKED_PROBES as usize] =
        [const { OnceLock::new() }; MAX_BLOCKED_PROBES as usize];
    let probes = layout.probes();
    SETS[probes as usize - 1].get_or_init(|| {
        if !layout.is_pair() {
            return subsets(probes, probes, 0)
                .iter()
                .map(|a| Alike { sign: a.sign, reached: 1.0 - a.by_own })
                .collect();
        }
        let (in_own, in_buddy) = (subsets(8, 8, probes - 8), subsets(probes - 8, 8, probes - 8));
        // Keys of the own line and keys of the neighbouring line may set bits in both of these lines.
        let both = |a: &Subsets, b: &Subsets| Alike {
            sign: a.sign * b.sign,
            reached: 2.0 - a.by_own * b.by_buddy - b.by_own * a.by_buddy,
        };
        in_own.iter().flat_map(|a| in_buddy.iter().map(move |b| both(a, b))).collect()
    })
}

/// A group of sets of looked-up bits in one line; inserted keys hit each of these sets with the same probability.
struct Subsets {
    /// The number of sets of even size minus the number of sets of odd size, which is the weight of the group in the
    /// inclusion–exclusion sum.
    sign: f64,
    /// The probability that a key of this line sets none of the bits.
    by_own: f64,
    /// The probability that a key of the neighbouring line sets none of the bits.
    by_buddy: f64,
}

/// All subsets of the bits that a looked-up key has in the first `asked` lanes of a line. Keys of this line set bits in
/// `own` consecutive lanes of it, and keys of the neighbouring line in `buddy` consecutive lanes.
fn subsets(asked: u32, own: u32, buddy: u32) -> Vec<Subsets> {
    // In how many lanes of the subset a key sets a bit, for each possible first lane.
    let meets = |subset: u8, lanes: u32| {
        let mut meets: [u32; 8] = std::array::from_fn(|first| (subset & window(lanes, first as u32)).count_ones());
        meets.sort_unstable();
        meets
    };
    let mut alike = BTreeMap::new();
    for subset in 0..1u32 << asked {
        let subset = subset as u8;
        let sign = if subset.count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
        *alike.entry((meets(subset, own), meets(subset, buddy))).or_insert(0.0) += sign;
    }
    let chance = |meets: [u32; 8]| meets.iter().map(|&lanes| MISS.powi(lanes as i32)).sum::<f64>() / 8.0;
    let subsets = alike.into_iter();
    subsets.map(|((own, buddy), sign)| Subsets { sign, by_own: chance(own), by_buddy: chance(buddy) }).collect()
}

/// The mask of `lanes` consecutive lanes from `first` on.
fn window(lanes: u32, first: u32) -> u8 {
    ((1u32 << lanes) - 1).to_le_bytes()[0].rotate_left(first)
}

/// The false-positive rate of a filter with the bits of `table`.
pub(super) fn standing(table: &[Line], layout: Layout) -> f64 {
    let probes = layout.probes();
    let rate = |(i, line): (usize, &Line)| match probes {
        ..8 => in_row(line, probes),
        8 => in_lanes(line, 0..8),
        _ => in_lanes(line, 0..8) * in_row(&table[i ^ 1], probes - 8),
    };
    table.iter().enumerate().map(rate).sum::<f64>() / table.len() as f64
}

/// The probability that all of these bits are set: a random bit in each of `lanes` consecutive lanes, from a random
/// lane on.
fn in_row(line: &Line, lanes: u32) -> f64 {
    (0..8).map(|first| in_lanes(line, first..first + lanes as usize)).sum::<f64>() / 8.0
}

/// The probability that bits of `line` are all set if one random bit is taken from each of the lanes `lanes`, which are
/// counted modulo 8.
fn in_lanes(line: &Line, lanes: Range<usize>) -> f64 {
    let words = line.as_chunks::<8>().0;
    lanes.map(|lane| f64::from(u64::from_le_bytes(words[lane % 8]).count_ones()) / 64.0).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_points_of_the_formula() {
        // With 8 probes a key has a bit in each lane, so the rate is a sum over Poisson-distributed numbers of keys.
        let poisson = |mean: f64, f: &dyn Fn(f64) -> f64| {
            let mut p = (-mean).exp();
            (0..400).fold(0.0, |sum, i| {
                let sum = sum + p * f(f64::from(i));
                p *= mean / f64::from(i + 1);
                sum
            })
        };
        for (keys, lines) in [(1_000_000, 19_532), (1_000_000, 30_000), (1_000_000, 60_000)] {
            let by_hand = poisson(keys as f64 / lines as f64, &|i| (1.0 - MISS.powf(i)).powi(8));
            let rate = expected(keys, lines, Layout::LINE);
            assert!((rate / by_hand - 1.0).abs() < 1e-3, "{lines}: {rate}, {by_hand}");
        }
        assert!((expected(1_000_000, 19_532, Layout::LINE) - 0.010_49).abs() < 1e-5);
        assert_eq!(expected(0, 2, Layout::of(16).unwrap()), 0.0);
        assert_eq!(expected(1 << 40, 2, Layout::of(3).unwrap()), 1.0);
    }

    #[test]
    fn there_is_a_filter_for_every_number_of_keys_and_rate() {
        let mut random = 1u64;
        for _ in 0..2000 {
            random = random.wrapping_mul(crate::filter::probes::MULTIPLIER).wrapping_add(1);
            // Numbers of all magnitudes are tested: 1 to 2³² keys, and rates from 1 down to 10⁻⁸.
            let (keys, rate) =
                ((random >> 32) >> (random >> 16 & 31), 10f64.powf(-8.0 * (random >> 40) as f64 / 2f64.powi(24)));
            if rate < 1.0 {
                let (lines, layout) = least(keys, rate).unwrap();
                assert!(expected(keys, lines, layout) <= rate * (1.0 + 1e-12), "{keys}, {rate}: {lines}, {layout:?}");
            }
        }
    }

    #[test]
    fn the_least_filter_has_the_rate_and_none_with_a_line_less() {
        for (keys, rate) in [(1, 0.5), (100, 0.1), (100_000, 0.01), (1_000_000, 0.001), (1_000_000, 1e-6), (1000, 1e-9)]
        {
            let (lines, layout) = least(keys, rate).unwrap();
            assert!(expected(keys, lines, layout) <= rate, "{keys}, {rate}");
            for other in Layout::all() {
                // `Layout::LINE` may have a few more lines than other layouts would need.
                let quick = layout == Layout::LINE && other != layout;
                let lines = if quick { lines - lines / FOR_ONE_LINE } else { lines };
                let fewer = if other.is_pair() { (lines - 1) & !1 } else { lines - 1 };
                assert!(fewer == 0 || expected(keys, fewer, other) > rate, "{keys}, {rate}: {fewer} lines, {other:?}");
            }
        }
        assert_eq!(least(1 << 50, 0.01), None);
        // The documentation gives these numbers of bits a key.
        for (rate, bits) in [(0.01, 10.10), (0.001, 15.73)] {
            let (lines, _) = least(1_000_000, rate).unwrap();
            assert!((lines as f64 * 512.0 / 1e6 - bits).abs() < 0.005, "{rate}: {lines} lines");
        }
    }
}
