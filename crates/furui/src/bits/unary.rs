use super::arch;

/// The position just behind the `zeros`-th zero of a bit string, given as little-endian words: where, in a string of
/// unary numbers, the one-bits of number `zeros` begin. Zero zeros are behind nothing: position 0. `None` if there are
/// not that many.
///
/// This is select0 by a scan: one popcount a word, meant for the some 30 words of a page, not for more.
#[inline]
pub fn unary_position(words: &[[u8; 8]], zeros: u64) -> Option<usize> {
    match zeros.checked_sub(1) {
        Some(rank) => arch::select_zero(words, rank).map(|position| position + 1),
        None => Some(0),
    }
}

/// The numbers of a string of unary numbers: the i-th one-bit, at position p, stands for `base` + p − i. False if the
/// string has more of them than `numbers`, or fewer; what `numbers` holds is unspecified then.
pub fn unary_numbers(words: &[[u8; 8]], base: u64, numbers: &mut [u64]) -> bool {
    arch::unary_numbers(words, base, numbers)
}
