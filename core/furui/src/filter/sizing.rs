//! The sizes of Bloom filters and their false-positive rates, for k probes a key, n keys and m bits.
//!
//! These are equations 1 to 4 of Sei, Matsuzaki and Honiden, "Using Ringed Bloom Filters to Reduce the Communication
//! Traffic on a Distributed Hash Table", and the exact size for a rate, without the rounding in these equations.
//!
//! ```
//! use furui::filter::sizing;
//!
//! // Equations 3 and 4 for a million keys at 1 %: rounding the probes up makes the rate lower than required.
//! assert_eq!(sizing::probes(0.01), 7);
//! assert_eq!(sizing::bits(0.01, 1_000_000), 10_098_866);
//! assert!(sizing::rate(7, 1_000_000, 10_098_866) < 0.008);
//! // The smallest size, and a few more bits with one probe less.
//! assert_eq!(sizing::least(0.01, 1_000_000), (9_592_956, 7));
//! assert_eq!(sizing::few_probes(0.01, 1_000_000), (9_616_656, 6));
//! ```

use super::probes::MAX_PROBES;

/// Reads a rate as people write it: `0.01`, `1e-2` or `1%`. `None` if the text is no number; the caller checks that the
/// number is in the range that it allows.
///
/// ```
/// use furui::filter::sizing::parse_rate;
///
/// assert_eq!(["0.01", "1e-2", "1 %", "1‰"].map(parse_rate), [Some(0.01), Some(0.01), Some(0.01), None]);
/// ```
pub fn parse_rate(text: &str) -> Option<f64> {
    let text = text.trim();
    match text.strip_suffix('%') {
        Some(percent) => percent.trim_end().parse().ok().map(|percent: f64| percent / 100.0),
        None => text.parse().ok(),
    }
}

/// Equation 1: the false-positive rate of a filter that holds `keys` keys, (1 - e^(-kn/m))^k, as a probability.
///
/// The formula uses the mean of the share of bits that are set, and 1/e for (1 - 1/m)^m. So the true rate of a
/// half-full filter is higher by a fraction of about k / (10 n), which matters only for few keys or very fine rates.
/// `bits` is at least 1.
pub fn rate(probes: u32, keys: u64, bits: u64) -> f64 {
    let k = f64::from(probes);
    (-(-k * keys as f64 / bits as f64).exp_m1()).powf(k)
}

/// Equation 2: the false-positive rate of a filter of the size for which `probes` is the best number of probes,
/// k = ln 2 · m/n. Half of its bits are set, and the rate is 2^-k, as a probability.
pub fn rate_half_full(probes: u32) -> f64 {
    0.5f64.powi(probes.try_into().unwrap_or(i32::MAX))
}

/// Equation 3: the number of probes with which a filter of [`bits`] bits has a rate of at most `rate`, k = ⌈log½ rate⌉,
/// from 1 to [`MAX_PROBES`]. `rate` is between 0 and 1.
///
/// The brackets of the paper are read as a ceiling. Prints of the paper seem to show a floor in equations 3 and 4. But
/// with a floor the rate would be up to twice `rate` by equation 2, and equation 16, which is derived from equations 3
/// and 4, has a ceiling.
pub fn probes(rate: f64) -> u32 {
    ((-rate.log2()).ceil() as u32).clamp(1, MAX_PROBES)
}

/// Equation 4: the bits of a variable-size Bloom filter of `keys` keys with a rate of at most `rate`, which is between
/// 0 and 1: m = M(rate, n) = ⌈k · n / ln 2⌉ with k = [`probes`]`(rate)`.
///
/// For a rate that is not a power of ½, this is more than necessary: 5 % more at 1 %, and twice as much just below ½.
/// See [`least`].
pub fn bits(rate: f64, keys: u64) -> u64 {
    (f64::from(probes(rate)) * keys as f64 / std::f64::consts::LN_2).ceil() as u64
}

/// The smallest number of bits with which `keys` keys have the rate `rate`, which is between 0 and 1, and the number of
/// probes for it.
///
/// The number m of bits solves (1 - (1 - 1/m)^(kn))^k = rate; equation 1 is the limit of this formula for large m. For
/// each k there is one solution m(k), which is smallest for k = log½ rate, so one of the two neighbouring whole numbers
/// is the best.
pub fn least(rate: f64, keys: u64) -> (u64, u32) {
    let above = probes(rate);
    let below = (above - 1).max(1);
    (with_probes(above, rate, keys), above).min((with_probes(below, rate, keys), below))
}

/// A number of bits, at most 1/200 above the [`least`], with which `keys` keys have the rate `rate`, and the smallest
/// number of probes that this allows. `rate` is between 0 and 1.
///
/// Near its minimum the number of bits hardly depends on the number of probes, while each probe reads a cache line. At
/// 1 % this function returns 6 probes instead of 7, with 0.25 % more bits. At 0.1 % it returns 9 instead of 10, and at
/// 10⁻⁶ it returns 18 instead of 20, both with 0.33 % more bits.
pub fn few_probes(rate: f64, keys: u64) -> (u64, u32) {
    let (mut size, mut probes) = least(rate, keys);
    let most = size + size / SPARE;
    while probes > 1 {
        let fewer = with_probes(probes - 1, rate, keys);
        if fewer > most {
            break;
        }
        (size, probes) = (fewer, probes - 1);
    }
    (size, probes)
}

/// For fewer probes, the number of bits of a filter may exceed the smallest by at most the fraction 1 / `SPARE`.
const SPARE: u64 = 200;

/// The smallest number of bits with which `keys` keys have the rate `rate` if each key has `probes` probes. `rate` is
/// between 0 and 1, and `probes` is at least 1.
pub fn with_probes(probes: u32, rate: f64, keys: u64) -> u64 {
    let k = f64::from(probes);
    let ln_zero = (-rate.powf(1.0 / k)).ln_1p() / (k * keys.max(1) as f64);
    (-1.0 / ln_zero.exp_m1()).ceil().max(1.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_number_of_probes_is_that_of_equation_2() {
        for k in 1..=30 {
            let (keys, bits) = (1_000_000, (f64::from(k) * 1e6 / std::f64::consts::LN_2).round() as u64);
            assert!((rate(k, keys, bits) / rate_half_full(k) - 1.0).abs() < 1e-4, "{k}");
            for other in [k - 1, k + 1].into_iter().filter(|&other| other > 0) {
                assert!(rate(other, keys, bits) > rate(k, keys, bits), "{other} instead of {k}");
            }
        }
    }

    #[test]
    fn variable_size_meets_its_rate_and_a_floor_would_not() {
        for (alpha, k) in [(0.5, 1), (0.3, 2), (0.01, 7), (1.0 / 128.0, 7), (0.001, 10), (1e-6, 20)] {
            assert_eq!(probes(alpha), k, "{alpha}");
            assert!(rate(k, 100_000, bits(alpha, 100_000)) <= alpha);
            if alpha.log2().fract() != 0.0 {
                assert!(rate_half_full(k - 1) > alpha);
            }
        }
        assert_eq!((probes(0.999), probes(1e-300)), (1, MAX_PROBES));
        assert_eq!(bits(0.01, 0), 0);
    }

    #[test]
    fn the_least_size_reaches_the_rate_and_one_bit_less_does_not() {
        let exact = |k: u32, n: u64, m: u64| {
            let (k, m) = (f64::from(k), m as f64);
            (-(k * n as f64 * (-1.0 / m).ln_1p()).exp_m1()).powf(k)
        };
        for target in [0.9, 0.5, 0.4, 0.1, 0.01, 0.001, 1e-6, 1e-12] {
            for keys in [2, 10, 1000, 1_000_000] {
                let (m, k) = least(target, keys);
                assert!(exact(k, keys, m) <= target * (1.0 + 1e-12), "{target} {keys}: {m} bits");
                for other in 1..=MAX_PROBES {
                    assert!(exact(other, keys, m - 1) > target, "{target} {keys}: {} bits do, k = {other}", m - 1);
                }
                assert!(m <= bits(target, keys) + 1, "never more than the variable size, but for its limit");
            }
        }
    }

    #[test]
    fn fewer_probes_reach_the_rate_with_hardly_more_bits_and_one_less_would_take_too_many() {
        for target in [0.9, 0.5, 0.1, 0.02, 0.01, 0.001, 1e-6, 1e-12] {
            for keys in [1, 10, 1000, 1_000_000, 1 << 40] {
                let ((least, best), (m, k)) = (least(target, keys), few_probes(target, keys));
                let most = least + least / SPARE;
                assert!(m <= most && k <= best, "{target} {keys}: {m} for {least} bits, {k} for {best} probes");
                assert_eq!(with_probes(k, target, keys), m);
                assert!(k == 1 || with_probes(k - 1, target, keys) > most, "{target} {keys}");
            }
        }
        assert_eq!([0.01, 0.001, 1e-6].map(|rate| few_probes(rate, 1_000_000).1), [6, 9, 18]);
    }

    #[test]
    fn sizes_of_nothing_and_of_rates_below_all_are_sizes() {
        assert!(least(0.01, 0).0 >= 1);
        assert!(few_probes(0.01, 0).0 >= 1);
        assert_eq!(least(1e-300, 0).1, MAX_PROBES);
        assert!(least(0.999_999, 1).0 >= 1);
    }
}
