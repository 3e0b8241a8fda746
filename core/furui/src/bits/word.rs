//! Operations on one 64-bit word. Bits are numbered from the least significant one.

/// A mask of the `n` lowest bits; all 64 if `n` is 64.
#[inline(always)]
pub(crate) const fn low_bits(n: u32) -> u64 {
    if n < 64 { (1 << n) - 1 } else { u64::MAX }
}

/// The bit of `words` at `position`, as 0 or 1.
#[inline(always)]
pub(crate) fn bit(words: &[[u8; 8]], position: usize) -> u64 {
    u64::from_le_bytes(words[position / 64]) >> (position % 64) & 1
}

/// Maps a uniform 64-bit number to 0..n by ⌊random · n / 2⁶⁴⌋, which keeps the order.
#[inline(always)]
pub(crate) const fn scale(random: u64, n: usize) -> usize {
    ((random as u128 * n as u128) >> 64) as usize
}

/// The division of a word into equal lanes, all of which are compared with a value in a few instructions (SWAR).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes {
    width: u32,
    count: u32,
    /// A mask of the lowest bit of every lane.
    ones: u64,
    /// A mask of the highest bit of every lane.
    tops: u64,
}

impl Lanes {
    /// Divides the `bits` lowest bits of a word into as many lanes of `width` bits as fit. `bits` must be below 64.
    pub(crate) fn new(width: u32, bits: u32) -> Self {
        let count = bits / width;
        debug_assert!(bits < 64);
        let ones = (0..count).fold(0, |ones, lane| ones | 1 << (lane * width));
        Self { width, count, ones, tops: ones << (width - 1) }
    }

    /// The number of lanes into which a word is divided.
    #[inline(always)]
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// True if the first lane of `one` or of `other` holds `value`, without a branch between the two tests. Lookups
    /// call this method if a word has room for only one lane; words with more lanes are tested by
    /// [`any_equal`](Self::any_equal).
    #[inline(always)]
    pub(crate) fn either_equal(&self, one: u64, other: u64, value: u64) -> bool {
        // Lanes are narrower than words, so subtracting 1 sets the highest bit only if the difference is 0.
        let borrows = |word: u64| ((word ^ value) & !(u64::MAX << self.width)).wrapping_sub(1);
        (borrows(one) | borrows(other)) >> 63 != 0
    }

    /// True if any of the first `lanes` lanes of `word` holds `value`. Bits above the lanes are ignored.
    ///
    /// The zero-lane test `(x - 1) & !x` can err only in lanes above a true zero lane, because of a borrow from that
    /// lane, so the answer to "any lane" is exact.
    #[inline(always)]
    pub(crate) fn any_equal(&self, word: u64, value: u64, lanes: u32) -> bool {
        let x = word ^ value.wrapping_mul(self.ones);
        let zeros = x.wrapping_sub(self.ones) & !x & self.tops;
        zeros & !(u64::MAX << (lanes * self.width)) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_equal_compares_each_lane_and_nothing_else() {
        for width in 1..=57 {
            let lanes = Lanes::new(width, 57);
            let mut word = 0x1234_5678_9ABC_DEF1_u64;
            for _ in 0..300 {
                word = word.rotate_left(17).wrapping_mul(0xD129_0DAC_6E5A_42B5).wrapping_add(1);
                let sparse = word & word.rotate_left(9) & word.rotate_left(31);
                for word in [word, sparse, !sparse] {
                    let held: Vec<u64> = (0..lanes.count()).map(|i| word >> (i * width) & low_bits(width)).collect();
                    for value in held.iter().flat_map(|&v| [v, v ^ 1]).chain([0, low_bits(width)]) {
                        for n in 0..=lanes.count() {
                            let expected = held[..n as usize].contains(&value);
                            assert_eq!(lanes.any_equal(word, value, n), expected, "{width} {word:#x} {value:#x} {n}");
                        }
                        let other = word.rotate_left(29);
                        let expected = [held[0], other & low_bits(width)].contains(&value);
                        assert_eq!(lanes.either_equal(word, other, value), expected, "{width} {word:#x} {value:#x}");
                        assert_eq!(lanes.either_equal(other, word, value), expected, "{width} {word:#x} {value:#x}");
                    }
                }
            }
        }
    }
}
