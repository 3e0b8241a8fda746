//! The positions of a key's bits on the ring.

use super::RingedParams;
use crate::filter::ConfigError;

/// The ring of bits of a filter, with the numbers that are computed from its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ring {
    params: RingedParams,
    groups: Divisor,
    bits: u64,
    /// The fixed-point reciprocal of the number of bits: ⌈2⁶⁴ / bits⌉, modulo 2⁶⁴.
    reciprocal: u64,
    /// The position before which a window must begin so that it ends within the ring.
    straight: u64,
}

impl Ring {
    /// The ring for `keys` keys; for 0 keys it is the ring for one key.
    ///
    /// # Errors
    /// Those of [`RingedParams::bits`]: that the ring would have too many bits.
    pub(super) fn new(params: RingedParams, keys: u64) -> Result<Self, ConfigError> {
        let bits = params.bits(keys)?;
        Ok(Self {
            params,
            groups: Divisor::new(keys.max(1)),
            bits,
            reciprocal: (u64::MAX / bits).wrapping_add(1),
            straight: (bits + 1).saturating_sub(params.window().into()),
        })
    }

    /// The parameters that the ring shares with rings of other sizes.
    #[inline(always)]
    pub(super) fn params(&self) -> RingedParams {
        self.params
    }

    pub(super) fn groups(&self) -> u64 {
        self.groups.divisor
    }

    pub(super) fn bits(&self) -> u64 {
        self.bits
    }

    /// The number of bits, if it fits into a `usize`.
    pub(super) fn bits_here(&self) -> Option<usize> {
        usize::try_from(self.bits).ok()
    }

    /// The position of the first bit of the window of group T: ⌊T γ⌋.
    #[inline(always)]
    pub(super) fn start(&self, group: u64) -> u64 {
        // The product is computed in 64 bits if it fits: on some processors a shift over two words takes as long as all
        // the rest.
        match group.checked_mul(self.params.fixed_gamma()) {
            Some(product) => product >> 32,
            None => ((u128::from(group) * u128::from(self.params.fixed_gamma())) >> 32) as u64,
        }
    }

    /// The position of the first bit of the window of the key with this hash (T = h₀ mod n).
    #[inline(always)]
    pub(super) fn start_of(&self, hash: u64) -> u64 {
        self.start(self.groups.remainder(hash))
    }

    /// True if the window that begins at `start` ends within the ring.
    #[inline(always)]
    pub(super) fn is_straight(&self, start: u64) -> bool {
        start < self.straight
    }

    /// The position of the bit at `offset` in the window that begins at `start` (eq. 8 of Sei et al.).
    #[inline(always)]
    pub(super) fn position(&self, start: u64, offset: u32) -> usize {
        let position = start + u64::from(offset);
        if self.straight > 0 {
            return position.min(position.wrapping_sub(self.bits)) as usize;
        }
        // The remainder is the fractional part of position / bits, times bits (Lemire, Kaser and Kurz, "Faster
        // Remainder by Direct Computation", 2019). It is exact, because the ring and the window have fewer than 2³¹
        // bits here, so that the position is below 2³².
        let fraction = self.reciprocal.wrapping_mul(position);
        ((u128::from(fraction) * u128::from(self.bits)) >> 64) as usize
    }
}

/// A divisor from 1 to 2⁶³, prepared for many divisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Divisor {
    divisor: u64,
    /// The fixed-point reciprocal of the divisor: ⌊(2⁶⁴ - 1) / divisor⌋. It is at most 1 less than 2⁶⁴ / divisor, so a
    /// quotient taken with it is right or 1 too small.
    reciprocal: u64,
}

impl Divisor {
    fn new(divisor: u64) -> Self {
        Self { divisor, reciprocal: u64::MAX / divisor }
    }

    #[inline(always)]
    fn remainder(self, x: u64) -> u64 {
        let quotient = ((u128::from(x) * u128::from(self.reciprocal)) >> 64) as u64;
        let remainder = x - quotient * self.divisor;
        remainder.min(remainder.wrapping_sub(self.divisor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_wrap_as_often_as_they_must() {
        use super::super::Gamma;
        for (delta, gamma) in [(1, 65536.0), (1000, 10.1), (32_767, 65536.0), (200_000_000, 10.0)] {
            let params = RingedParams::new(7, Gamma::Bits(gamma), delta).unwrap();
            for keys in [1, 2, 3, 999, 1024, 32_766, 32_767, 40_000_000, 199_999_999, 200_000_000] {
                let Ok(ring) = Ring::new(params, keys) else { continue };
                for start in [0, 1, ring.bits() / 2, ring.bits() - 1] {
                    for offset in [0, 1, params.window() / 3, params.window() / 2, params.window() - 1] {
                        let expected = (start + u64::from(offset)) % ring.bits();
                        assert_eq!(ring.position(start, offset) as u64, expected, "{params}, {keys}: {start} {offset}");
                    }
                }
            }
        }
    }

    #[test]
    fn remainders_are_exact() {
        let mut x = 1u64;
        for divisor in (1..1000).chain([1 << 20, (1 << 32) - 1, 1 << 32, (1 << 43) - 1, 1 << 43, 1 << 63]) {
            let by = Divisor::new(divisor);
            for multiple in [0, 1, 2, 77, u64::MAX / divisor - 1, u64::MAX / divisor] {
                for around in [0, 1, divisor - 1] {
                    let Some(x) = multiple.checked_mul(divisor).and_then(|x: u64| x.checked_add(around)) else {
                        continue;
                    };
                    assert_eq!(by.remainder(x), x % divisor, "{x} mod {divisor}");
                }
            }
            for _ in 0..100 {
                x = x.wrapping_mul(0xD129_0DAC_6E5A_42B5).wrapping_add(0x9E37_79B9_7F4A_7C15);
                assert_eq!(by.remainder(x), x % divisor, "{x} mod {divisor}");
            }
        }
    }
}
