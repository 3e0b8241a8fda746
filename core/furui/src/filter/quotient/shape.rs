use crate::bits::word::low_bits;
use crate::filter::ConfigError;
use crate::hash::KeyHash;

/// The maximum load of a filter, in percent. Beyond it, clusters grow faster than the saved space is worth.
const MAX_LOAD_PERCENT: u128 = 97;

/// The maximum width of a remainder, in bits. Eight bytes hold a remainder of this width, whichever bit of a byte it
/// begins at.
pub(super) const MAX_REMAINDER_BITS: u32 = 57;

/// The maximum number of slots of a filter. With this limit, no computation with positions in bits overflows.
pub(super) const MAX_SLOTS: u64 = 1 << 40;

/// The sizes of a filter and the arithmetic that follows from them: from a hash to a fingerprint, from a fingerprint to
/// a quotient and a remainder, and back.
///
/// Fingerprints are the numbers 0 ..= `last`, for any `last`. A hash h is scaled to ⌊h (last + 1) / 2⁶⁴⌋, which for 2ᵖ
/// fingerprints is its p high bits. Scaling keeps the order of hashes. With d = ⌈(last + 1) / slots⌉, the quotient is
/// ⌊fingerprint / d⌋, which is below `slots`, and the remainder is fingerprint mod d. This split is exact, ordered and
/// invertible for any number of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) slots: u64,
    /// The maximum number of slots that may be used.
    pub(super) capacity: u64,
    pub(super) last: u64,
    pub(super) remainder_bits: u32,
    divisor: u64,
    /// The fixed-point reciprocal of the divisor: ⌊2⁶⁴ / divisor⌋, or 2⁶⁴ - 1 for a divisor of 1.
    reciprocal: u64,
    /// True if there are exactly `slots` × 2^`remainder_bits` fingerprints, the common case.
    exact: bool,
}

impl Shape {
    /// The shape of a table of `slots` slots for the fingerprints 0 ..= `last`.
    ///
    /// # Errors
    /// [`ConfigError::OutOfRange`] if there are no or too many slots, more slots than fingerprints, or too few slots
    /// for remainders of at most [`MAX_REMAINDER_BITS`] bits.
    pub(super) fn new(slots: u64, last: u64) -> Result<Self, ConfigError> {
        if slots == 0 || slots > MAX_SLOTS {
            return Err(ConfigError::OutOfRange {
                what: "slots of a quotient filter",
                given: slots,
                least: 1,
                most: MAX_SLOTS,
            });
        }
        if slots - 1 > last {
            return Err(ConfigError::OutOfRange {
                what: "slots for fingerprints of this length",
                given: slots,
                least: 1,
                most: last.saturating_add(1),
            });
        }
        let divisor = u128::from(last / slots) + 1;
        let remainder_bits = (128 - (divisor - 1).leading_zeros()).max(1);
        if remainder_bits > MAX_REMAINDER_BITS {
            return Err(ConfigError::OutOfRange {
                what: "bits of a remainder (more slots or shorter fingerprints make it shorter)",
                given: remainder_bits.into(),
                least: 1,
                most: MAX_REMAINDER_BITS.into(),
            });
        }
        let divisor = divisor as u64;
        let reciprocal = u64::try_from((1_u128 << 64) / u128::from(divisor)).unwrap_or(u64::MAX);
        let exact = u128::from(last) + 1 == u128::from(slots) << remainder_bits;
        Ok(Self { slots, capacity: capacity_of(slots), last, remainder_bits, divisor, reciprocal, exact })
    }

    /// The shape of a table of `slots` slots in which a remainder can have every value of `remainder_bits` bits.
    ///
    /// # Errors
    /// [`ConfigError::OutOfRange`] if a remainder cannot have that many bits, or a fingerprint would have more than 64.
    pub(super) fn with_remainder(slots: u64, remainder_bits: u32) -> Result<Self, ConfigError> {
        if !(1..=MAX_REMAINDER_BITS).contains(&remainder_bits) {
            return Err(ConfigError::OutOfRange {
                what: "bits of a remainder",
                given: remainder_bits.into(),
                least: 1,
                most: MAX_REMAINDER_BITS.into(),
            });
        }
        let last = (u128::from(slots) << remainder_bits).saturating_sub(1);
        let last = u64::try_from(last).map_err(|_| ConfigError::OutOfRange {
            what: "slots for remainders of this length",
            given: slots,
            least: 1,
            most: u64::MAX >> remainder_bits,
        })?;
        Self::new(slots, last)
    }

    /// The smallest table that holds `capacity` keys at a false-positive rate of at most `rate`.
    ///
    /// # Errors
    /// [`ConfigError::Rate`] if the rate is not between 0 and 1, or finer than 64-bit fingerprints allow;
    /// [`ConfigError::OutOfRange`] if there are too many keys.
    pub(super) fn with_rate(capacity: u64, rate: f64) -> Result<Self, ConfigError> {
        check_rate(rate)?;
        let slots = slots_for(capacity)?;
        let load = capacity_of(slots) as f64 / slots as f64;
        let remainder_bits = (load / rate).log2().ceil().max(1.0);
        if remainder_bits > f64::from(MAX_REMAINDER_BITS) || (slots as f64).log2() + remainder_bits > 64.0 {
            return Err(ConfigError::Rate { given: rate, finest: finest_rate(slots, load) });
        }
        Self::with_remainder(slots, remainder_bits as u32)
    }

    /// Returns an error if `capacity` keys would have a false-positive rate above `rate`.
    pub(super) fn check_rate_at(&self, capacity: u64, rate: f64) -> Result<(), ConfigError> {
        check_rate(rate)?;
        let expected = capacity as f64 / self.domain();
        if expected <= rate {
            return Ok(());
        }
        Err(ConfigError::RateExceeded { keys: capacity, expected, allowed: rate })
    }

    /// The smallest table for `capacity` keys that has the same range of fingerprints as this one.
    ///
    /// # Errors
    /// [`ConfigError::OutOfRange`] if there are too many keys for these fingerprints, or so few that remainders would
    /// be too long.
    pub(super) fn resized(&self, capacity: u64) -> Result<Self, ConfigError> {
        let exact = Self::new(slots_for(capacity)?, self.last)?;
        // A few more slots may make each remainder one bit shorter.
        let divisor = 1_u128 << (exact.remainder_bits - 1);
        let slots = (u128::from(self.last) + 1).div_ceil(divisor);
        let narrower = u64::try_from(slots).ok().and_then(|slots| Self::new(slots, self.last).ok());
        Ok(narrower.filter(|shape| shape.bits() < exact.bits()).unwrap_or(exact))
    }

    /// The number of possible fingerprints, 0 to `last`, by which rates are divided.
    pub(super) fn domain(&self) -> f64 {
        self.last as f64 + 1.0
    }

    /// The size of all bit planes, offsets and remainders in bits, not rounded up to whole blocks.
    fn bits(&self) -> u128 {
        u128::from(self.slots) * u128::from(4 * (3 + self.remainder_bits) + 1) / 4
    }

    #[inline(always)]
    pub(super) fn fingerprint(&self, key: KeyHash) -> u64 {
        let hash = u128::from(key.get());
        ((hash * u128::from(self.last) + hash) >> 64) as u64
    }

    /// The quotient and remainder of a key's fingerprint. In the common case both come from one multiplication, which
    /// is all that a lookup waits for before it can prefetch.
    #[inline(always)]
    pub(super) fn locate(&self, key: KeyHash) -> (u64, u64) {
        if self.exact {
            let product = u128::from(key.get()) * u128::from(self.slots);
            ((product >> 64) as u64, product as u64 >> (64 - self.remainder_bits))
        } else {
            self.split(self.fingerprint(key))
        }
    }

    /// The quotient and remainder of `fingerprint`. The quotient is first estimated with the rounded reciprocal, which
    /// loses fingerprint / 2⁶⁴ < 1, so the estimate is at most one too small and one correction step suffices.
    #[inline(always)]
    pub(super) fn split(&self, fingerprint: u64) -> (u64, u64) {
        if self.exact {
            return (fingerprint >> self.remainder_bits, fingerprint & low_bits(self.remainder_bits));
        }
        let quotient = ((u128::from(fingerprint) * u128::from(self.reciprocal)) >> 64) as u64;
        let remainder = fingerprint - quotient * self.divisor;
        let short = u64::from(remainder >= self.divisor);
        (quotient + short, remainder - (self.divisor & short.wrapping_neg()))
    }

    /// True if there is a fingerprint with this quotient and remainder.
    pub(super) fn has(&self, quotient: u64, remainder: u64) -> bool {
        remainder < self.divisor
            && u128::from(quotient) * u128::from(self.divisor) + u128::from(remainder) <= u128::from(self.last)
    }

    /// The fingerprint with this quotient and remainder 0; any number if the quotient is invalid.
    #[inline(always)]
    pub(super) fn base(&self, quotient: u64) -> u64 {
        quotient.wrapping_mul(self.divisor)
    }
}

/// The capacity of `slots` slots: [`MAX_LOAD_PERCENT`] of them, rounded up so that small tables can be filled entirely.
fn capacity_of(slots: u64) -> u64 {
    (u128::from(slots) * MAX_LOAD_PERCENT).div_ceil(100) as u64
}

/// The smallest number of slots that holds `capacity` keys.
///
/// # Errors
/// [`ConfigError::OutOfRange`] if that is more than [`MAX_SLOTS`].
pub(super) fn slots_for(capacity: u64) -> Result<u64, ConfigError> {
    let slots = u128::from(capacity.max(1) - 1) * 100 / MAX_LOAD_PERCENT + 1;
    u64::try_from(slots).ok().filter(|&slots| slots <= MAX_SLOTS).ok_or_else(|| ConfigError::OutOfRange {
        what: "keys of a quotient filter",
        given: capacity,
        least: 0,
        most: capacity_of(MAX_SLOTS),
    })
}

/// The lowest possible false-positive rate of a full table of `slots` slots: the rate with the longest possible
/// fingerprints.
fn finest_rate(slots: u64, load: f64) -> f64 {
    let remainder_bits = (64.0 - (slots as f64).log2()).floor().min(f64::from(MAX_REMAINDER_BITS));
    load / remainder_bits.exp2()
}

fn check_rate(rate: f64) -> Result<(), ConfigError> {
    if rate > 0.0 && rate < 1.0 {
        return Ok(());
    }
    Err(ConfigError::Rate { given: rate, finest: 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotient_and_remainder_are_exact_ordered_and_invertible() {
        let lasts = [0, 1, 2, 99, 126, 127, 128, 1 << 20, (1 << 40) - 1, 1 << 40, u64::MAX - 1, u64::MAX];
        for slots in [1, 2, 3, 63, 64, 65, 127, 1000, 1 << 20, (1 << 32) + 7, MAX_SLOTS] {
            for shape in lasts.iter().filter_map(|&last| Shape::new(slots, last).ok()) {
                let mut probes = vec![0, shape.last, shape.last / 2, shape.last / 3];
                for q in [1, 2, slots / 2, slots - 1] {
                    let edge = u128::from(q) * u128::from(shape.divisor);
                    probes.extend([edge, edge.saturating_sub(1)].iter().filter_map(|&x| u64::try_from(x).ok()));
                }
                for h in probes.into_iter().filter(|&h| h <= shape.last) {
                    let (quotient, remainder) = shape.split(h);
                    assert_eq!((quotient, remainder), (h / shape.divisor, h % shape.divisor), "{shape:?}, {h}");
                    assert!(quotient < slots && remainder <= low_bits(shape.remainder_bits));
                    assert_eq!(shape.base(quotient) + remainder, h);
                }
            }
        }
    }

    #[test]
    fn a_fingerprint_is_the_hash_scaled_down_and_for_powers_of_two_its_high_bits() {
        for hash in [0, 1, 1 << 63, 0x0123_4567_89AB_CDEF, u64::MAX] {
            for p in 1..=64 {
                let shape = Shape { last: u64::MAX >> (64 - p), ..Shape::new(1, 1).unwrap() };
                assert_eq!(shape.fingerprint(KeyHash::new(hash)), hash >> (64 - p));
            }
            let thousand = Shape::new(10, 999).unwrap();
            let expected = ((u128::from(hash) * 1000) >> 64) as u64;
            assert_eq!(thousand.fingerprint(KeyHash::new(hash)), expected);
            for shape in [thousand, Shape::with_remainder(1000, 7).unwrap(), Shape::with_rate(77, 1e-9).unwrap()] {
                let fingerprint = shape.fingerprint(KeyHash::new(hash));
                assert_eq!(shape.locate(KeyHash::new(hash)), shape.split(fingerprint));
            }
        }
    }
}
