use super::arch::{self, Cpu};

/// Replaces the contents of `out` by the positions in `haystack` that hold `byte`, in ascending order.
///
/// This function finds the ends of lines of text. One pass over all of `haystack`, 64 bytes a step, is faster than a
/// search from the start of each line for its end. Cost: about 0.05 ns a byte with AVX-512 or AVX2.
///
/// # Panics
/// If `haystack` has 4 GiB or more.
pub fn byte_positions(haystack: &[u8], byte: u8, out: &mut Vec<u32>) {
    assert!(u32::try_from(haystack.len()).is_ok(), "blocks are shorter than 4 GiB");
    out.clear();
    arch::byte_positions(Cpu::detect(), haystack, byte, out);
}

/// The position just after the `zeros`-th zero of a bit string of little-endian words; 0 if `zeros` is 0, and `None` if
/// there are fewer zeros. In a string of unary numbers, the one-bits of number `zeros` begin there.
///
/// This is select0 by a linear scan, with one popcount a word: meant for the 30 or so words of a page, not for more.
#[inline]
pub(crate) fn unary_position(words: &[[u8; 8]], zeros: u64) -> Option<usize> {
    match zeros.checked_sub(1) {
        Some(rank) => arch::select_zero(Cpu::detect(), words, rank).map(|position| position + 1),
        None => Some(0),
    }
}

/// Decodes a string of unary numbers into `numbers`: the i-th one-bit, at position p, stands for `base` + p − i. False
/// if the string does not have exactly `numbers.len()` numbers; the contents of `numbers` are then unspecified.
pub(crate) fn unary_numbers(words: &[[u8; 8]], base: u64, numbers: &mut [u64]) -> bool {
    arch::unary_numbers(Cpu::detect(), words, base, numbers)
}
