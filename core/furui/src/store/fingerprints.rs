use crate::filter::ConfigError;
use crate::hash::KeyHash;

/// The range of fingerprints of a set. The set keeps of each key only its fingerprint, a number from 1 to `last`.
///
/// The fingerprint of a hash h is 1 + ⌊h · last / 2⁶⁴⌋, so fingerprints are in the order of hashes. With `last` = 2⁶⁴ −
/// 1, which is [`EXACT`](Self::EXACT), the fingerprint is h itself, except that the hash 0 has the fingerprint 1. With
/// a smaller `last`, fingerprints are shorter. The fingerprint of a key that was never inserted is then in a set of n
/// fingerprints with a probability of n / last.
///
/// Code for hashes expects uniform 64-bit numbers. So, inside a set, a fingerprint f is represented by its *place*,
/// which is f · ⌊(2⁶⁴ − 1) / last⌋: places are in the order of fingerprints, and spread over all 64-bit numbers. Files
/// hold fingerprints. One multiplication turns a fingerprint into its place, and one turns a place into its
/// fingerprint.
///
/// ```
/// use furui::KeyHash;
/// use furui::store::Fingerprints;
///
/// let fingerprints = Fingerprints::with_rate(1_000_000, 0.01)?;
/// assert_eq!(fingerprints.last(), 99_499_163);
/// assert_eq!(fingerprints.of(KeyHash::new(1 << 63)), 1 + 99_499_163 / 2);
/// assert_eq!(Fingerprints::EXACT.of(KeyHash::new(1 << 63)), 1 << 63);
/// # Ok::<(), furui::filter::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprints {
    last: u64,
    /// The distance between the places of adjacent fingerprints: ⌊(2⁶⁴ − 1) / last⌋.
    step: u64,
    /// The factor that turns a place back into its fingerprint: ⌊2⁶⁴ / step⌋ + 1. It is unused if `step` is 1.
    inverse: u64,
}

impl Fingerprints {
    /// The range of fingerprints of an exact set: the fingerprint of a key is its whole 64-bit hash, so that different
    /// hashes have different fingerprints.
    pub const EXACT: Self = Self { last: u64::MAX, step: 1, inverse: 0 };

    /// The largest possible `last`, apart from that of [`EXACT`](Self::EXACT). With it, less than one in 2⁸ of the
    /// 64-bit numbers lies above the place of the last fingerprint.
    pub const MAX_LAST: u64 = 1 << 56;

    /// The range of fingerprints from 1 to `last`; `None` if `last` is 0, or if it is greater than
    /// [`MAX_LAST`](Self::MAX_LAST) but not 2⁶⁴ − 1.
    pub fn new(last: u64) -> Option<Self> {
        match last {
            u64::MAX => Some(Self::EXACT),
            1..=Self::MAX_LAST => {
                let step = u64::MAX / last;
                Some(Self { last, step, inverse: ((1 << 64) / u128::from(step)) as u64 + 1 })
            }
            _ => None,
        }
    }

    /// The shortest fingerprints with which `capacity` keys have a false-positive rate of `rate`. The number of
    /// possible fingerprints is capacity / −ln(1 − rate). It is less than capacity / rate, because some keys share a
    /// fingerprint: `capacity` keys have capacity · (1 − rate / 2 − …) different fingerprints.
    ///
    /// # Errors
    /// [`ConfigError`] if the capacity is 0, if the rate is not between 0 and 1, or if capacity and rate together need
    /// more than [`MAX_LAST`](Self::MAX_LAST) fingerprints.
    pub fn with_rate(capacity: u64, rate: f64) -> Result<Self, ConfigError> {
        if capacity == 0 || capacity > Self::MAX_LAST {
            let what = "keys of a cascade filter";
            return Err(ConfigError::OutOfRange { what, given: capacity, least: 1, most: Self::MAX_LAST });
        }
        if !(rate > 0.0 && rate < 1.0) {
            return Err(ConfigError::Rate { given: rate, finest: 0.0 });
        }
        let last = (capacity as f64 / -(-rate).ln_1p()).ceil().max(1.0);
        let finest = capacity as f64 / Self::MAX_LAST as f64;
        // Conversion from floating point saturates.
        Self::new((last as u64).min(u64::MAX - 1)).ok_or(ConfigError::Rate { given: rate, finest })
    }

    /// The greatest fingerprint, which is also the number of fingerprints.
    pub fn last(self) -> u64 {
        self.last
    }

    /// The fingerprint of the key with this hash, from 1 to [`last`](Self::last). The order of hashes is kept.
    #[inline]
    pub fn of(self, key: KeyHash) -> u64 {
        1 + ((u128::from(key.get()) * u128::from(self.last)) >> 64) as u64
    }

    /// The probability that a key that was never inserted has one of `held` fingerprints.
    pub fn rate(self, held: u64) -> f64 {
        (held as f64 / self.last as f64).min(1.0)
    }

    /// The number of keys that are expected to have `held` different fingerprints: more than `held`, because some keys
    /// share one. It is infinite if every fingerprint is held.
    pub fn expected_keys(self, held: u64) -> f64 {
        -(-self.rate(held)).ln_1p() * self.last as f64
    }

    /// The place of a key's fingerprint: the 64-bit number that stands for it inside a set. It is never 0, so a table
    /// can mark its empty slots by 0.
    #[inline]
    pub fn place_of(self, key: KeyHash) -> u64 {
        self.place(self.of(key))
    }

    /// The place of a fingerprint: the 64-bit number that stands for it inside a set. The result is arbitrary if
    /// `fingerprint` is 0 or greater than [`last`](Self::last).
    #[inline]
    pub fn place(self, fingerprint: u64) -> u64 {
        fingerprint.wrapping_mul(self.step)
    }

    /// The fingerprint for which the number `place` stands. The result is arbitrary if `place` is not the
    /// [place](Self::place) of a fingerprint.
    #[inline]
    pub fn at(self, place: u64) -> u64 {
        if self.is_exact() {
            return place;
        }
        // The inverse is greater than 2⁶⁴ / step by at most 1, so the unrounded product exceeds the fingerprint by less
        // than 1.
        ((u128::from(place) * u128::from(self.inverse)) >> 64) as u64
    }

    /// True if fingerprints and their places are the hashes themselves.
    #[inline]
    pub fn is_exact(self) -> bool {
        self.step == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_come_back_from_their_places_and_both_keep_the_order_of_hashes() {
        let lasts = [1, 2, 3, 10, 255, 256, 99_999_999_999, (1 << 37) - 1, 1 << 37, Fingerprints::MAX_LAST, u64::MAX];
        for fingerprints in lasts.map(|last| Fingerprints::new(last).unwrap()) {
            let last = fingerprints.last();
            let ends = (1..100).flat_map(|i| [i, last / 3 + i, last - last.min(i), last]);
            for f in ends.filter(|f| (1..=last).contains(f)) {
                assert_eq!(fingerprints.at(fingerprints.place(f)), f, "{fingerprints:?}");
            }
            let hashes = (0..999).map(|i| i * (u64::MAX / 999)).chain([u64::MAX]).map(KeyHash::new);
            let places: Vec<u64> = hashes.map(|key| fingerprints.place(fingerprints.of(key))).collect();
            assert!(places.is_sorted() && places[0] >= 1);
            assert_eq!(fingerprints.at(places[999]), last);
            assert!(places[999] >= u64::MAX - (u64::MAX >> 8) || last < 256);
        }
        for none in [0, Fingerprints::MAX_LAST + 1, u64::MAX - 1] {
            assert_eq!(Fingerprints::new(none), None);
        }
    }

    #[test]
    fn whole_hashes_are_their_own_fingerprints_but_for_0() {
        for (hash, fingerprint) in [(0, 1), (1, 1), (2, 2), (1 << 63, 1 << 63), (u64::MAX, u64::MAX)] {
            assert_eq!(Fingerprints::EXACT.of(KeyHash::new(hash)), fingerprint);
            assert_eq!(Fingerprints::EXACT.place(fingerprint), fingerprint);
        }
    }

    #[test]
    fn a_capacity_and_a_rate_give_the_number_of_fingerprints_or_a_reason() {
        for (capacity, rate) in [(1, 0.5), (1000, 0.1), (100_000_000, 1e-3), (1 << 40, 1e-4)] {
            let fingerprints = Fingerprints::with_rate(capacity, rate).unwrap();
            let last = fingerprints.last() as f64;
            let held = last * -(-(capacity as f64) / last).exp_m1();
            assert!((held / last / rate - 1.0).abs() < 1.0 / capacity as f64 + 1e-9, "{capacity}, {rate}");
            assert!(
                (fingerprints.expected_keys(held as u64) / capacity as f64 - 1.0).abs() < 2.0 / capacity as f64 + 1e-6
            );
        }
        for (capacity, rate) in
            [(0, 0.1), (1, 0.0), (1, 1.0), (1, -0.5), (1, f64::NAN), (1 << 40, 1e-9), (u64::MAX, 0.1), (1, 1e-300)]
        {
            assert!(Fingerprints::with_rate(capacity, rate).is_err(), "{capacity}, {rate}");
        }
        let most = Fingerprints::MAX_LAST;
        assert!(Fingerprints::with_rate(most, 0.9).is_ok());
        assert!(matches!(Fingerprints::with_rate(most + 1, 0.9), Err(ConfigError::OutOfRange { .. })));
        for (given, finest) in [(0.0, 0.0), (1e-9, 1.0 / f64::from(1 << 16))] {
            assert_eq!(Fingerprints::with_rate(1 << 40, given), Err(ConfigError::Rate { given, finest }));
        }
    }
}
