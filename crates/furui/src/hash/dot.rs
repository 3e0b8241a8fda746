//! The sum of some bytes times powers of a factor: what a polynomial hash spends its time with.

/// The most bytes that are summed at once.
pub(super) const RUN: usize = 128;

/// How many bits of a power are multiplied at a time: numbers of 16 bits have a sign.
const PART_BITS: u32 = 15;
/// How many parts the 61 bits of a power have.
const PARTS: usize = 5;

/// The powers of a factor, each below 2⁶¹, laid out so that bytes can be multiplied by eight of them at once.
///
/// A byte times a part of 15 bits, added up over 128 bytes, fits into 31 bits: the parts are summed by themselves, and put
/// together at the end. With SSE2, which every x86-64 has, 64 bytes take 20 ns where multiplications of 64 by 64 bits take
/// 55 (AMD EPYC); elsewhere it is those.
#[derive(Clone, Debug)]
pub(super) struct Dot {
    #[cfg(target_arch = "x86_64")]
    parts: [[std::arch::x86_64::__m128i; PARTS]; RUN / 8],
    #[cfg(not(target_arch = "x86_64"))]
    parts: [[[i16; 8]; PARTS]; RUN / 8],
}

impl Dot {
    /// Lays out these powers, from the 0th on.
    pub(super) fn new(powers: &[u64; RUN + 1]) -> Self {
        // Group g, counted from the last byte, has the powers 8 g + 7 down to 8 g.
        let parts = std::array::from_fn(|group| {
            std::array::from_fn(|part| {
                let numbers = std::array::from_fn(|i| {
                    let power = powers[8 * group + 7 - i];
                    (power >> (PART_BITS * part as u32) & ((1 << PART_BITS) - 1)) as i16
                });
                #[cfg(target_arch = "x86_64")]
                let numbers = sse2::lanes(numbers);
                numbers
            })
        });
        Self { parts }
    }

    /// The sum of the bytes, at most [`RUN`] of them, each times the power whose exponent is how many come after it. They come
    /// as eights, the first filled up with zeros in front.
    #[inline]
    pub(super) fn sum(&self, first: u64, eights: &[[u8; 8]]) -> u128 {
        #[cfg(target_arch = "x86_64")]
        let sums = sse2::sums(&self.parts, first, eights);
        #[cfg(not(target_arch = "x86_64"))]
        let sums = portable(&self.parts, first, eights);
        (0..).zip(sums).map(|(part, sum)| u128::from(sum) << (PART_BITS * part)).sum()
    }
}

/// What [`sse2::sums`] computes.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn portable(parts: &[[[i16; 8]; PARTS]; RUN / 8], first: u64, eights: &[[u8; 8]]) -> [u64; PARTS] {
    let mut sums = [0; PARTS];
    let mut add = |bytes: &[u8; 8], group: &[[i16; 8]; PARTS]| {
        for (sum, numbers) in sums.iter_mut().zip(group) {
            *sum += bytes.iter().zip(numbers).map(|(&byte, &number)| u64::from(byte) * number as u64).sum::<u64>();
        }
    };
    // Of 128 bytes the first eight are none: zeros, times whatever.
    add(&first.to_le_bytes(), &parts[eights.len().min(RUN / 8 - 1)]);
    eights.iter().zip(parts[..eights.len()].iter().rev()).for_each(|(bytes, group)| add(bytes, group));
    sums
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "calls of functions for SSE2, which is a part of x86-64")]
mod sse2 {
    use std::arch::x86_64::{
        __m128i, _mm_add_epi32, _mm_cvtsi64_si128, _mm_cvtsi128_si64, _mm_madd_epi16, _mm_setr_epi16,
        _mm_setzero_si128, _mm_srli_si128, _mm_unpacklo_epi8,
    };

    use super::{PARTS, RUN};

    pub(super) fn lanes([a, b, c, d, e, f, g, h]: [i16; 8]) -> __m128i {
        // SAFETY: every x86-64 has SSE2.
        unsafe { _mm_setr_epi16(a, b, c, d, e, f, g, h) }
    }

    /// The sum of all bytes times each part of the powers.
    #[inline]
    pub(super) fn sums(parts: &[[__m128i; PARTS]; RUN / 8], first: u64, eights: &[[u8; 8]]) -> [u64; PARTS] {
        // SAFETY: every x86-64 has SSE2.
        unsafe { sums_by_sse2(parts, first, eights) }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn sums_by_sse2(parts: &[[__m128i; PARTS]; RUN / 8], first: u64, eights: &[[u8; 8]]) -> [u64; PARTS] {
        let mut sums = [_mm_setzero_si128(); PARTS];
        let mut add = |word: u64, group: &[__m128i; PARTS]| {
            let bytes = _mm_unpacklo_epi8(_mm_cvtsi64_si128(word.cast_signed()), _mm_setzero_si128());
            for (sum, &numbers) in sums.iter_mut().zip(group) {
                *sum = _mm_add_epi32(*sum, _mm_madd_epi16(bytes, numbers));
            }
        };
        // Of 128 bytes the first eight are none: zeros, times whatever.
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

    #[test]
    fn sums_are_those_of_the_portable_loop() {
        let powers: [u64; RUN + 1] = std::array::from_fn(|i| {
            if i % 3 == 0 { (1 << 61) - 1 } else { (0x1357_9BDF_0246_8ACE % (i as u64 + 7)) << 50 | i as u64 }
        });
        let parts: [[[i16; 8]; PARTS]; RUN / 8] = std::array::from_fn(|group| {
            std::array::from_fn(|part| {
                std::array::from_fn(|i| (powers[8 * group + 7 - i] >> (15 * part) & 0x7FFF) as i16)
            })
        });
        let dot = Dot::new(&powers);
        for fill in [0x00, 0x01, 0xA7, 0xFF] {
            let eights = [[fill; 8]; RUN / 8];
            for count in 0..=RUN / 8 {
                // Of a whole run nothing is in front.
                let first = if count == RUN / 8 { 0 } else { u64::from(fill) << 56 | u64::from(fill) };
                let portable = portable(&parts, first, &eights[..count]);
                let expected: u128 = (0..).zip(portable).map(|(part, sum)| u128::from(sum) << (15 * part)).sum();
                assert_eq!(dot.sum(first, &eights[..count]), expected, "{count} eights of {fill:#x}");
            }
        }
    }
}
