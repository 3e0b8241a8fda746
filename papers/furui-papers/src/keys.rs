//! The keys and the random numbers of the experiments.

/// The i-th number of a sequence of distinct, uniform 64-bit numbers, computed by the finaliser of SplitMix64.
pub(crate) fn mix(i: u64) -> u64 {
    let mut x = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// Maps 64 uniform bits to a number below `end`. A larger input never gives a smaller number.
#[inline]
pub(crate) fn scale(random: u64, end: u64) -> u64 {
    ((u128::from(random) * u128::from(end)) >> 64) as u64
}

/// One of 2⁶⁴ sequences of uniform random numbers.
pub(crate) struct Random(u64);

impl Random {
    /// The sequence of random numbers for `seed` and one purpose, which has a number of its own.
    pub(crate) fn new(seed: u64, purpose: u64) -> Self {
        Self(mix(mix(seed) ^ purpose))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        mix(self.0)
    }

    /// The next number, uniform below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        scale(self.next(), end)
    }

    /// The next number, uniform above 0 and at most 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 * 2f64.powi(-53)
    }

    pub(crate) fn coin(&mut self) -> bool {
        self.uniform() <= 0.5
    }
}
