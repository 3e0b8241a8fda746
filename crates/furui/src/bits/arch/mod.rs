//! Vector code for the best instruction set that is found at run time. Its results equal those of a portable twin bit
//! for bit.
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
pub(crate) fn byte_positions(haystack: &[u8], byte: u8, out: &mut Vec<u32>) {
    debug_assert!(u32::try_from(haystack.len()).is_ok());
    match Cpu::detect().level() {
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
pub(crate) fn select_zero(words: &[[u8; 8]], rank: u64) -> Option<usize> {
    match Cpu::detect().level() {
        Level::Portable => generic::select_zero(words, rank),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the levels above the portable one say that the instructions exist.
        _ => unsafe { x86_64::select_zero_v3(words, rank) },
    }
}

/// Decodes a string of unary numbers into `numbers`: the i-th one-bit, at position p, stands for `base` + p - i.
/// Returns false if the string does not have exactly `numbers.len()` numbers.
#[inline]
pub(crate) fn unary_numbers(words: &[[u8; 8]], base: u64, numbers: &mut [u64]) -> bool {
    match Cpu::detect().level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level says that the instructions exist.
        Level::V4 => unsafe { x86_64::unary_numbers_v4(words, base, numbers) },
        _ => generic::unary_numbers(words, base, numbers),
    }
}

/// Shifts every value left by `bits` bits (at most 56), and sets its low bits to the packed number with the same index.
#[inline]
pub(crate) fn append_packed(packed: &[u8], bits: u32, values: &mut [u64]) {
    let groups = match Cpu::detect().level() {
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
    use super::*;

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
                let (mut vector, mut portable) = (vec![], vec![]);
                byte_positions(slice, 3, &mut vector);
                generic::byte_positions(slice, 3, &mut portable);
                assert_eq!(vector, naive);
                assert_eq!(portable, naive);
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
                let expected = naive.get(rank as usize).copied();
                assert_eq!(select_zero(&words, rank), expected);
                assert_eq!(generic::select_zero(&words, rank), expected);
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
                for base in [0, 5, u64::MAX - 3] {
                    let (mut vector, mut portable) = (vec![0; ones], vec![0; ones]);
                    assert!(unary_numbers(words, base, &mut vector));
                    assert!(generic::unary_numbers(words, base, &mut portable));
                    assert_eq!(vector, portable);
                }
                for wrong in [ones + 1, ones + 20].into_iter().chain(ones.checked_sub(1)) {
                    assert!(!unary_numbers(words, 0, &mut vec![0; wrong]));
                    assert!(!generic::unary_numbers(words, 0, &mut vec![0; wrong]));
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
                let (mut vector, mut portable) = (values.clone(), values);
                append_packed(packed, bits, &mut vector);
                generic::append_packed(packed, bits, &mut portable);
                assert_eq!(vector, portable);
            }
        }
    }
}
