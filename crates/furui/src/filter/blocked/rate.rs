//! The false-positive rate of a blocked filter: before it is filled, and as it stands.

use std::collections::BTreeMap;

use super::{MAX_BLOCKED_PROBES, MAX_LINES};
use crate::bits::arch::Line;

/// One probe misses a bit of its lane.
const MISS: f64 = 63.0 / 64.0;

/// The smallest numbers of lines and probes with which `keys` keys have the rate, if there are any; but [`QUICK`] probes
/// where they take few lines more.
pub(super) fn least(keys: u64, rate: f64) -> Option<(u64, u32)> {
    let mut best: Option<(u64, u32)> = None;
    for probes in 1..=MAX_BLOCKED_PROBES {
        let most = best.map_or(MAX_LINES, |(lines, _)| lines - 1);
        best = least_lines(keys, rate, probes, most).map(|lines| (lines, probes)).or(best);
    }
    let (lines, probes) = best?;
    let most = lines + lines / FOR_QUICK;
    if most == lines || most > MAX_LINES {
        return Some((lines, probes));
    }
    let quick = QUICK.iter().find_map(|&quick| Some((least_lines(keys, rate, quick, most)?, quick)));
    Some(quick.unwrap_or((lines, probes)))
}

/// Eight probes are a whole line, and a ninth one is a bit of a word: with fewer, lanes are chosen, and with more, some of
/// the neighbour line. In a cache a batch takes a quarter to a third less time.
const QUICK: [u32; 2] = [8, 9];

/// One more line in so many is a good price for them, in filters of so many: 10.10 bits a key for 9.93 at 1 %, and 15.20
/// for 15.07 at 0.1 %. Smaller ones are in the nearest cache.
const FOR_QUICK: u64 = 40;

/// The smallest number of lines, `most` at most, with which `keys` keys have the rate with so many probes.
fn least_lines(keys: u64, rate: f64, probes: u32, most: u64) -> Option<u64> {
    let step = if probes > 8 { 2 } else { 1 };
    let (mut too_few, mut enough) = (0, most / step);
    if enough == 0 || expected(keys, enough * step, probes) > rate {
        return None;
    }
    while enough - too_few > 1 {
        let half = too_few.midpoint(enough);
        if expected(keys, half * step, probes) > rate { too_few = half } else { enough = half }
    }
    Some(enough * step)
}

/// The mean rate over all ways in which random keys can fall.
///
/// All asked bits are set is, by inclusion and exclusion, a sum over sets S of them: plus or minus the chance that no key
/// has set any of S. A key does so with the chance 1 - z if it belongs to the line of S, else not at all; so n keys
/// leave S alone with the chance (1 - (1 - z)/lines)ⁿ. With bits in two lines, each has its keys and its z.
pub(super) fn expected(keys: u64, lines: u64, probes: u32) -> f64 {
    let (own, buddy) = (probes.min(8), probes.saturating_sub(8));
    let (in_own, in_buddy) = (subsets(own, own, buddy), subsets(buddy, own, buddy));
    let mut rate = 0.0;
    for a in &in_own {
        for b in &in_buddy {
            // Keys of the line leave bits alone in it, and in its buddy; keys of the buddy likewise.
            let reached = if buddy == 0 { 1.0 - a.by_own } else { 2.0 - a.by_own * b.by_buddy - b.by_own * a.by_buddy };
            rate += a.sign * b.sign * (keys as f64 * (-reached / lines as f64).ln_1p()).exp();
        }
    }
    rate.clamp(0.0, 1.0)
}

/// Sets of asked bits in one line that are alike to the keys.
struct Subsets {
    /// How many there are of even size, less those of odd size.
    sign: f64,
    /// The chance that a key whose line this is leaves them all alone.
    by_own: f64,
    /// The chance that a key does whose line is the other one.
    by_buddy: f64,
}

/// All subsets of the bits in the first `asked` lanes, where keys set bits in `own` and in `buddy` lanes in a row.
fn subsets(asked: u32, own: u32, buddy: u32) -> Vec<Subsets> {
    // In how many lanes of the subset a key sets a bit, for each lane that can be its first.
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

/// `lanes` lanes in a row from `first` on.
fn window(lanes: u32, first: u32) -> u8 {
    ((1u32 << lanes) - 1).to_le_bytes()[0].rotate_left(first)
}

/// The rate of these bits.
pub(super) fn standing(table: &[Line], probes: u32) -> f64 {
    let rate = |i: usize, line: &Line| {
        let own = in_line(line, probes.min(8));
        if probes > 8 { own * in_line(&table[i ^ 1], probes - 8) } else { own }
    };
    table.iter().enumerate().map(|(i, line)| rate(i, line)).sum::<f64>() / table.len() as f64
}

/// The chance that random bits in `lanes` lanes in a row, from a random one on, are all set.
fn in_line(line: &Line, lanes: u32) -> f64 {
    let words = line.as_chunks::<8>().0;
    let fill = |lane: usize| f64::from(u64::from_le_bytes(words[lane % 8]).count_ones()) / 64.0;
    let product = |first: usize| (first..first + lanes as usize).map(fill).product::<f64>();
    if lanes == 8 { product(0) } else { (0..8).map(product).sum::<f64>() / 8.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_points_of_the_formula() {
        // With 8 probes all lanes have the same keys: the sum over Poisson numbers of keys, by hand.
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
            let rate = expected(keys, lines, 8);
            assert!((rate / by_hand - 1.0).abs() < 1e-3, "{lines}: {rate}, {by_hand}");
        }
        assert!((expected(1_000_000, 19_532, 8) - 0.010_49).abs() < 1e-5);
        assert_eq!(expected(0, 2, 16), 0.0);
        assert_eq!(expected(1 << 40, 2, 3), 1.0);
    }

    #[test]
    fn the_least_filter_has_the_rate_and_none_with_a_line_less() {
        for (keys, rate) in [(1, 0.5), (100, 0.1), (100_000, 0.01), (1_000_000, 0.001), (1_000_000, 1e-6), (1000, 1e-9)]
        {
            let (lines, probes) = least(keys, rate).unwrap();
            assert!(expected(keys, lines, probes) <= rate, "{keys}, {rate}");
            for other in 1..=MAX_BLOCKED_PROBES {
                // Quick ones may have a few lines more than others would need.
                let quick = QUICK.contains(&probes) && other != probes;
                let lines = if quick { lines - lines / FOR_QUICK } else { lines };
                let fewer = if other > 8 { (lines - 1) & !1 } else { lines - 1 };
                assert!(fewer == 0 || expected(keys, fewer, other) > rate, "{keys}, {rate}: {fewer} lines, {other}");
            }
        }
        assert_eq!(least(1 << 50, 0.01), None);
        // Bits a key that the documentation names.
        for (rate, bits) in [(0.01, 10.10), (0.001, 15.20)] {
            let (lines, _) = least(1_000_000, rate).unwrap();
            assert!((lines as f64 * 512.0 / 1e6 - bits).abs() < 0.05, "{rate}: {lines} lines");
        }
    }
}
