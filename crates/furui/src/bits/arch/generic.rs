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

/// See [`super::select_zero`].
pub(super) fn select_zero(words: &[[u8; 8]], rank: u64) -> Option<usize> {
    select_zero_by(words, rank, select)
}

/// The scan of all versions; they differ in how a one is found within its word.
#[inline(always)]
pub(super) fn select_zero_by(words: &[[u8; 8]], mut rank: u64, select: impl Fn(u64, u32) -> u32) -> Option<usize> {
    for (i, word) in words.iter().enumerate() {
        let zeros = !u64::from_le_bytes(*word);
        let count = u64::from(zeros.count_ones());
        if rank < count {
            return Some(i * 64 + select(zeros, rank as u32) as usize);
        }
        rank -= count;
    }
    None
}

/// The position of the one-bit that has `rank` ones before it, which exists: by bytes, then by bits.
fn select(mut word: u64, mut rank: u32) -> u32 {
    let mut position = 0;
    loop {
        let ones = (word as u8).count_ones();
        if rank < ones {
            break;
        }
        rank -= ones;
        word >>= 8;
        position += 8;
    }
    for _ in 0..rank {
        word &= word - 1;
    }
    position + word.trailing_zeros()
}

/// Thirty-two counters a step: a 2-bit counter has something to lose if either of its bits is set.
#[inline]
pub(super) fn decrement_2bit(words: &mut [u64]) {
    for word in words {
        *word -= (*word | *word >> 1) & 0x5555_5555_5555_5555;
    }
}
