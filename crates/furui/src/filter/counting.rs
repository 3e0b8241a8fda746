use super::probes::{cells, check_parts, check_rate, positions, rate_at_fill};
use super::sizing::least;
use super::{ConfigError, Filter, FilterMut, Full};
use crate::bits::Cells;
use crate::hash::KeyHash;

/// A Bloom filter that can forget a key on request: "is it in the set now?", where keys come and go.
///
/// Each of a key's k probes leads to a small counter instead of a bit. To insert adds 1 to all k, to remove takes 1
/// from all k, and a key may be present if none of its counters is 0.
///
/// ```text
///              x                 y
///           /  |  \           /  |  \
///   [ 0  0  1  1  0  0  0  2  0  1  1  0 ]      the counter that x and y share holds 2
/// ```
///
/// Keys are counted: one inserted twice is there until it is removed twice. A counter that reaches its maximum
/// sticks there for good, since what it would have counted beyond is unknown: so there are never false negatives,
/// and a few counters may stay set too long (of 4 bits, at the design load, 1 in 6 · 10¹⁴).
///
/// Cost: at 4 bits, 5.8 log₂(1/rate) bits a key, four times a Bloom filter; k cache misses an operation. With n
/// keys in m counters the false-positive rate is (1 - (1 - 1/m)^(kn))^k, as of the Bloom filter with m bits.
///
/// From Fan, Cao, Almeida and Broder, "Summary Cache" (2000), as told in section 3.2.1 of Kubota, Ueda and Yamana,
/// which leaves overflow open.
///
/// ```
/// use furui::filter::{CountingBloom, Filter, FilterMut};
/// use furui::HashSpec;
///
/// let mut visitors = CountingBloom::with_rate(1000, 0.01)?;
/// let alice = HashSpec::default().hash(b"alice");
/// visitors.insert(alice)?;
/// assert!(visitors.contains(alice));
/// assert!(visitors.remove(alice));
/// assert!(!visitors.contains(alice));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CountingBloom {
    cells: Cells,
    probes: u32,
}

impl CountingBloom {
    /// A filter of 4-bit counters that has the false-positive `rate` when it holds `keys` keys. There is no end to
    /// what it takes; beyond `keys` the rate grows.
    ///
    /// # Errors
    /// If `rate` is not between 0 and 1, finer than 64-bit hashes of that many keys can be told apart, or if the
    /// filter would be too large.
    pub fn with_rate(keys: u64, rate: f64) -> Result<Self, ConfigError> {
        check_rate(rate, keys)?;
        let (counters, probes) = least(rate, keys);
        Self::from_parts(usize::try_from(counters).unwrap_or(usize::MAX), probes, 4)
    }

    /// A filter of `counters` counters of `bits` bits (2, 4 or 8) with `probes` probes a key.
    ///
    /// # Errors
    /// If there is no such filter: the message says what could be.
    pub fn from_parts(counters: usize, probes: u32, bits: u32) -> Result<Self, ConfigError> {
        check_parts(counters, probes)?;
        if !matches!(bits, 2 | 4 | 8) {
            return Err(ConfigError(format!("counters of {bits} bits: a counting filter's have 2, 4 or 8")));
        }
        Ok(Self { cells: cells(counters, bits)?, probes })
    }

    /// Takes `key` out once, as often as it was put in. False, and nothing is done, if it is visibly not there.
    ///
    /// Only remove what was inserted: a key that is there by a false positive only takes counters from others, which
    /// may then be missed.
    pub fn remove(&mut self, key: KeyHash) -> bool {
        if !self.contains(key) {
            return false;
        }
        for position in positions(key, self.probes, self.cells.len()) {
            if self.cells.get(position) < self.cells.max() {
                self.cells.decrement(position);
            }
        }
        true
    }

    /// How many counters there are.
    pub fn counters(&self) -> usize {
        self.cells.len()
    }

    /// How many counters belong to a key.
    pub fn probes(&self) -> u32 {
        self.probes
    }
}

impl Filter for CountingBloom {
    fn contains(&self, key: KeyHash) -> bool {
        positions(key, self.probes, self.cells.len()).all(|position| self.cells.get(position) != 0)
    }

    /// (c/m)^k for c counters that are not 0. Cost: one pass over the counters.
    fn false_positive_rate(&self) -> f64 {
        rate_at_fill(&self.cells, self.probes)
    }
}

impl FilterMut for CountingBloom {
    /// Never full.
    fn insert(&mut self, key: KeyHash) -> Result<bool, Full> {
        let new = !self.contains(key);
        for position in positions(key, self.probes, self.cells.len()) {
            self.cells.increment(position);
        }
        Ok(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(i: u64) -> KeyHash {
        crate::HashSpec::default().hash(&i.to_le_bytes())
    }

    #[test]
    fn what_is_removed_as_often_as_inserted_is_gone_and_the_rest_stays() {
        let mut filter = CountingBloom::from_parts(4000, 5, 8).unwrap();
        for _ in 0..3 {
            (0..200).for_each(|i| assert!(filter.insert(key(i)).is_ok()));
        }
        (0..100).for_each(|i| assert!((0..3).all(|_| filter.remove(key(i)))));
        assert!((100..200).all(|i| filter.contains(key(i))));
        (100..200).for_each(|i| assert!((0..3).all(|_| filter.remove(key(i)))));
        assert_eq!(filter.cells.count_nonzero(), 0);
        assert!(!filter.remove(key(7)), "a visibly absent key is refused");
    }

    #[test]
    fn a_counter_that_overflowed_sticks_so_nothing_is_missed() {
        // 2-bit counters, far more insertions than they can count.
        let mut filter = CountingBloom::from_parts(64, 3, 2).unwrap();
        (0..1000).for_each(|i| assert!(filter.insert(key(i)).is_ok()));
        (500..1000).for_each(|i| assert!(filter.remove(key(i))));
        assert!((0..500).all(|i| filter.contains(key(i))));
    }

    #[test]
    fn the_measured_rate_is_the_formulas() {
        const KEYS: u64 = 20_000;
        const TRIALS: u64 = 400_000;
        let mut filter = CountingBloom::with_rate(KEYS, 0.01).unwrap();
        (0..KEYS).for_each(|i| assert!(filter.insert(key(i)).is_ok()));
        let hits = (0..TRIALS).filter(|&i| filter.contains(key(KEYS + i))).count() as f64;
        let measured = hits / TRIALS as f64;

        let (m, k) = (filter.counters() as f64, f64::from(filter.probes()));
        let expected = (1.0 - (1.0 - 1.0 / m).powf(k * KEYS as f64)).powf(k);
        assert!(expected <= 0.01 && expected > 0.0099, "sized for {expected}");
        let sigma = (expected / TRIALS as f64).sqrt();
        // How full it is varies from set to set: by at most sqrt(fill (1 - fill) / m), k times as much in the rate.
        let fill = expected.powf(1.0 / k);
        let between_sets = expected * k * ((1.0 - fill) / fill / m).sqrt();
        assert!((measured - expected).abs() < 3.0 * sigma.hypot(between_sets), "{measured}, by (1) {expected}");
        assert!((measured - filter.false_positive_rate()).abs() < 3.0 * sigma, "{measured}");
    }
}
