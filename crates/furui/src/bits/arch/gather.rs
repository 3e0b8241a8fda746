#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "vector instructions are used after their presence was checked")
)]

#[cfg(target_arch = "x86_64")]
use std::arch::asm;

/// How many bits are tested at once, at most.
pub(crate) const LANES: usize = 8;

/// The first so many of [`LANES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lanes {
    mask: u8,
}

impl Lanes {
    /// # Panics
    /// If there are not so many.
    #[inline(always)]
    pub(crate) const fn first(count: u32) -> Self {
        assert!(count as usize <= LANES, "more bits than lanes");
        Self { mask: ((1u32 << count) - 1) as u8 }
    }
}

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
    /// Only if AVX-512 with F, VL and DQ, BMI1, BMI2 and POPCNT were found: the proof that `unsafe` below relies on.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// Parts of a ring of bits, all of a length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Windows {
    /// How many bits a part has.
    pub(crate) length: u32,
    /// How many bits the ring has: at most [`Gather::RING_BITS`], or parts that go around it are not found.
    pub(crate) ring: u32,
}

impl Gather {
    /// The most bits of a [`ring`](Self::ring): positions in its second round are numbers of 32 bits.
    pub(crate) const RING_BITS: u64 = 1 << 31;

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
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt")
        {
            return Some(Self::Avx512);
        }
        None
    }

    /// Whether bits among the first `bits` of `words` are set: in each lane the one at the part of `bits` that `state`, times
    /// the lane's factor modulo 2⁶⁴, is of 2⁶⁴, rounded down.
    ///
    /// # Panics
    /// If there are fewer words than hold `bits` bits, or none.
    #[inline(always)]
    pub(crate) fn scaled(self, words: &[[u8; 8]], bits: u32, state: u64, factors: &[u64; LANES], lanes: Lanes) -> bool {
        assert!(words.len() > (bits.wrapping_sub(1) / 64) as usize, "a table beyond its words");
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (state, factors, lanes);
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` says that the instructions exist, and the rest is asserted.
            Self::Avx512 => unsafe { scaled(words.as_ptr(), bits, state, factors, lanes) == 0 },
        }
    }

    /// The same of bits of a window, which begins at the ring's bit `start`. Bits beyond the ring's second round are not set.
    ///
    /// # Panics
    /// If there are fewer words than hold the ring.
    #[inline(always)]
    pub(crate) fn ring(
        self,
        words: &[[u8; 8]],
        (windows, start): (&Windows, u32),
        state: u64,
        factors: &[u64; LANES],
        lanes: Lanes,
    ) -> bool {
        assert!(windows.ring.div_ceil(64) as usize <= words.len(), "a ring beyond its words");
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (start, state, factors, lanes);
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` says that the instructions exist, and the rest is asserted.
            Self::Avx512 => unsafe { ring(words.as_ptr(), windows, start, state, factors, lanes) == 0 },
        }
    }

    /// The same of the bits at all `offsets` behind the ring's bit `start`.
    ///
    /// # Panics
    /// If there are fewer words than hold the ring, or more offsets than [`LANES`].
    #[inline(always)]
    pub(crate) fn ring_at(self, words: &[[u8; 8]], (ring, start): (u32, u32), offsets: &[u32]) -> bool {
        assert!(ring.div_ceil(64) as usize <= words.len(), "a ring beyond its words");
        assert!(offsets.len() <= LANES, "more offsets than lanes");
        #[cfg(not(target_arch = "x86_64"))]
        let _ = start;
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` says that the instructions exist, and the rest is asserted.
            Self::Avx512 => unsafe { ring_at(words.as_ptr(), ring, start, offsets) == 0 },
        }
    }
}

/// The lanes in which a bit of [`Gather::scaled`] is not set.
///
/// # Safety
/// There must be AVX-512F, VL and DQ, and at `words` at least one word, and as many as hold `bits` bits.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn scaled(words: *const [u8; 8], bits: u32, state: u64, factors: &[u64; LANES], lanes: Lanes) -> u32 {
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
            bits = in(reg) u64::from(bits),
            lanes = in(reg) u32::from(lanes.mask),
            words = in(reg) words,
            one = sym ONE,
            missing = lateout(reg) missing,
            out("xmm16") _, out("xmm17") _, out("xmm18") _, out("k1") _, out("k2") _,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    missing
}

/// The lanes in which a bit of [`Gather::ring`] is not set, or beyond the ring.
///
/// # Safety
/// There must be AVX-512F, VL and DQ, and at `words` as many words as hold the ring.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn ring(
    words: *const [u8; 8],
    windows: &Windows,
    start: u32,
    state: u64,
    factors: &[u64; LANES],
    lanes: Lanes,
) -> u32 {
    let missing: u32;
    // SAFETY: the caller sees to the instructions. Of the words those are read that have a position below the ring's bits.
    // Registers above the first 16 need not be cleared for instructions of SSE.
    unsafe {
        asm!(
            "vpbroadcastq zmm16, {state}",
            "vpmullq zmm16, zmm16, zmmword ptr [{factors}]",
            // As in `scaled`; of a length only the lower 32 bits count.
            "vpmuludq zmm18, zmm16, qword ptr [{windows} + {length}] {{1to8}}",
            "vpsrlq zmm16, zmm16, 32",
            "vpmuludq zmm16, zmm16, qword ptr [{windows} + {length}] {{1to8}}",
            "vpsrlq zmm18, zmm18, 32",
            "vpaddq zmm16, zmm16, zmm18",
            "vpsrlq zmm16, zmm16, 32",
            "vpmovqd ymm16, zmm16",
            // Around the ring.
            "vpbroadcastd ymm17, {start:e}",
            "vpaddd ymm16, ymm16, ymm17",
            "vpsubd ymm18, ymm16, dword ptr [{windows} + {ring}] {{1to8}}",
            "vpminud ymm16, ymm16, ymm18",
            "kmovb k1, {lanes:e}",
            "vpcmpltud k2 {{k1}}, ymm16, dword ptr [{windows} + {ring}] {{1to8}}",
            "vpsrld ymm17, ymm16, 5",
            "vpxord ymm18, ymm18, ymm18",
            "vpgatherdd ymm18 {{k2}}, dword ptr [{words} + 4 * ymm17]",
            "vprorvd ymm18, ymm18, ymm16",
            "vptestnmd k2 {{k1}}, ymm18, dword ptr [rip + {one}] {{1to8}}",
            "kmovb {missing:e}, k2",
            state = in(reg) state,
            factors = in(reg) factors,
            windows = in(reg) windows,
            length = const std::mem::offset_of!(Windows, length),
            ring = const std::mem::offset_of!(Windows, ring),
            start = in(reg) start,
            lanes = in(reg) u32::from(lanes.mask),
            words = in(reg) words,
            one = sym ONE,
            missing = lateout(reg) missing,
            out("xmm16") _, out("xmm17") _, out("xmm18") _, out("k1") _, out("k2") _,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    missing
}

/// The lanes in which a bit of [`Gather::ring_at`] is not set, or beyond the ring.
///
/// # Safety
/// There must be AVX-512F, VL and DQ, at most [`LANES`] offsets, and at `words` as many words as hold the ring.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn ring_at(words: *const [u8; 8], ring: u32, start: u32, offsets: &[u32]) -> u32 {
    let missing: u32;
    // SAFETY: the caller sees to the instructions. Of the offsets those are read that there are, and of the words those that
    // have a position below the ring's bits. Registers above the first 16 need not be cleared for instructions of SSE.
    unsafe {
        asm!(
            "kmovb k1, {lanes:e}",
            "vmovdqu32 ymm16 {{k1}} {{z}}, ymmword ptr [{offsets}]",
            "vpbroadcastd ymm17, {start:e}",
            "vpaddd ymm16, ymm16, ymm17",
            "vpbroadcastd ymm17, {ring:e}",
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
            ring = in(reg) ring,
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
                let start = (random() % bits as u64) as u32;
                let length = match round % 7 {
                    0 => bits as u32,
                    1 => random() as u32,
                    _ => (random() % bits as u64) as u32 + 1,
                };
                let (state, factors) = (random(), std::array::from_fn(|i| if i == 0 { 1 } else { random() }));
                let count = round % (LANES + 1);
                let expected = factors[..count].iter().all(|&factor: &u64| {
                    let product = u128::from(state.wrapping_mul(factor)) * u128::from(length);
                    let position = start.wrapping_add((product >> 64) as u32) as usize;
                    let position = if position < bits { position } else { position - bits };
                    position < bits && is_set(&words, position)
                });
                let windows = Windows { length, ring: bits as u32 };
                let lanes = Lanes::first(count as u32);
                let context = format!("{windows:?} {start}, {state:#x}, {factors:x?}, {count}");
                assert_eq!(gather.ring(&words, (&windows, start), state, &factors, lanes), expected, "{context}");
                found += usize::from(expected);
            }
        }
        let all = SIZES.len() * ROUNDS;
        assert!((all / 2..all).contains(&found), "{found} of {all} have all bits");
    }

    #[test]
    fn bits_at_offsets_at_once_are_those_one_by_one() {
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
                assert_eq!(
                    gather.ring_at(&words, (bits as u32, start as u32), &offsets),
                    expected,
                    "{bits}, {start}, {offsets:?}"
                );
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
                let lanes = Lanes::first(count as u32);
                assert_eq!(gather.scaled(&words, bits as u32, state, &factors, lanes), expected, "{context}");
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
        let lanes = Lanes::first(3);
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
            assert_eq!(gather.scaled(words, u32::MAX, state, &[1; LANES], lanes), set, "{position}");
        }
        // The last bit of the largest ring, and those of its second round.
        for (offset, set) in [(0, true), (1, true), (78, true), (79, false), (2, false)] {
            let window = (&Windows { length: 1 << 31, ring: 1 << 31 }, (1 << 31) - 1);
            assert_eq!(gather.ring(words, window, offset << 33, &[1; LANES], lanes), set, "{offset}");
            assert_eq!(gather.ring_at(words, (1 << 31, (1 << 31) - 1), &[offset as u32; 2]), set, "{offset}");
        }
        let table = words;
        for (words, bits) in [(1, 65), (1 << 23, 0), (0, 0)] {
            let beyond = std::panic::catch_unwind(|| gather.scaled(&table[..words], bits, 0, &[1; LANES], lanes));
            assert!(beyond.is_err(), "{bits} bits in {words} words");
        }
        let window = (&Windows { length: 1, ring: 65 }, 0);
        let beyond = std::panic::catch_unwind(|| gather.ring(&words[..1], window, 0, &[1; LANES], lanes));
        assert!(beyond.is_err(), "a ring of 65 bits in a word");
        for (ring, offsets) in [(65, 1), (64, 9)] {
            let beyond = std::panic::catch_unwind(|| gather.ring_at(&words[..1], (ring, 0), &[0; 9][..offsets]));
            assert!(beyond.is_err(), "{offsets} offsets in a ring of {ring} bits in a word");
        }
        assert!(std::panic::catch_unwind(|| Lanes::first(9)).is_err(), "nine of eight lanes");
    }
}
