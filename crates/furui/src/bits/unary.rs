/// The position just behind the `zeros`-th zero of a bit string, given as little-endian words: where, in a string of
/// unary numbers, the one-bits of number `zeros` begin. Zero zeros are behind nothing: position 0. `None` if there are
/// not that many.
///
/// This is select0 by a scan: one popcount a word, meant for the some 30 words of a page, not for more.
#[inline]
pub fn unary_position(words: &[[u8; 8]], zeros: u64) -> Option<usize> {
    let Some(mut rank) = zeros.checked_sub(1) else { return Some(0) };
    for (i, word) in words.iter().enumerate() {
        let mut word = !u64::from_le_bytes(*word);
        let here = u64::from(word.count_ones());
        if rank < here {
            for _ in 0..rank {
                word &= word - 1;
            }
            return Some(i * 64 + word.trailing_zeros() as usize + 1);
        }
        rank -= here;
    }
    None
}
