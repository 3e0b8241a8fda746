#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "vector instructions are used after their presence was checked")
)]

#[cfg(target_arch = "x86_64")]
use std::arch::asm;

/// How many bits are tested at once, at most.
pub(crate) const LANES: usize = 8;

/// What a vector has in each lane to tell a bit.
#[cfg(target_arch = "x86_64")]
static ONE: u32 = 1;

/// A processor that loads words from eight places with one instruction, and faster than with eight.
///
/// The instruction is older, but in microcode on processors of AMD, and slow on those of Intel that were mended to hide
/// what it loads; those with numbers of 16 bits in AVX-512 have it as it was meant.
///
/// Whoever has one asks of each key all bits at once, without a branch that a processor could foresee wrongly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gather {
    /// Only if AVX-512 with F, VL and DQ was found: the proof that `unsafe` below relies on.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Gather {
    /// The most bits of a [`ring`](Self::ring): positions in its second round are numbers of 32 bits.
    pub(crate) const RING_BITS: u64 = 1 << 31;

    /// The most bits to which [`scaled`](Self::scaled) scales: a factor of 32 bits.
    pub(crate) const SCALED_BITS: u64 = u32::MAX as u64;

    /// Asks the processor.
    pub(crate) fn detect() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512fp16") {
            return Self::even_if_slow();
        }
        None
    }

    /// The same where it may take longer than eight loads.
    #[cfg(any(test, target_arch = "x86_64"))]
    pub(crate) fn even_if_slow() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
        {
            return Some(Self::Avx512);
        }
        None
    }

    /// Whether the bits at all `offsets` behind `start` are set, in a ring of the first `bits` bits of `words`. Those that
    /// are beyond the ring's second round are not.
    ///
    /// # Panics
    /// If there are fewer words than hold `bits` bits, or these are more than [`RING_BITS`](Self::RING_BITS), or the offsets more than [`LANES`].
    #[inline(always)]
    pub(crate) fn ring(self, words: &[[u8; 8]], bits: usize, start: usize, offsets: &[u32]) -> bool {
        assert!(bits as u64 <= Self::RING_BITS && bits.div_ceil(64) <= words.len(), "a ring beyond its words");
        assert!(offsets.len() <= LANES, "more offsets than lanes");
        #[cfg(not(target_arch = "x86_64"))]
        let _ = start;
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` says that the instructions exist, and the rest is asserted.
            Self::Avx512 => unsafe { ring(words.as_ptr(), bits, start, offsets) == 0 },
        }
    }

    /// Whether `count` of the first `bits` bits of `words` are set: those at the part of `bits` that `state`, times each of
    /// the first factors modulo 2⁶⁴, is of 2⁶⁴, rounded down.
    ///
    /// # Panics
    /// If there are fewer words than hold `bits` bits, or these are more than [`SCALED_BITS`](Self::SCALED_BITS), or `count` is more than [`LANES`].
    #[inline(always)]
    pub(crate) fn scaled(self, words: &[[u8; 8]], bits: usize, state: u64, factors: &[u64; LANES], count: u32) -> bool {
        assert!(bits as u64 <= Self::SCALED_BITS && bits.div_ceil(64) <= words.len(), "a table beyond its words");
        assert!(count as usize <= LANES, "more bits than lanes");
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (state, factors);
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` says that the instructions exist, and the rest is asserted.
            Self::Avx512 => unsafe { scaled(words.as_ptr(), bits, state, factors, count) == 0 },
        }
    }
}

/// The lanes in which a bit of [`Gather::ring`] is not set, or beyond the ring.
///
/// # Safety
/// There must be AVX-512F, VL and DQ, at most [`LANES`] offsets, and at `words` as many words as hold `bits` bits, at most
/// [`Gather::RING_BITS`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn ring(words: *const [u8; 8], bits: usize, start: usize, offsets: &[u32]) -> u32 {
    let missing: u32;
    // SAFETY: the caller sees to the instructions. Of the offsets those are read that there are, and of the words those that
    // have a position below `bits`. Registers above the first 16 need not be cleared for instructions of SSE.
    unsafe {
        asm!(
            "kmovb k1, {lanes:e}",
            "vmovdqu32 ymm16 {{k1}} {{z}}, ymmword ptr [{offsets}]",
            "vpbroadcastd ymm17, {start:e}",
            "vpaddd ymm16, ymm16, ymm17",
            "vpbroadcastd ymm17, {bits:e}",
            "vpsubd ymm18, ymm16, ymm17",
            "vpminud ymm16, ymm16, ymm18",
            "vpcmpltud k2 {{k1}}, ymm16, ymm17",
            "vpsrld ymm17, ymm16, 5",
            "vpxord ymm18, ymm18, ymm18",
            "vpgatherdd ymm18 {{k2}}, dword ptr [{words} + 4 * ymm17]",
            "vprorvd ymm18, ymm18, ymm16",
            "vptestnmd k2 {{k1}}, ymm18, dword ptr [rip + {one}] {{1to8}}",
            "kmovb {missing:e}, k2",
            lanes = in(reg) (1u32 << offsets.len()) - 1,
            offsets = in(reg) offsets.as_ptr(),
            start = in(reg) start,
            bits = in(reg) bits,
            words = in(reg) words,
            one = sym ONE,
            missing = lateout(reg) missing,
            out("xmm16") _, out("xmm17") _, out("xmm18") _, out("k1") _, out("k2") _,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    missing
}

/// The lanes in which a bit of [`Gather::scaled`] is not set.
///
/// # Safety
/// There must be AVX-512F, VL and DQ, a count of [`LANES`] at most, and at `words` as many words as hold `bits` bits,
/// at most [`Gather::SCALED_BITS`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn scaled(words: *const [u8; 8], bits: usize, state: u64, factors: &[u64; LANES], count: u32) -> u32 {
    let missing: u32;
    // SAFETY: the caller sees to the instructions. Of the words those are read that have a position below `bits`, as all
    // positions are. Registers above the first 16 need not be cleared for instructions of SSE.
    unsafe {
        asm!(
            "vpbroadcastq zmm16, {state}",
            "vpmullq zmm16, zmm16, zmmword ptr [{factors}]",
            "vpbroadcastq zmm17, {bits}",
            // The product of 96 bits without its lower 64: that of the upper half, and what the lower one carries over.
            "vpmuludq zmm18, zmm16, zmm17",
            "vpsrlq zmm16, zmm16, 32",
            "vpmuludq zmm16, zmm16, zmm17",
            "vpsrlq zmm18, zmm18, 32",
            "vpaddq zmm16, zmm16, zmm18",
            "vpsrlq zmm16, zmm16, 32",
            "vpmovqd ymm16, zmm16",
            "kmovb k1, {lanes:e}",
            "kmovb k2, {lanes:e}",
            "vpsrld ymm17, ymm16, 5",
            "vpxord ymm18, ymm18, ymm18",
            "vpgatherdd ymm18 {{k2}}, dword ptr [{words} + 4 * ymm17]",
            "vprorvd ymm18, ymm18, ymm16",
            "vptestnmd k2 {{k1}}, ymm18, dword ptr [rip + {one}] {{1to8}}",
            "kmovb {missing:e}, k2",
            state = in(reg) state,
            factors = in(reg) factors,
            bits = in(reg) bits,
            lanes = in(reg) (1u32 << count) - 1,
            words = in(reg) words,
            one = sym ONE,
            missing = lateout(reg) missing,
            out("xmm16") _, out("xmm17") _, out("xmm18") _, out("k1") _, out("k2") _,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    missing
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::bits::testing::{mostly_ones, random};

    const SIZES: [usize; 7] = [1, 31, 32, 64, 65, 1000, 70_001];
    const ROUNDS: usize = 4000;

    fn is_set(words: &[[u8; 8]], position: usize) -> bool {
        words[position / 64][position % 64 / 8] >> (position % 8) & 1 == 1
    }

    #[test]
    fn bits_of_a_ring_at_once_are_those_one_by_one() {
        let Some(gather) = Gather::even_if_slow() else { return };
        let mut random = random();
        let mut found = 0;
        for bits in SIZES {
            let words = mostly_ones(bits.div_ceil(64));
            for round in 0..ROUNDS {
                let start = random() as usize % bits;
                let mut offsets: Vec<u32> = (0..round % (LANES + 1)).map(|_| (random() % bits as u64) as u32).collect();
                if let (0, Some(any)) = (round % 7, offsets.last_mut()) {
                    *any = random() as u32;
                }
                let expected = offsets.iter().all(|&offset| {
                    let position = (start as u32).wrapping_add(offset) as usize;
                    let position = if position < bits { position } else { position - bits };
                    position < bits && is_set(&words, position)
                });
                assert_eq!(gather.ring(&words, bits, start, &offsets), expected, "{bits}, {start}, {offsets:?}");
                found += usize::from(expected);
            }
        }
        let all = SIZES.len() * ROUNDS;
        assert!((all / 2..all).contains(&found), "{found} of {all} have all bits");
    }

    #[test]
    fn scaled_bits_at_once_are_those_one_by_one() {
        let Some(gather) = Gather::even_if_slow() else { return };
        let mut random = random();
        let mut found = 0;
        for bits in SIZES {
            let words = mostly_ones(bits.div_ceil(64));
            for round in 0..ROUNDS {
                let state = match round % 20 {
                    1 => 0,
                    2 => 1,
                    3 => u64::MAX,
                    _ => random(),
                };
                let factors: [u64; LANES] = std::array::from_fn(|i| if i == 0 { 1 } else { random() });
                let count = round % (LANES + 1);
                let expected = factors[..count].iter().all(|&factor| {
                    let product = u128::from(state.wrapping_mul(factor)) * bits as u128;
                    is_set(&words, (product >> 64) as usize)
                });
                let context = format!("{bits}, {state:#x}, {factors:x?}, {count}");
                assert_eq!(gather.scaled(&words, bits, state, &factors, count as u32), expected, "{context}");
                found += usize::from(expected);
            }
        }
        let all = SIZES.len() * ROUNDS;
        assert!((all / 2..all).contains(&found), "{found} of {all} have all bits");
    }

    #[test]
    fn the_largest_tables_have_their_bits_where_they_belong() {
        let Some(gather) = Gather::even_if_slow() else { return };
        // Zeros take no memory until one is written.
        let mut words = crate::bits::Buffer::zeroed(1 << 29).unwrap();
        for position in [0, 77, (1 << 31) - 1, 1 << 31, u32::MAX as usize - 1] {
            words[position / 8] |= 1 << (position % 8);
        }
        let words = words.as_chunks().0;
        let bits = u32::MAX as usize;
        let after = [
            (0, true),
            (78, true),
            (77, false),
            (1 << 31, true),
            ((1 << 31) + 1, true),
            (1 << 30, false),
            (u32::MAX, true),
        ];
        for (position, set) in after {
            // (2³² + 1) p is scaled to the bit before p, but for p = 0.
            let state = (u64::from(position) << 32) + u64::from(position);
            assert_eq!(gather.scaled(words, bits, state, &[1; LANES], 3), set, "{position}");
        }
        for (offset, set) in [(0, true), (1, true), (78, true), (79, false), (2, false)] {
            assert_eq!(gather.ring(words, 1 << 31, (1 << 31) - 1, &[offset]), set, "{offset}");
        }
        for (words, bits) in [(words, bits + 1), (&words[..1], 65)] {
            let beyond = std::panic::catch_unwind(|| gather.scaled(words, bits, 0, &[1; LANES], 1));
            assert!(beyond.is_err(), "{bits} bits");
        }
        let beyond = std::panic::catch_unwind(|| gather.ring(words, (1 << 31) + 1, 0, &[0]));
        assert!(beyond.is_err(), "a ring too large");
    }
}
