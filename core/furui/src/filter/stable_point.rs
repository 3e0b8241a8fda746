//! The formulas of the stable Bloom filters: where counters settle if every insertion sets some and decrements others.
//!
//! An insertion sets k of m counters to Max and decrements P. Insertion and decay balance, and the fraction Z of
//! counters that are 0 settles; the false-positive rate is then (1 - Z)^k.
//!
//! ```text
//!   counters that are not 0
//!   |          ______________  1 - Z
//!   |      __--
//!   |   _--
//!   | _-
//!   +------------------------> insertions
//!      about Max m / P of them
//! ```

use std::ops::Deref;

use super::ConfigError;
use super::counters::{CounterTable, MAX_COUNTERS, check_counters};
use super::file::{FilterSource, META};
use super::probes::MAX_PROBES;
use crate::format::ReadError;

/// P for random decrement: how many counters an insertion decrements so that the false-positive rate settles at `rate`,
/// with `probes` probes (k) into `counters` counters (m) with the maximum `max` (Max).
///
/// ```text
///   P = 1 / (((1 / (1 - rate^(1/k)))^(1/Max) - 1) (1/k - 1/m))
/// ```
///
/// This is eq. 3 of Kubota, Ueda and Yamana ("Efficient Duplicated URL Detection for Web Crawlers"), after Deng and
/// Rafiei (SIGMOD 2006), with the inner reciprocal that the printed formula lacks. With this reciprocal, the result for
/// k = 8, a rate of 10⁻⁵ and Max = 3 is 84.7, which is the 84 of the paper's text. The result is not rounded: the paper
/// rounds down, the filters here round up, so that `rate` is not exceeded. All filters have `probes` ≥ 1, 0 < `rate` <
/// 1 and `max` ≥ 1; for other values the result is meaningless.
pub fn stable_decrements(probes: u32, rate: f64, max: u8, counters: usize) -> f64 {
    let (k, m) = (f64::from(probes), counters as f64);
    let zeros = zeros_for(rate, probes);
    1.0 / ((zeros.powf(-1.0 / f64::from(max)) - 1.0) * (1.0 / k - 1.0 / m))
}

/// The fraction of counters at 0 under random decrement (Deng and Rafiei). It is the probability that the last Max
/// events at a counter were decrements. An event is a decrement with probability Q / (Q + k), where Q = P (1 - k/m).
pub(super) fn random_zeros(probes: u32, decrements: usize, max: u8, counters: usize) -> f64 {
    let (k, m, p) = (f64::from(probes), counters as f64, decrements as f64);
    (1.0 + 1.0 / (p * (1.0 / k - 1.0 / m))).powi(-i32::from(max))
}

/// The fraction of counters at 0 under sequential decrement.
///
/// A cursor passes each counter once in m/P insertions. Let λ = k/P, the mean number of times that a counter is set in
/// a pass. Take a counter that the cursor left u passes ago (u uniform in 0..1). It is 0 if nothing set it in the last
/// Max - 1 + u passes, which has the probability e^(-λ(Max - 1 + u)). Averaged over u,
///
/// ```text
///   Z = e^(-λ(Max - 1)) (1 - e^(-λ)) / λ
/// ```
pub(super) fn sequential_zeros(probes: u32, decrements: f64, max: u8) -> f64 {
    let lambda = f64::from(probes) / decrements;
    (-lambda * f64::from(max - 1)).exp() * -(-lambda).exp_m1() / lambda
}

/// P for sequential decrement: [`sequential_zeros`] solved for P by bisection, not rounded.
pub(super) fn sequential_decrements(probes: u32, rate: f64, max: u8) -> f64 {
    let zeros = zeros_for(rate, probes);
    // Z grows with P: from 0 at P = 0 to 1 - λ(Max - 1/2), nearly 1, for P much greater than k Max.
    let (mut low, mut high) = (0.0, f64::from(probes));
    while sequential_zeros(probes, high, max) < zeros {
        (low, high) = (high, high * 2.0);
    }
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if sequential_zeros(probes, middle, max) < zeros {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The number of probes with which a filter of the rate `rate` remembers keys for long. It is the smallest number with
/// which keys are remembered at least 0.9 times as long as with the best number. (Each probe costs a cache miss, and
/// near the best number the time hardly changes.)
///
/// A key is forgotten when the first of its k counters reaches 0. Under sequential decrement, this happens Max - 1 +
/// 1/(k+1) passes of m/P insertions after the key was inserted. The result is 4 probes at 1 %, as in the paper of
/// Kubota, Ueda and Yamana, and 10 probes at 10⁻⁵; with the 8 probes of the paper, keys are remembered for 10 % less
/// time. The same rule is used for random decrement, under which keys are forgotten in a similar way.
pub(super) fn lasting_probes(rate: f64, max: u8) -> u32 {
    let memory =
        |probes: u32| (f64::from(max - 1) + 1.0 / f64::from(probes + 1)) / sequential_decrements(probes, rate, max);
    let best = (1..=MAX_PROBES).map(memory).fold(0.0, f64::max);
    (1..=MAX_PROBES).find(|&probes| memory(probes) >= 0.9 * best).expect("the best one qualifies")
}

/// Checks that a stable filter can have this many counters, probes and decrements.
///
/// # Errors
/// [`ConfigError::OutOfRange`], which names the number that is wrong and its range.
pub(super) fn check_stable(counters: usize, probes: u32, decrements: usize) -> Result<(), ConfigError> {
    check_counters(counters, probes)?;
    if counters <= probes as usize {
        return Err(ConfigError::OutOfRange {
            what: "counters for this many probes",
            given: counters as u64,
            least: u64::from(probes) + 1,
            most: MAX_COUNTERS,
        });
    }
    if !(1..=counters).contains(&decrements) {
        return Err(ConfigError::OutOfRange {
            what: "decrements of each insertion (more counters allow more, a larger rate needs fewer)",
            given: decrements as u64,
            least: 1,
            most: counters as u64,
        });
    }
    Ok(())
}

/// Reads the counters of a stable filter, the number of counters that an insertion decrements, and the field of `META`
/// at offset 24, which depends on the kind of filter.
///
/// # Errors
/// [`ReadError::Format`] if the sections are damaged, or if no stable filter has these numbers; [`ReadError::Io`].
pub(super) fn read_stable<M: Deref<Target = [u8]>>(
    source: &FilterSource<'_, M>,
    widths: &[u32],
) -> Result<(CounterTable<M>, usize, u64), ReadError> {
    let (counters, decrements, state) = CounterTable::read(source, widths)?;
    let invalid =
        || source.invalid(META, "a stable filter cannot have these numbers of counters, probes and decrements");
    let decrements = usize::try_from(decrements).map_err(|_| invalid())?;
    check_stable(counters.len(), counters.probes, decrements).map_err(|_| invalid())?;
    Ok((counters, decrements, state))
}

/// The fraction Z of counters that must be 0 so that (1 - Z)^k is `rate`, with `probes` probes (k).
fn zeros_for(rate: f64, probes: u32) -> f64 {
    1.0 - rate.powf(1.0 / f64::from(probes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equation_3_gives_the_84_of_the_papers_text() {
        let p = stable_decrements(8, 1e-5, 3, 1 << 30);
        assert_eq!(p.floor(), 84.0);
        assert!((p - 84.72).abs() < 0.01, "{p}");
        let p = stable_decrements(4, 0.01, 3, 1 << 30);
        assert!((p - 29.61).abs() < 0.01, "{p}");
    }

    #[test]
    fn equation_3_inverts_the_fraction_of_zeros() {
        for (probes, rate, max, counters) in [(4, 0.01, 3, 1000), (8, 1e-5, 3, 1 << 20), (3, 0.2, 1, 500)] {
            let p = stable_decrements(probes, rate, max, counters).ceil() as usize;
            let at = |p| (1.0 - random_zeros(probes, p, max, counters)).powi(probes as i32);
            assert!(at(p) <= rate && rate < at(p - 1), "P = {p}: {} and {}", at(p), at(p - 1));
        }
    }

    #[test]
    fn a_sequential_cursor_needs_fewer_decrements_for_the_same_rate() {
        for (probes, rate, expected) in [(4, 0.01, 26.24), (8, 1e-5, 73.76)] {
            let p = sequential_decrements(probes, rate, 3);
            assert!((p - expected).abs() < 0.01, "k = {probes}: {p}");
            let back = (1.0 - sequential_zeros(probes, p, 3)).powi(probes as i32);
            assert!((back / rate - 1.0).abs() < 1e-6, "k = {probes}: {back}");
        }
    }

    #[test]
    fn the_default_number_of_probes_is_near_the_papers() {
        assert_eq!(lasting_probes(0.01, 3), 4);
        assert_eq!(lasting_probes(1e-5, 3), 10);
        assert_eq!(lasting_probes(0.5, 3), 1);
    }
}
