//! Seeded random numbers.

use crate::keys::mix;

/// One of 2⁶⁴ sequences of uniform random numbers.
pub(super) struct Random {
    state: u64,
}

impl Random {
    /// The sequence for `seed` and one purpose.
    pub(super) fn new(seed: u64, purpose: u64) -> Self {
        Self { state: mix(mix(seed) ^ purpose) }
    }

    pub(super) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(1);
        mix(self.state)
    }

    /// The next number, uniform below `end`.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }
}
