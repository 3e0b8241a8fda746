//! Where on the ring a key's bits are.

use super::RingedParams;
use crate::filter::ConfigError;

/// The ring of a filter of a given size. Everything that depends on the size is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ring {
    groups: Divisor,
    bits: Divisor,
    /// γ in units of 2⁻³² bits.
    gamma: u64,
    /// Whether a window is no longer than the ring, so that no position is beyond its second round.
    wraps_once: bool,
}

impl Ring {
    /// The ring for so many keys; for none it is that of one.
    pub(super) fn new(params: RingedParams, keys: u64) -> Result<Self, ConfigError> {
        let bits = params.bits(keys)?;
        Ok(Self {
            groups: Divisor::new(keys.max(1)),
            bits: Divisor::new(bits),
            gamma: params.fixed_gamma(),
            wraps_once: u64::from(params.window()) <= bits,
        })
    }

    pub(super) fn groups(&self) -> u64 {
        self.groups.divisor
    }

    pub(super) fn bits(&self) -> u64 {
        self.bits.divisor
    }

    /// Where the window of group T begins: ⌊T γ⌋.
    #[inline]
    pub(super) fn start(&self, group: u64) -> u64 {
        ((u128::from(group) * u128::from(self.gamma)) >> 32) as u64
    }

    /// Where the window of the key with this hash begins (T = h₀ mod n).
    #[inline]
    pub(super) fn start_of(&self, hash: u64) -> u64 {
        self.start(self.groups.remainder(hash))
    }

    /// The bit at `offset` in the window that begins at `start` (eq. 8).
    #[inline]
    pub(super) fn position(&self, start: u64, offset: u32) -> usize {
        let position = start + u64::from(offset);
        (if self.wraps_once {
            position.min(position.wrapping_sub(self.bits.divisor))
        } else {
            self.bits.remainder(position)
        }) as usize
    }
}

/// A number from 1 to 2⁶³ by which much is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Divisor {
    divisor: u64,
    /// ⌊(2⁶⁴ - 1) / divisor⌋: at most 1 less than 2⁶⁴ / divisor, so a quotient taken with it is right or 1 too small.
    reciprocal: u64,
}

impl Divisor {
    fn new(divisor: u64) -> Self {
        Self { divisor, reciprocal: u64::MAX / divisor }
    }

    #[inline]
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
