//! Portable twins of the vector code.

/// Eight bytes a step: a zero byte of `word ^ pattern` is a match.
pub(super) fn byte_positions(haystack: &[u8], byte: u8, out: &mut Vec<u32>) {
    const LOW7: u64 = 0x7F7F_7F7F_7F7F_7F7F;
    let pattern = u64::from_le_bytes([byte; 8]);
    let (words, tail) = haystack.as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        let x = u64::from_le_bytes(*word) ^ pattern;
        // The exact zero-byte test: no carry crosses a byte, so neighbours of a match are not mistaken for one.
        let mut zeros = !(((x & LOW7) + LOW7) | x | LOW7);
        while zeros != 0 {
            out.push(i as u32 * 8 + zeros.trailing_zeros() / 8);
            zeros &= zeros - 1;
        }
    }
    let base = words.len() * 8;
    out.extend(tail.iter().enumerate().filter(|&(_, &b)| b == byte).map(|(i, _)| (base + i) as u32));
}

/// Thirty-two counters a step: a 2-bit counter has something to lose if either of its bits is set.
#[inline]
pub(super) fn decrement_2bit(words: &mut [u64]) {
    for word in words {
        *word -= (*word | *word >> 1) & 0x5555_5555_5555_5555;
    }
}
