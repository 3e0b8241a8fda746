//! Portable versions of the vector code.

/// Calls `f`. This function is not inlined, so that callers do not save registers for `f` on the paths that run vector
/// code instead.
#[inline(never)]
pub(super) fn run<R>(f: impl FnOnce() -> R) -> R {
    f()
}

/// The portable version of [`super::byte_positions`], eight bytes a step: a zero byte of `word ^ pattern` is a match.
pub(super) fn byte_positions(haystack: &[u8], byte: u8, out: &mut Vec<u32>) {
    const LOW7: u64 = 0x7F7F_7F7F_7F7F_7F7F;
    let pattern = u64::from_le_bytes([byte; 8]);
    let (words, tail) = haystack.as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        let x = u64::from_le_bytes(*word) ^ pattern;
        // This is the exact zero-byte test: no carry crosses a byte boundary, so a neighbour of a match is not mistaken
        // for a match.
        let mut zeros = !(((x & LOW7) + LOW7) | x | LOW7);
        while zeros != 0 {
            out.push(i as u32 * 8 + zeros.trailing_zeros() / 8);
            zeros &= zeros - 1;
        }
    }
    let base = words.len() * 8;
    out.extend(tail.iter().enumerate().filter(|&(_, &b)| b == byte).map(|(i, _)| (base + i) as u32));
}

/// The portable version of [`super::decrement_2bit`], 32 counters a step: a counter is above 0 if either bit is set.
#[inline]
pub(super) fn decrement_2bit(words: &mut [[u8; 8]]) {
    for bytes in words {
        let word = u64::from_le_bytes(*bytes);
        *bytes = (word - ((word | word >> 1) & 0x5555_5555_5555_5555)).to_le_bytes();
    }
}

/// The portable version of [`super::select_zero`], which finds the zero of a given rank in a bit string.
pub(super) fn select_zero(words: &[[u8; 8]], rank: u64) -> Option<usize> {
    select_zero_by(words, rank, select)
}

/// The scan that all versions of [`super::select_zero`] share; they differ in how `select` finds a one in a word.
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

/// The position of the `n`-th one of `word`, counted from 0; 64 if `word` has at most `n` ones.
///
/// The ones of each byte and of all bytes before it are counted in parallel, and all these sums are compared with `n`
/// in one step. The `n`-th one is then searched only in the byte that contains it (Vigna, "Broadword implementation of
/// rank/select queries", 2008; here the last step is a loop).
#[inline]
pub(super) fn select(word: u64, n: u32) -> u32 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = ONES << 7;
    let pairs = word - ((word >> 1) & 0x5555_5555_5555_5555);
    let nibbles = (pairs & 0x3333_3333_3333_3333) + ((pairs >> 2) & 0x3333_3333_3333_3333);
    // Byte i is the number of ones in bytes 0..=i, at most 64.
    let sums = ((nibbles + (nibbles >> 4)) & 0x0F0F_0F0F_0F0F_0F0F).wrapping_mul(ONES);
    if n >= (sums >> 56) as u32 {
        return 64;
    }
    // Count the bytes that end before the n-th one-bit: their sums are at most n.
    let before = (((u64::from(n) * ONES) | TOPS) - sums) & TOPS;
    let shift = before.count_ones() * 8;
    let mut byte = word >> shift;
    for _ in 0..n - ((sums << 8) >> shift) as u32 % 256 {
        byte &= byte - 1;
    }
    shift + byte.trailing_zeros()
}

/// The portable version of [`super::unary_numbers`], which decodes a string of unary numbers.
pub(super) fn unary_numbers(words: &[[u8; 8]], base: u64, numbers: &mut [u64]) -> bool {
    let mut i = 0;
    for (w, word) in words.iter().enumerate() {
        let mut word = u64::from_le_bytes(*word);
        let start = base.wrapping_add(w as u64 * 64);
        while word != 0 {
            let Some(number) = numbers.get_mut(i) else { return false };
            *number = start.wrapping_add(u64::from(word.trailing_zeros())).wrapping_sub(i as u64);
            word &= word - 1;
            i += 1;
        }
    }
    i == numbers.len()
}

/// The portable version of [`super::append_packed`], which unpacks numbers of a few bits.
pub(super) fn append_packed(packed: &[u8], bits: u32, values: &mut [u64]) {
    let mut rest = packed;
    for group in values.chunks_mut(8) {
        if let Some(room) = rest.first_chunk() {
            append_group(room, bits, group);
        } else {
            let mut room = [0; 64];
            let len = rest.len().min(64);
            room[..len].copy_from_slice(&rest[..len]);
            append_group(&room, bits, group);
        }
        rest = rest.get(bits as usize..).unwrap_or(&[]);
    }
}

/// Appends packed numbers to a group of at most eight values, loading eight bytes for each. If each number has at most
/// 56 bits, the numbers of the group fit in `room`.
#[inline(always)]
fn append_group(room: &[u8; 64], bits: u32, group: &mut [u64]) {
    assert!(bits <= 56 && group.len() <= 8, "lets the compiler see that every load is inside the room");
    let bits = bits as usize;
    for (j, value) in group.iter_mut().enumerate() {
        let bit = j * bits;
        let word = room[bit / 8..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        *value = *value << bits | word >> (bit % 8) & ((1 << bits) - 1);
    }
}

/// The portable version of [`super::Cpu::positions`]: finds the zero bytes of eight bytes at a time, and gathers their
/// top bits by a multiplication.
#[inline(always)]
pub(super) fn positions(bytes: &[u8; 64], byte: u8) -> u64 {
    const LOW7: u64 = 0x7F7F_7F7F_7F7F_7F7F;
    let pattern = u64::from_le_bytes([byte; 8]);
    let mut mask = 0;
    for (i, word) in bytes.as_chunks::<8>().0.iter().enumerate() {
        let x = u64::from_le_bytes(*word) ^ pattern;
        let zeros = !(((x & LOW7) + LOW7) | x | LOW7);
        mask |= (zeros >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56 << (8 * i);
    }
    mask
}

/// The portable version of [`super::Cpu::starts_with`]. The last comparison overlaps the one before it, which saves a
/// loop over the last bytes.
#[inline(always)]
pub(super) fn starts_with(text: &[u8], prefix: &[u8]) -> bool {
    let Some(text) = text.get(..prefix.len()) else { return false };
    if let (Some(a), Some(b)) = (text.last_chunk::<8>(), prefix.last_chunk::<8>()) {
        let words = text.as_chunks::<8>().0.iter().zip(prefix.as_chunks::<8>().0);
        return a == b && words.into_iter().all(|(a, b)| a == b);
    }
    if let (Some(a), Some(b)) = (text.last_chunk::<4>(), prefix.last_chunk::<4>()) {
        return a == b && text.first_chunk::<4>() == prefix.first_chunk::<4>();
    }
    text.iter().zip(prefix).all(|(a, b)| a == b)
}

/// The portable version of [`super::Cpu::sum_7bit`]: the sum of the low 7 bits of each byte.
#[inline(always)]
pub(super) fn sum_7bit(bytes: &[u8]) -> u32 {
    bytes.iter().map(|&byte| u32::from(byte & 0x7F)).sum()
}
