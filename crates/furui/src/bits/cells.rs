use std::collections::TryReserveError;

use super::arch;

/// An array of saturating counters of 1, 2, 4 or 8 bits, packed into words: 64, 32, 16 or 8 to a word.
///
/// ```text
///   bits = 2      word 0                                word 1
///   cell        31  ...  2    1    0    |    63  ...  33   32
///             [ 00  ...  11   00   10 ] |  [ 01  ...  00   11 ]
/// ```
///
/// No cell straddles two words, so a read or a change of one cell touches one word, and a whole word's cells are
/// decremented together ([`decrement_range`](Self::decrement_range)). Cells past the end of the array are always 0.
///
/// Cost: `bits` a cell, rounded up to whole words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    words: Vec<u64>,
    len: usize,
    bits: u32,
}

impl Cells {
    /// `len` counters of `bits` bits, all 0.
    ///
    /// # Errors
    /// If there is not so much memory.
    ///
    /// # Panics
    /// If `bits` is not 1, 2, 4 or 8.
    pub fn new(len: usize, bits: u32) -> Result<Self, TryReserveError> {
        assert!(matches!(bits, 1 | 2 | 4 | 8), "cells have 1, 2, 4 or 8 bits, not {bits}");
        let words = len.div_ceil((64 / bits) as usize);
        // Only to ask: fresh zeros from the system are not touched before they are used, as filling would.
        Vec::<u64>::new().try_reserve_exact(words)?;
        Ok(Self { words: vec![0; words], len, bits })
    }

    /// How many counters there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there is no counter at all.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many bits a counter has.
    #[inline]
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The greatest value a counter can hold, 2^bits - 1.
    #[inline]
    pub fn max(&self) -> u8 {
        (u8::MAX as u32 >> (8 - self.bits)) as u8
    }

    /// The counter at `index`.
    ///
    /// # Panics
    /// This and the other methods that take an index panic if it is not below [`len`](Self::len) rounded up to
    /// whole words.
    #[inline]
    pub fn get(&self, index: usize) -> u8 {
        let (word, shift) = self.locate(index);
        (self.words[word] >> shift) as u8 & self.max()
    }

    /// Puts `value` at `index`; what is too large for a counter becomes the maximum.
    #[inline]
    pub fn set(&mut self, index: usize, value: u8) {
        let (word, shift) = self.locate(index);
        let max = self.max();
        let word = &mut self.words[word];
        *word = *word & !(u64::from(max) << shift) | u64::from(value.min(max)) << shift;
    }

    /// Asks for the memory of the counter at `index` ahead of a change, so that the change need not wait for it.
    #[inline]
    pub fn prefetch(&self, index: usize) {
        arch::prefetch_for_write(&self.words, self.locate(index).0);
    }

    /// Sets the counter at `index` to its maximum: one OR, whatever it held.
    #[inline]
    pub fn fill(&mut self, index: usize) {
        let (word, shift) = self.locate(index);
        self.words[word] |= u64::from(self.max()) << shift;
    }

    /// Adds 1 to the counter at `index`, unless it is at the maximum.
    #[inline]
    pub fn increment(&mut self, index: usize) {
        let below_max = u64::from(self.get(index) != self.max());
        let (word, shift) = self.locate(index);
        self.words[word] += below_max << shift;
    }

    /// Takes 1 from the counter at `index`, unless it is 0.
    #[inline]
    pub fn decrement(&mut self, index: usize) {
        let above_zero = u64::from(self.get(index) != 0);
        let (word, shift) = self.locate(index);
        self.words[word] -= above_zero << shift;
    }

    /// Takes 1 from each of the `count` counters from `start` on, unless it is 0: all of a word's counters in a
    /// handful of instructions, and 2-bit counters a vector at a time.
    ///
    /// # Panics
    /// If the range ends past the array.
    pub fn decrement_range(&mut self, start: usize, count: usize) {
        assert!(count <= self.len && start <= self.len - count, "the range ends past the array");
        if count == 0 {
            return;
        }
        let (first, low) = self.locate(start);
        let (last, high) = self.locate(start + count - 1);
        let from_start = u64::MAX << low;
        let to_end = u64::MAX >> (64 - self.bits - high);
        if first == last {
            self.decrement_masked(first, from_start & to_end);
            return;
        }
        self.decrement_masked(first, from_start);
        let between = &mut self.words[first + 1..last];
        if self.bits == 2 {
            arch::decrement_2bit(between);
        } else {
            for word in between {
                *word -= nonzero(*word, self.bits);
            }
        }
        self.decrement_masked(last, to_end);
    }

    /// How many counters are not 0. Cost: one pass over the array.
    pub fn count_nonzero(&self) -> usize {
        self.words.iter().map(|&word| nonzero(word, self.bits).count_ones() as usize).sum()
    }

    /// Decrements the cells of one word that lie under `mask`.
    #[inline]
    fn decrement_masked(&mut self, word: usize, mask: u64) {
        let word = &mut self.words[word];
        *word -= nonzero(*word, self.bits) & mask;
    }

    /// The word that holds a cell, and the cell's lowest bit in it. All shifts: `bits` is a power of two.
    #[inline]
    fn locate(&self, index: usize) -> (usize, u32) {
        let bit_shift = self.bits.trailing_zeros();
        let cell_shift = 6 - bit_shift;
        (index >> cell_shift, ((index & ((1 << cell_shift) - 1)) << bit_shift) as u32)
    }
}

/// A 1 in the lowest bit of every cell of `word` that is not 0. Subtracting it decrements them all: nothing is
/// borrowed from a neighbour, since 1 is only taken where there is one.
#[inline]
fn nonzero(word: u64, bits: u32) -> u64 {
    match bits {
        1 => word,
        2 => (word | word >> 1) & 0x5555_5555_5555_5555,
        4 => {
            let pairs = word | word >> 1;
            (pairs | pairs >> 2) & 0x1111_1111_1111_1111
        }
        _ => {
            let pairs = word | word >> 1;
            let nibbles = pairs | pairs >> 2;
            (nibbles | nibbles >> 4) & 0x0101_0101_0101_0101
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cells_behave_as_a_vector_of_saturating_numbers(
            bits in prop::sample::select(vec![1u32, 2, 4, 8]),
            len in 1usize..200,
            operations in prop::collection::vec((0u8..5, any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 0..200),
        ) {
            let mut cells = Cells::new(len, bits).unwrap();
            let mut model = vec![0u8; len];
            let max = cells.max();
            for (operation, index, other, value) in operations {
                let (index, other) = (index.index(len), other.index(len));
                match operation {
                    0 => { cells.set(index, value); model[index] = value.min(max); }
                    1 => { cells.fill(index); model[index] = max; }
                    2 => { cells.increment(index); model[index] = (model[index] + u8::from(model[index] < max)).min(max); }
                    3 => { cells.decrement(index); model[index] = model[index].saturating_sub(1); }
                    _ => {
                        let (start, end) = (index.min(other), index.max(other));
                        cells.decrement_range(start, end - start);
                        model[start..end].iter_mut().for_each(|cell| *cell = cell.saturating_sub(1));
                    }
                }
                prop_assert_eq!((0..len).map(|i| cells.get(i)).collect::<Vec<_>>(), model.clone());
                prop_assert_eq!(cells.count_nonzero(), model.iter().filter(|&&cell| cell != 0).count());
            }
        }
    }

    #[test]
    fn a_long_range_of_2_bit_cells_loses_one_each() {
        let mut cells = Cells::new(5000, 2).unwrap();
        (0..5000).for_each(|i| cells.set(i, (i * 7 % 4) as u8));
        let before: Vec<u8> = (0..5000).map(|i| cells.get(i)).collect();
        cells.decrement_range(3, 4990);
        for (i, &was) in before.iter().enumerate() {
            let expected = if (3..4993).contains(&i) { was.saturating_sub(1) } else { was };
            assert_eq!(cells.get(i), expected, "cell {i}");
        }
    }
}
