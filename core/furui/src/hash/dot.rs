//! Sums of bytes times powers of a factor: the part of a polynomial hash that takes the most time.

/// The maximum number of bytes of a key that are summed at once.
pub(super) const RUN: usize = 128;

/// The powers of a factor, each below 2⁶¹, that bytes are multiplied by before they are summed.
///
/// With SSE2, which every x86-64 processor has, eight bytes at once are multiplied by 15-bit parts of the powers: 64
/// bytes take 20 ns. Other processors multiply 64 by 64 bits, which takes 55 ns (AMD EPYC).
#[derive(Clone, Debug)]
pub(super) struct Dot {
    #[cfg(target_arch = "x86_64")]
    parts: sse2::PowerParts,
    #[cfg(not(target_arch = "x86_64"))]
    powers: [u64; RUN + 1],
}

impl Dot {
    /// Prepares the powers of the factor from the 0th on, which are `powers`.
    pub(super) fn new(powers: &[u64; RUN + 1]) -> Self {
        #[cfg(target_arch = "x86_64")]
        return Self { parts: sse2::parts(powers) };
        #[cfg(not(target_arch = "x86_64"))]
        return Self { powers: *powers };
    }

    /// The sum of at most [`RUN`] bytes, each times the power whose exponent is the number of bytes after it. `eights`
    /// holds the last bytes in groups of eight. `first` holds the bytes before them, at most seven, with zeros in
    /// front. If `eights` has [`RUN`] bytes, `first` is 0.
    #[inline]
    pub(super) fn sum(&self, first: u64, eights: &[[u8; 8]]) -> u128 {
        #[cfg(target_arch = "x86_64")]
        return sse2::sum(&self.parts, first, eights);
        #[cfg(not(target_arch = "x86_64"))]
        return portable(&self.powers, first, eights);
    }
}

/// The portable version of [`sse2::sum`]: the sum of bytes, each times a power of the factor.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn portable(powers: &[u64; RUN + 1], first: u64, eights: &[[u8; 8]]) -> u128 {
    let first = first.to_le_bytes();
    let bytes = eights.as_flattened().iter().rev().chain(first.iter().rev());
    bytes.zip(powers).map(|(&byte, &power)| u128::from(byte) * u128::from(power)).sum()
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "calls of functions for SSE2, which is a part of x86-64")]
mod sse2 {
    use std::arch::x86_64::{
        __m128i, _mm_add_epi32, _mm_cvtsi64_si128, _mm_cvtsi128_si64, _mm_madd_epi16, _mm_setr_epi16,
        _mm_setzero_si128, _mm_srli_si128, _mm_unpacklo_epi8,
    };

    use super::RUN;

    /// The number of bits of a power that are multiplied at a time. The 16-bit factors of SSE2 are signed, so a part
    /// has 15 bits. A byte times a part, summed over 128 bytes, fits into 31 bits, so each part is summed by itself,
    /// and the sums are combined at the end.
    const PART_BITS: u32 = 15;
    /// The number of parts into which the 61 bits of a power are divided.
    const PARTS: usize = 5;

    /// The powers of the factor, divided into parts of [`PART_BITS`] bits: element `[g][p]` has part p, from the
    /// lowest, of the eight powers 8 g + 7 down to 8 g. Eight bytes are multiplied by one group of powers, and the last
    /// eight bytes by group 0.
    pub(super) type PowerParts = [[__m128i; PARTS]; RUN / 8];

    pub(super) fn parts(powers: &[u64; RUN + 1]) -> PowerParts {
        std::array::from_fn(|group| {
            std::array::from_fn(|part| {
                let number = |i: usize| {
                    let power = powers[8 * group + 7 - i];
                    (power >> (PART_BITS * part as u32) & ((1 << PART_BITS) - 1)) as i16
                };
                let [a, b, c, d, e, f, g, h] = std::array::from_fn(number);
                // SAFETY: every x86-64 has SSE2.
                unsafe { _mm_setr_epi16(a, b, c, d, e, f, g, h) }
            })
        })
    }

    /// The SSE2 version of [`Dot::sum`](super::Dot::sum): the sum of bytes, each times a power of the factor.
    #[inline]
    pub(super) fn sum(parts: &PowerParts, first: u64, eights: &[[u8; 8]]) -> u128 {
        // SAFETY: every x86-64 has SSE2.
        let sums = unsafe { sums(parts, first, eights) };
        (0..).zip(sums).map(|(part, sum)| u128::from(sum) << (PART_BITS * part)).sum()
    }

    /// For each part of the powers: the sum of all bytes, each times this part of its power.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn sums(parts: &PowerParts, first: u64, eights: &[[u8; 8]]) -> [u64; PARTS] {
        let mut sums = [_mm_setzero_si128(); PARTS];
        let mut add = |word: u64, group: &[__m128i; PARTS]| {
            let bytes = _mm_unpacklo_epi8(_mm_cvtsi64_si128(word.cast_signed()), _mm_setzero_si128());
            for (sum, &numbers) in sums.iter_mut().zip(group) {
                *sum = _mm_add_epi32(*sum, _mm_madd_epi16(bytes, numbers));
            }
        };
        // If `eights` has 128 bytes, `first` is zero, so it does not matter by what it is multiplied.
        add(first, &parts[eights.len().min(RUN / 8 - 1)]);
        for (bytes, group) in eights.iter().zip(parts[..eights.len()].iter().rev()) {
            add(u64::from_le_bytes(*bytes), group);
        }
        sums.map(|sum| {
            let halves = _mm_cvtsi128_si64(_mm_add_epi32(sum, _mm_srli_si128::<8>(sum))).cast_unsigned();
            (halves & u64::from(u32::MAX)) + (halves >> 32)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::testing::fresh_random;

    #[test]
    fn sums_are_those_of_the_portable_loop() {
        let powers: [u64; RUN + 1] = std::array::from_fn(|i| {
            if i % 3 == 0 { (1 << 61) - 1 } else { (0x1357_9BDF_0246_8ACE % (i as u64 + 7)) << 50 | i as u64 }
        });
        let dot = Dot::new(&powers);
        for fill in [0x00, 0x01, 0xA7, 0xFF] {
            let eights: [[u8; 8]; RUN / 8] = std::array::from_fn(|i| std::array::from_fn(|j| fill ^ (i * j) as u8));
            for count in 0..=RUN / 8 {
                // With the maximum number of eights, no other bytes come before them.
                let first = if count == RUN / 8 { 0 } else { u64::from(fill) << 56 | u64::from(fill) };
                let expected = portable(&powers, first, &eights[..count]);
                assert_eq!(dot.sum(first, &eights[..count]), expected, "{count} eights of {fill:#x}");
            }
        }
    }

    #[test]
    fn sums_of_many_random_bytes_are_those_of_the_portable_loop() {
        let mut random = fresh_random();
        let powers: [u64; RUN + 1] = std::array::from_fn(|_| random() >> 3);
        let dot = Dot::new(&powers);
        for i in 0..100_000 {
            let eights: [[u8; 8]; RUN / 8] = std::array::from_fn(|_| random().to_le_bytes());
            let count = i % (RUN / 8 + 1);
            let first = if count == RUN / 8 { 0 } else { random() >> 8 };
            let expected = portable(&powers, first, &eights[..count]);
            assert_eq!(dot.sum(first, &eights[..count]), expected, "{first:#x}, {:x?}", &eights[..count]);
        }
    }
}
