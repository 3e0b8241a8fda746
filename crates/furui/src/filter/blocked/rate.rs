//! The false-positive rate of a blocked filter: before it is filled, and as it stands.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use super::super::{least, sizing};
use super::MAX_LINES;
use super::spread::{MAX_BLOCKED_PROBES, Spread};
use crate::bits::arch::{Line, Pattern, Words};

/// One probe misses a bit of its lane.
const MISS: f64 = 63.0 / 64.0;

/// A key straddles with this chance.
const STRADDLES: f64 = 0.25;

/// The smallest number of lines with which `keys` keys have the rate, and how, if there is one; but one of the [`QUICK`]
/// ways where that takes few lines more.
pub(super) fn least(keys: u64, rate: f64) -> Option<(u64, Spread)> {
    let ways = || Spread::all().filter(|spread| !spread.straddles());
    // The best for a Bloom filter comes first: most of the others are then dismissed by one look.
    let likely = Spread::of(sizing::least(rate, keys).1.min(MAX_BLOCKED_PROBES))?;
    let mut lines = least_lines(keys, rate, likely, MAX_LINES);
    for spread in ways() {
        let most = lines.map_or(MAX_LINES, |lines| lines - 1);
        lines = least_lines(keys, rate, spread, most).or(lines);
    }
    let lines = lines?;
    let most = lines + lines / FOR_QUICK;
    if most > lines && most <= MAX_LINES {
        let quick = QUICK.iter().find_map(|&quick| Some((least_lines(keys, rate, quick, most)?, quick)));
        if quick.is_some() {
            return quick;
        }
    }
    Some((lines, ways().find(|&spread| least_lines(keys, rate, spread, lines).is_some())?))
}

/// Ways to have eight bits or more in one line: a second one costs as much as the first.
const QUICK: [Spread; 2] = [Spread::LINE, Spread::PATTERNED];

/// One more line in so many is a good price for them, in filters of so many: 10.10 bits a key for 9.93 at 1 %, and 15.49
/// for 15.07 at 0.1 %. Smaller ones are in the nearest cache.
const FOR_QUICK: u64 = 32;

/// The smallest number of lines, `most` at most, with which `keys` keys have the rate.
fn least_lines(keys: u64, rate: f64, spread: Spread, most: u64) -> Option<u64> {
    let step = if spread.is_of_pairs() { 2 } else { 1 };
    let excess = |number: u64| (expected(keys, number * step, spread) / rate).ln();
    // Of ways that others are better than, no more is asked.
    if most < step || excess(most / step) > 0.0 {
        return None;
    }
    let guess = sizing::least(rate, keys).0 / (8 * size_of::<Line>() as u64) / 15 * 16;
    Some(step * least::least(guess / step, most / step, excess)?)
}

/// Sets S of bits of the asked key that are alike to the keys that are there.
struct Alike {
    /// How many there are of even size, less those of odd size; the mean over all ways in which a key can be asked for.
    sign: f64,
    /// Of `lines` lines the chance that a key sets a bit of S, times `lines`.
    reached: f64,
}

/// The mean rate over all ways in which random keys can fall.
///
/// All asked bits are set is, by inclusion and exclusion, a sum over sets S of them: plus or minus the chance that no key
/// has set any of S. A key does so with the chance 1 - z if it belongs to the line of S, else not at all; so n keys
/// leave S alone with the chance (1 - (1 - z)/lines)ⁿ. With bits in two lines, each has its keys and its z.
pub(super) fn expected(keys: u64, lines: u64, spread: Spread) -> f64 {
    let term = |set: &Alike| set.sign * (keys as f64 * (-set.reached / lines as f64).ln_1p()).exp();
    sets(spread).iter().map(term).sum::<f64>().clamp(0.0, 1.0)
}

/// All sets of bits of an asked key, those together that are alike to the keys.
fn sets(spread: Spread) -> &'static [Alike] {
    static SETS: [OnceLock<Vec<Alike>>; Spread::COUNT] = [const { OnceLock::new() }; Spread::COUNT];
    SETS[spread.index()].get_or_init(|| {
        let probes = spread.probes();
        if spread.straddles() {
            of_straddling()
        } else if spread.patterned() {
            of_nine()
        } else if probes <= 8 {
            subsets(probes, probes, 0).iter().map(|a| Alike { sign: a.sign, reached: 1.0 - a.by_own }).collect()
        } else {
            let (in_own, in_buddy) = (subsets(8, 8, probes - 8), subsets(probes - 8, 8, probes - 8));
            // Keys of the line leave bits alone in it, and in its buddy; keys of the buddy likewise.
            let both = |a: &Subsets, b: &Subsets| Alike {
                sign: a.sign * b.sign,
                reached: 2.0 - a.by_own * b.by_buddy - b.by_own * a.by_buddy,
            };
            in_own.iter().flat_map(|a| in_buddy.iter().map(move |b| both(a, b))).collect()
        }
    })
}

/// Sets of `upper` bits in the upper half of a line, and of `lower` bits in the lower half of it or, where the asked key straddles,
/// of its neighbour.
fn of_straddling() -> Vec<Alike> {
    const FOUR_OVER: [f64; 5] = [1.0, 4.0, 6.0, 4.0, 1.0];
    let sets = (0..5).flat_map(|upper| (0..5).map(move |lower| (upper, lower)));
    let alike = |(upper, lower): (usize, usize)| {
        let sign = if (upper + lower).is_multiple_of(2) { 1.0 } else { -1.0 } * FOUR_OVER[upper] * FOUR_OVER[lower];
        let [leave_upper, leave_lower, leave_both] = [upper, lower, upper + lower].map(|bits| MISS.powi(bits as i32));
        // The chances that keys of the line, and keys of its neighbour, leave the set alone: of those that do not straddle,
        // and of those that do.
        let reached = |[own, own_straddling]: [f64; 2], [other, other_straddling]: [f64; 2]| {
            2.0 - (1.0 - STRADDLES) * (own + other) - STRADDLES * (own_straddling + other_straddling)
        };
        [
            Alike { sign: (1.0 - STRADDLES) * sign, reached: reached([leave_both, leave_upper], [1.0, leave_lower]) },
            Alike { sign: STRADDLES * sign, reached: reached([leave_upper, leave_both], [leave_lower, 1.0]) },
        ]
    };
    sets.flat_map(alike).collect()
}

/// Sets of the bits of patterns, in the mean over those that may be asked for.
fn of_nine() -> Vec<Alike> {
    let patterns = Pattern::all_of_nine();
    let mut alike = BTreeMap::new();
    // Those between are these with the lanes turned.
    for asked in patterns.iter().step_by(8) {
        // The sets of its bits in the lanes so far: 1 for those of even size, -1 for others; and for each pattern in how many
        // turns of these lanes it leaves the set alone. With eight lanes and 128 patterns, whole numbers to 2⁵⁵.
        let (empty, lanes): (Vec<usize>, Vec<usize>) = (0..8).partition(|&lane| asked.0[lane] == 0);
        let mut sets = vec![(1.0, vec![64u64.pow(empty.len() as u32); patterns.len()])];
        for lane in lanes {
            let of_lane = bits_of(asked.0[lane]).fold(vec![(1.0, 0)], |sets, bit| {
                let with = sets.iter().map(|(sign, bits)| (-sign, bits | bit));
                sets.iter().copied().chain(with).collect()
            });
            let of_lane = of_lane.into_iter().map(|(sign, bits)| {
                let left: Vec<u64> = patterns.iter().map(|key| leaves(key.0[lane], bits)).collect();
                (sign, left)
            });
            let of_lane: Vec<(f64, Vec<u64>)> = of_lane.collect();
            let both = |a: &[u64], b: &[u64]| a.iter().zip(b).map(|(a, b)| a * b).collect();
            sets = sets
                .iter()
                .flat_map(|(sign, left)| of_lane.iter().map(move |(other, more)| (sign * other, both(left, more))))
                .collect();
        }
        for (sign, left) in sets {
            *alike.entry(left.iter().sum::<u64>()).or_insert(0.0) += 8.0 * sign / patterns.len() as f64;
        }
    }
    let whole = 64f64.powi(8) * patterns.len() as f64;
    alike.into_iter().map(|(left, sign)| Alike { sign, reached: 1.0 - left as f64 / whole }).collect()
}

/// In how many of its 64 turns this word of a pattern has none of the bits.
fn leaves(word: u64, bits: u64) -> u64 {
    bits_of(word).fold(0, |meets, bit| meets | bits.rotate_right(bit.trailing_zeros())).count_zeros().into()
}

/// Each bit of a word by itself.
fn bits_of(mut word: u64) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || {
        let lowest = word & word.wrapping_neg();
        word ^= lowest;
        (lowest != 0).then_some(lowest)
    })
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
pub(super) fn standing(table: &[Line], spread: Spread) -> f64 {
    if spread.patterned() {
        return standing_of_patterns(table);
    }
    let probes = spread.probes();
    let rate = |(i, line): (usize, &Line)| {
        let buddy = || &table[i ^ 1];
        if spread.straddles() {
            let lower = |line: &Line| in_lanes(line, 0..4);
            in_lanes(line, 4..8) * ((1.0 - STRADDLES) * lower(line) + STRADDLES * lower(buddy()))
        } else if probes < 8 {
            in_row(line, probes)
        } else {
            in_lanes(line, 0..8) * if probes > 8 { in_row(buddy(), probes - 8) } else { 1.0 }
        }
    };
    table.iter().enumerate().map(rate).sum::<f64>() / table.len() as f64
}

/// The chance that random bits in `lanes` lanes in a row, from a random one on, are all set.
fn in_row(line: &Line, lanes: u32) -> f64 {
    (0..8).map(|first| in_lanes(line, first..first + lanes as usize)).sum::<f64>() / 8.0
}

/// The rate where keys have patterns.
fn standing_of_patterns(table: &[Line]) -> f64 {
    // Of each pattern, the five lanes that have bits, and how far apart two of them are.
    let patterns: Vec<[usize; 5]> = Pattern::all_of_nine()
        .iter()
        .map(|pattern| {
            let mut lanes = pattern.0.iter().enumerate().filter(|&(_, &word)| word > 0);
            let index = |(lane, word): (usize, &u64)| 32 * lane + (word ^ 1).trailing_zeros() as usize % 64;
            [(); 5].map(|()| lanes.next().map_or(0, index))
        })
        .collect();
    let sum: f64 = Words::detect().run(
        #[inline(always)]
        |_| {
            let rate = |line: &Line| {
                // Of each lane, how many bits are set together with that so many places on, or by themselves.
                let mut counts = [0.0; 8 * 32];
                for (lane, counts) in line.as_chunks::<8>().0.iter().zip(counts.as_chunks_mut::<32>().0) {
                    let word = u64::from_le_bytes(*lane);
                    for (distance, count) in (0..).zip(counts) {
                        *count = f64::from((word & word.rotate_right(distance)).count_ones());
                    }
                }
                patterns.iter().map(|lanes| lanes.iter().map(|&lane| counts[lane]).product::<f64>()).sum::<f64>()
            };
            table.iter().map(rate).sum()
        },
    );
    sum / 64f64.powi(5) / patterns.len() as f64 / table.len() as f64
}

/// The chance that random bits in these lanes, which begin again after the last, are all set.
fn in_lanes(line: &Line, lanes: Range<usize>) -> f64 {
    let words = line.as_chunks::<8>().0;
    lanes.map(|lane| f64::from(u64::from_le_bytes(words[lane % 8]).count_ones()) / 64.0).product()
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
            let rate = expected(keys, lines, Spread::LINE);
            assert!((rate / by_hand - 1.0).abs() < 1e-3, "{lines}: {rate}, {by_hand}");
        }
        assert!((expected(1_000_000, 19_532, Spread::LINE) - 0.010_49).abs() < 1e-5);
        // Nine bits of 512, any as likely as others, which patterns come near to: 0.992 of this.
        let random = |bits: u32| (0..9).map(|i| f64::from(512 - bits - i) / f64::from(512 - i)).product::<f64>();
        let over = [1.0, 9.0, 36.0, 84.0, 126.0, 126.0, 84.0, 36.0, 9.0, 1.0];
        let ideal = poisson(512.0 / 15.5, &|keys| {
            (0..10).map(|bits| (-1f64).powi(bits) * over[bits as usize] * random(bits as u32).powf(keys)).sum()
        });
        let patterned = expected(1_000_000, 30_274, Spread::PATTERNED);
        assert!((ideal / patterned - 0.995).abs() < 5e-4, "{patterned}, {ideal}");
        assert_eq!(expected(0, 2, Spread::of(16).unwrap()), 0.0);
        assert_eq!(expected(1 << 40, 2, Spread::of(3).unwrap()), 1.0);
    }

    #[test]
    fn there_is_a_filter_for_every_number_of_keys_and_rate() {
        let mut random = 1u64;
        for _ in 0..2000 {
            random = random.wrapping_mul(crate::filter::probes::MULTIPLIER).wrapping_add(1);
            // Of all magnitudes: 1 to 2³² keys, and rates from 1 down to 10⁻⁸.
            let (keys, rate) =
                ((random >> 32) >> (random >> 16 & 31), 10f64.powf(-8.0 * (random >> 40) as f64 / 2f64.powi(24)));
            if rate < 1.0 {
                let (lines, spread) = least(keys, rate).unwrap();
                assert!(expected(keys, lines, spread) <= rate * (1.0 + 1e-12), "{keys}, {rate}: {lines}, {spread:?}");
            }
        }
    }

    #[test]
    fn the_least_filter_has_the_rate_and_none_with_a_line_less() {
        for (keys, rate) in [(1, 0.5), (100, 0.1), (100_000, 0.01), (1_000_000, 0.001), (1_000_000, 1e-6), (1000, 1e-9)]
        {
            let (lines, spread) = least(keys, rate).unwrap();
            assert!(expected(keys, lines, spread) <= rate, "{keys}, {rate}");
            for other in Spread::all().filter(|other| !other.straddles()) {
                // Quick ones may have a few lines more than others would need.
                let quick = QUICK.contains(&spread) && other != spread;
                let lines = if quick { lines - lines / FOR_QUICK } else { lines };
                let fewer = if other.is_of_pairs() { (lines - 1) & !1 } else { lines - 1 };
                assert!(fewer == 0 || expected(keys, fewer, other) > rate, "{keys}, {rate}: {fewer} lines, {other:?}");
            }
        }
        assert_eq!(least(1 << 50, 0.01), None);
        // Bits a key that the documentation names.
        for (rate, bits) in [(0.01, 10.10), (0.001, 15.49)] {
            let (lines, _) = least(1_000_000, rate).unwrap();
            assert!((lines as f64 * 512.0 / 1e6 - bits).abs() < 0.005, "{rate}: {lines} lines");
        }
    }
}
