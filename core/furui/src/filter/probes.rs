//! The probe sequence of a key, and the checks of numbers of probes and of rates.

use super::ConfigError;
use crate::bits::scale;
use crate::hash::{KeyHash, salted_sha1};

/// The maximum number of probes for a key. With 64 probes a Bloom filter has a rate of 2⁻⁶⁴, and 64-bit hashes cannot
/// tell keys apart any better.
pub const MAX_PROBES: u32 = 64;

/// The factor by which a hash is multiplied from probe to probe: a multiplier for 64-bit congruential generators from
/// L'Ecuyer's tables.
pub(super) const MULTIPLIER: u64 = 2_862_933_555_777_941_757;

/// The sequence of the probes of a key, all derived from its 64-bit hash.
///
/// The state starts as the hash and is multiplied by [`MULTIPLIER`] from probe to probe. As a fraction of 2⁶⁴, the
/// state is scaled to the number of counters (multiply-shift), which need not be a power of two. The usual double
/// hashing, h + i g, is no faster. With it, one key in about every `counters` keys has all its probes on a few
/// counters, which raises false-positive rates of 10⁻⁷ and finer. Products with powers of [`MULTIPLIER`] spread like
/// random numbers.
#[derive(Clone, Copy)]
pub(super) struct Probes(u64);

impl Probes {
    #[inline(always)]
    pub(super) const fn of(key: KeyHash) -> Self {
        Self(key.get())
    }

    /// Returns the next position of the probe sequence, among `counters` counters.
    #[inline(always)]
    pub(super) const fn next(&mut self, counters: usize) -> usize {
        let position = scale(self.0, counters);
        self.0 = self.0.wrapping_mul(MULTIPLIER);
        position
    }
}

/// The `probes` positions of a key among `counters` counters.
#[inline]
pub(super) fn positions(key: KeyHash, probes: u32, counters: usize) -> impl Iterator<Item = usize> + Clone {
    let mut sequence = Probes::of(key);
    (0..probes).map(move |_| sequence.next(counters))
}

/// The `probes` positions of a key among `counters` counters, each by SHA-1 with a salt of its own.
pub(super) fn salted_positions(key: KeyHash, probes: u32, counters: usize) -> impl Iterator<Item = usize> + Clone {
    (0..probes).map(move |salt| scale(salted_sha1(salt, key), counters))
}

/// Returns an error if `probes` is not a number of probes that a filter can have.
pub(super) fn check_probes(probes: u32) -> Result<(), ConfigError> {
    if (1..=MAX_PROBES).contains(&probes) {
        return Ok(());
    }
    Err(ConfigError::OutOfRange { what: "probes a key", given: probes.into(), least: 1, most: MAX_PROBES.into() })
}

/// The false-positive rate that a filter of `keys` keys may have by itself so that, together with the false positives
/// that equal 64-bit hashes cause, its rate is `rate`. It is an error if `rate` is not between 0 and 1, or if equal
/// hashes alone cause a rate of at least `rate`.
pub(super) fn own_rate(rate: f64, keys: u64) -> Result<f64, ConfigError> {
    let finest = keys as f64 * 2f64.powi(-64);
    if rate > finest && rate < 1.0 {
        return Ok(rate - finest);
    }
    Err(ConfigError::Rate { given: rate, finest: if rate > 0.0 && rate <= finest { finest } else { 0.0 } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_fill_any_number_of_counters_evenly() {
        // Chi-squared over 1000 counters (999 degrees of freedom: mean 999, sigma 44.7) for each probe by itself.
        const KEYS: u64 = 100_000;
        let mut hits = vec![vec![0u32; 1000]; 8];
        for i in 0..KEYS {
            let key = crate::HashSpec::default().hash(&i.to_le_bytes());
            for (probe, position) in positions(key, 8, 1000).enumerate() {
                hits[probe][position] += 1;
            }
        }
        for of_probe in hits {
            let expected = KEYS as f64 / 1000.0;
            let chi: f64 = of_probe.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
            assert!((chi - 999.0).abs() < 4.0 * 44.7, "chi squared {chi}");
        }
    }

    #[test]
    fn rates_finer_than_the_hash_are_refused_with_the_reason() {
        assert_eq!(own_rate(0.01, 1 << 40), Ok(0.01 - 2f64.powi(-24)));
        assert!(matches!(own_rate(1e-10, 1 << 40), Err(ConfigError::Rate { finest, .. }) if finest > 1e-10));
        for rate in [0.0, 1.0, -0.5, 2.0, f64::NAN, f64::INFINITY] {
            assert!(own_rate(rate, 1).unwrap_err().to_string().contains("more than 0 and less than 1"), "{rate}");
        }
    }
}
