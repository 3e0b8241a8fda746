//! Vector code for the best instruction set that is found at run time. Its results equal those of the portable version
//! bit for bit.
//!
//! Every operation is one function here, or a method of [`Cpu`], that selects a version at run time: `x86_64` holds the
//! vector versions and `generic` the portable ones. Besides the kernels of the filters and the memory map, this folder
//! is the only place where `unsafe` is allowed.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "vector instructions are called after their presence was checked")
)]

mod cpu;
mod generic;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub(crate) use cpu::{Cpu, Level};

/// Appends to `out` the ascending positions in `haystack` that hold `byte`. `haystack` must be shorter than 4 GiB.
pub(crate) fn byte_positions(cpu: Cpu, haystack: &[u8], byte: u8, out: &mut Vec<u32>) {
    debug_assert!(u32::try_from(haystack.len()).is_ok());
    match cpu.level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level says that the instructions exist.
        Level::V4 => unsafe { x86_64::byte_positions_v4(haystack, byte, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level says that the instructions exist.
        Level::V3 => unsafe { x86_64::byte_positions_v3(haystack, byte, out) },
        Level::Portable => generic::byte_positions(haystack, byte, out),
    }
}

/// The position of the zero with `rank` zeros before it, in a bit string of little-endian words; `None` if there is
/// none.
#[inline]
pub(crate) fn select_zero(cpu: Cpu, words: &[[u8; 8]], rank: u64) -> Option<usize> {
    match cpu.level() {
        Level::Portable => generic::select_zero(words, rank),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the levels above the portable one say that the instructions exist.
        _ => unsafe { x86_64::select_zero_v3(words, rank) },
    }
}

/// Decodes a string of unary numbers into `numbers`: the i-th one-bit, at position p, stands for `base` + p - i.
/// Returns false if the string does not have exactly `numbers.len()` numbers.
#[inline]
pub(crate) fn unary_numbers(cpu: Cpu, words: &[[u8; 8]], base: u64, numbers: &mut [u64]) -> bool {
    match cpu.level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level says that the instructions exist.
        Level::V4 => unsafe { x86_64::unary_numbers_v4(words, base, numbers) },
        _ => generic::unary_numbers(words, base, numbers),
    }
}

/// Shifts every value left by `bits` bits (at most 56), and sets its low bits to the packed number with the same index.
#[inline]
pub(crate) fn append_packed(cpu: Cpu, packed: &[u8], bits: u32, values: &mut [u64]) {
    let groups = match cpu.level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level says that the instructions exist.
        Level::V4 => unsafe { x86_64::append_packed_v4(packed, bits, values) },
        _ => 0,
    };
    generic::append_packed(&packed[groups * bits as usize..], bits, &mut values[groups * 8..]);
}

/// Prefetches the cache line of `item`, which will be read soon.
#[inline(always)]
pub(crate) fn prefetch<T>(item: &T) {
    #[cfg(target_arch = "x86_64")]
    x86_64::prefetch(item);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}

/// Prefetches the cache line `at` bytes after the start of `items`, which will be read soon. Positions beyond the end
/// of `items` are harmless.
#[inline(always)]
pub(crate) fn prefetch_at<T>(items: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    x86_64::prefetch_at(items, at);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, at);
}

/// Subtracts 1 from every 2-bit counter of `words`, except from those that are 0.
///
/// Cost: from a few kilobytes on, only the bandwidth of the memory limits the speed.
#[inline]
pub(crate) fn decrement_2bit(cpu: Cpu, words: &mut [[u8; 8]]) {
    // A stable Bloom filter decrements two or three words per insertion, too few for a vector to pay off.
    #[cfg(target_arch = "x86_64")]
    const WORTH_A_VECTOR: usize = 8;
    match cpu.level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level says that the instructions exist.
        Level::V4 if words.len() >= WORTH_A_VECTOR => unsafe { x86_64::decrement_2bit_v4(words) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level says that the instructions exist.
        Level::V3 if words.len() >= WORTH_A_VECTOR => unsafe { x86_64::decrement_2bit_v3(words) },
        _ => generic::decrement_2bit(words),
    }
}

/// Prefetches the cache line of `items[index]`, which will be changed soon; does nothing if there is no such item.
#[inline]
pub(crate) fn prefetch_for_write<T>(items: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    x86_64::prefetch_for_write(items, index);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, index);
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::*;
    use crate::bits::testing::fresh_random;

    #[test]
    fn every_decrement_of_2_bit_counters_equals_the_portable_one_at_every_length() {
        let words: Vec<[u8; 8]> = (1..100u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes()).collect();
        for start in 0..9 {
            for end in start..words.len() {
                let mut expected = words.clone();
                generic::decrement_2bit(&mut expected[start..end]);
                for cpu in Cpu::all() {
                    let mut decremented = words.clone();
                    decrement_2bit(cpu, &mut decremented[start..end]);
                    assert_eq!(decremented, expected, "{cpu:?}");
                }
            }
        }
    }

    #[test]
    fn byte_positions_equal_the_naive_scan_at_every_length_and_alignment() {
        let bytes: Vec<u8> = (0..1000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 29) as u8).collect();
        for start in 0..70 {
            for end in (start..bytes.len()).step_by(13) {
                let slice = &bytes[start..end];
                let naive: Vec<u32> =
                    slice.iter().enumerate().filter(|&(_, &b)| b == 3).map(|(i, _)| i as u32).collect();
                for cpu in Cpu::all() {
                    let mut positions = vec![];
                    byte_positions(cpu, slice, 3, &mut positions);
                    assert_eq!(positions, naive, "{cpu:?}");
                }
            }
        }
    }

    #[test]
    fn select_zero_equals_the_naive_scan_at_every_rank() {
        for density in 0..4u32 {
            let words: Vec<[u8; 8]> = (1..20u64)
                .map(|i| {
                    let word = i.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(i as u32);
                    [word, word & word >> 7, word | word >> 7, if i % 3 == 0 { 0 } else { u64::MAX }][density as usize]
                })
                .map(u64::to_le_bytes)
                .collect();
            let zeros = (0..words.len() * 64).filter(|i| words[i / 64][i % 64 / 8] >> (i % 8) & 1 == 0);
            let naive: Vec<usize> = zeros.collect();
            for rank in 0..naive.len() as u64 + 70 {
                for cpu in Cpu::all() {
                    assert_eq!(select_zero(cpu, &words, rank), naive.get(rank as usize).copied(), "{cpu:?}");
                }
            }
        }
    }

    #[test]
    fn unary_numbers_equal_the_portable_ones_at_every_length() {
        for density in 0..4u32 {
            let words: Vec<[u8; 8]> = (1..12u64)
                .map(|i| {
                    let word = i.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(i as u32);
                    [word, word & word >> 7, word | word >> 7, if i % 3 == 0 { 0 } else { u64::MAX }][density as usize]
                })
                .map(u64::to_le_bytes)
                .collect();
            for words in (0..words.len()).map(|len| &words[..len]) {
                let ones = words.iter().flatten().map(|byte| byte.count_ones() as usize).sum::<usize>();
                for (cpu, base) in Cpu::all().into_iter().flat_map(|cpu| [0, 5, u64::MAX - 3].map(|base| (cpu, base))) {
                    let (mut numbers, mut portable) = (vec![0; ones], vec![0; ones]);
                    assert!(unary_numbers(cpu, words, base, &mut numbers));
                    assert!(generic::unary_numbers(words, base, &mut portable));
                    assert_eq!(numbers, portable, "{cpu:?}");
                    for wrong in [ones + 1, ones + 20].into_iter().chain(ones.checked_sub(1)) {
                        assert!(!unary_numbers(cpu, words, base, &mut vec![0; wrong]), "{cpu:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn packed_numbers_equal_the_portable_ones_at_every_width_and_length() {
        let bytes: Vec<u8> = (0..500u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        for bits in 1..=56u32 {
            for len in 0..70 {
                let packed = &bytes[..(len * bits as usize).div_ceil(8)];
                let values: Vec<u64> = (0..len as u64).map(|i| i * 0x0101).collect();
                let mut portable = values.clone();
                generic::append_packed(packed, bits, &mut portable);
                for cpu in Cpu::all() {
                    let mut appended = values.clone();
                    append_packed(cpu, packed, bits, &mut appended);
                    assert_eq!(appended, portable, "{cpu:?}");
                }
            }
        }
    }

    /// Returns the results of all functions for an input that is derived from `x`, so that the versions can be
    /// compared.
    fn answers(cpu: Cpu, words: &[[u8; 8]], x: u64) -> impl PartialEq + Debug {
        let below = |bit: u32, n: usize| (x >> bit) as usize % n;
        let (bytes, word) = (words.as_flattened(), u64::from_le_bytes(words[0]));
        let (block, byte) = (bytes.first_chunk().unwrap(), bytes[below(0, bytes.len())]);
        let mut prefix = bytes[..below(8, bytes.len() + 1)].to_vec();
        let changed = below(16, 2 * bytes.len());
        prefix.iter_mut().skip(changed).take(1).for_each(|byte| *byte ^= 0x40);
        let (mut positions, mut decremented) = (vec![], words.to_vec());
        byte_positions(cpu, bytes, byte, &mut positions);
        decrement_2bit(cpu, &mut decremented);
        let mut numbers = vec![0; bytes.iter().map(|byte| byte.count_ones() as usize).sum()];
        let all_numbers = unary_numbers(cpu, words, x, &mut numbers);
        let bits = 1 + below(24, 56);
        let mut values = vec![x; (bytes.len() * 8 / bits).min(64)];
        append_packed(cpu, bytes, bits as u32, &mut values);
        let zero = select_zero(cpu, words, below(32, 64 * words.len()) as u64);
        let short = cpu.run(|cpu| {
            let sum = cpu.sum_7bit(bytes, below(40, 65));
            (cpu.positions(block, byte), cpu.starts_with(bytes, &prefix), sum)
        });
        let one = (cpu.select(word, below(48, 64) as u32), cpu.count_ones(word));
        (positions, decremented, numbers, all_numbers, values, zero, short, one)
    }

    #[test]
    fn every_set_of_instructions_answers_many_inputs_as_the_portable_code_does() {
        let mut random = fresh_random();
        for i in 0..100_000 {
            let mask = [u64::MAX, 0x0303_0303_0303_0303, random() & random(), random() | random()][i % 4];
            let words: Vec<[u8; 8]> = (0..9 + i % 9).map(|_| (random() & mask).to_le_bytes()).collect();
            let (x, levels) = (random(), Cpu::all());
            let portable = answers(levels[0], &words, x);
            for &cpu in &levels[1..] {
                assert!(answers(cpu, &words, x) == portable, "{cpu:?}: {words:x?}, {x:#x}");
            }
        }
    }
}
