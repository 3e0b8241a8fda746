use std::ops::{Deref, DerefMut};

use super::arch;
use super::buffer::{Buffer, NoMemory};

#[cfg(test)]
mod tests;

/// An array of saturating counters of 1, 2, 4 or 8 bits, packed into little-endian words: 64, 32, 16 or 8 to a word.
///
/// ```text
///   bits = 2      word 0                                word 1
///   cell        31  ...  2    1    0    |    63  ...  33   32
///             [ 00  ...  11   00   10 ] |  [ 01  ...  00   11 ]
/// ```
///
/// No cell crosses a word boundary, so reading or changing one cell touches one word, and all cells of a word are
/// decremented together. Cells past the end of the array are always 0.
///
/// Cost: `bits` bits a cell, rounded up to whole words.
///
/// ```
/// use furui::raw::Cells;
///
/// let mut cells = Cells::new(1000, 2)?;
/// cells.fill(33);
/// cells.decrement(33);
/// assert_eq!((cells.get(33), cells.max()), (2, 3));
/// # Ok::<(), furui::raw::NoMemory>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells<M = Buffer> {
    /// The counters, packed into whole words; bits beyond the last counter are 0.
    words: M,
    len: usize,
    bits: u32,
}

impl Cells {
    /// An array of `len` counters of `bits` bits, all 0.
    ///
    /// # Errors
    /// If there is not enough memory.
    ///
    /// # Panics
    /// If `bits` is not 1, 2, 4 or 8.
    pub fn new(len: usize, bits: u32) -> Result<Self, NoMemory> {
        let bytes = usize::try_from(Self::bytes(len as u64, bits)).map_err(|_| NoMemory)?;
        Ok(Self { words: Buffer::zeroed(bytes)?, len, bits })
    }

    /// The size of `len` counters of `bits` bits, in bytes.
    ///
    /// # Panics
    /// If `bits` is not 1, 2, 4 or 8.
    pub fn bytes(len: u64, bits: u32) -> u64 {
        assert!(matches!(bits, 1 | 2 | 4 | 8), "cells have 1, 2, 4 or 8 bits, not {bits}");
        len.div_ceil(u64::from(64 / bits)) * 8
    }
}

impl<M> Cells<M> {
    /// The number of counters, which never changes.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are no counters.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The width of a counter in bits: 1, 2, 4 or 8.
    #[inline]
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The maximum value of a counter, 2^bits - 1.
    #[inline]
    pub fn max(&self) -> u8 {
        u8::MAX >> (8 - self.bits)
    }

    /// Returns the index of the word that holds the counter at `index`, and the number of the counter's lowest bit in
    /// the word. Because `bits` is a power of two, shifts and masks suffice.
    #[inline]
    fn locate(&self, index: usize) -> (usize, u32) {
        let bit_shift = self.bits.trailing_zeros();
        let cell_shift = 6 - bit_shift;
        (index >> cell_shift, ((index & ((1 << cell_shift) - 1)) << bit_shift) as u32)
    }
}

impl<M: Deref<Target = [u8]>> Cells<M> {
    /// The `len` counters of `width` bits stored in `bytes`, as returned by [`as_bytes`](Self::as_bytes). `None` if the
    /// length of `bytes` does not match, or if a bit beyond the last counter is set.
    ///
    /// # Panics
    /// If `width` is not 1, 2, 4 or 8.
    pub fn from_bytes(bytes: M, len: usize, width: u32) -> Option<Self> {
        if bytes.len() as u64 != Cells::bytes(len as u64, width) {
            return None;
        }
        let cells = Self { words: bytes, len, bits: width };
        let (last, end) = cells.locate(len);
        let beyond = cells.words().get(last).map_or(0, |&word| u64::from_le_bytes(word) >> end);
        (beyond == 0).then_some(cells)
    }

    /// The counters as bytes. Counter i begins at bit i · `bits`, counted from the least bit of the first byte.
    pub fn as_bytes(&self) -> &[u8] {
        &self.words
    }

    #[inline(always)]
    fn words(&self) -> &[[u8; 8]] {
        self.words.as_chunks().0
    }

    /// A view that borrows these counters. A loop over many counters that uses the view avoids dereferencing `M` each
    /// time.
    #[inline(always)]
    pub(crate) fn lend(&self) -> Cells<&[u8]> {
        Cells { words: &self.words, len: self.len, bits: self.bits }
    }

    /// The counter at `index`.
    ///
    /// # Panics
    /// This method panics, like every method with an `index`, if the array has no word for `index`. An `index` beyond
    /// the last counter is accepted if it lies in the last word.
    #[inline]
    pub fn get(&self, index: usize) -> u8 {
        let (word, shift) = self.locate(index);
        (u64::from_le_bytes(self.words()[word]) >> shift) as u8 & self.max()
    }

    /// The word that contains the counter at `index`.
    pub(crate) fn word_of(&self, index: usize) -> &[u8; 8] {
        &self.words()[self.locate(index).0]
    }

    /// Prefetches the counter at `index`, which will be read soon.
    #[inline]
    pub(crate) fn prefetch(&self, index: usize) {
        if let Some(word) = self.words().get(self.locate(index).0) {
            arch::prefetch(word);
        }
    }

    /// The number of counters that are not 0. Cost: one pass over the array.
    pub(crate) fn count_nonzero(&self) -> usize {
        self.words().iter().map(|&word| nonzero(u64::from_le_bytes(word), self.bits).count_ones() as usize).sum()
    }
}

impl<M: DerefMut<Target = [u8]>> Cells<M> {
    #[inline(always)]
    fn words_mut(&mut self) -> &mut [[u8; 8]] {
        self.words.as_chunks_mut().0
    }

    /// A view that borrows these counters mutably. A loop over many counters that uses the view avoids dereferencing
    /// `M` each time.
    #[inline(always)]
    pub(crate) fn lend_mut(&mut self) -> Cells<&mut [u8]> {
        Cells { words: &mut self.words, len: self.len, bits: self.bits }
    }

    /// Sets the counter at `index` to `value`, or to the maximum if `value` exceeds it.
    #[cfg(test)]
    fn set(&mut self, index: usize, value: u8) {
        let (word, shift) = self.locate(index);
        let max = self.max();
        change(&mut self.words_mut()[word], |word| {
            word & !(u64::from(max) << shift) | u64::from(value.min(max)) << shift
        });
    }

    /// Sets the counter at `index` to its maximum by one OR. Returns true if the counter was above 0.
    #[inline]
    pub fn fill(&mut self, index: usize) -> bool {
        let (word, shift) = self.locate(index);
        let cell = u64::from(self.max()) << shift;
        let word = &mut self.words_mut()[word];
        let before = u64::from_le_bytes(*word);
        *word = (before | cell).to_le_bytes();
        before & cell != 0
    }

    /// Adds 1 to the counter at `index`, unless it is at the maximum.
    #[inline]
    pub(crate) fn increment(&mut self, index: usize) {
        let below_max = u64::from(self.get(index) != self.max());
        let (word, shift) = self.locate(index);
        change(&mut self.words_mut()[word], |word| word + (below_max << shift));
    }

    /// Subtracts 1 from the counter at `index`, unless it is 0.
    #[inline]
    pub fn decrement(&mut self, index: usize) {
        let above_zero = u64::from(self.get(index) != 0);
        let (word, shift) = self.locate(index);
        change(&mut self.words_mut()[word], |word| word - (above_zero << shift));
    }

    /// Adds to every counter the counter of `other` with the same index; sums above the maximum become the maximum.
    /// Cost: one pass over both arrays.
    ///
    /// # Panics
    /// If the two arrays differ in the number or the width of counters.
    pub fn add(&mut self, other: &Cells<impl Deref<Target = [u8]>>) {
        assert!(self.len == other.len && self.bits == other.bits, "counters of the same number and width are added");
        let bits = self.bits;
        for (sum, &addend) in self.words_mut().iter_mut().zip(other.words()) {
            change(sum, |word| saturating_sums(word, u64::from_le_bytes(addend), bits));
        }
    }

    /// Subtracts 1 from each of the `count` counters from `start` on, unless it is 0. A few instructions do this for
    /// all counters of a word or, if they have 2 bits, of a vector.
    ///
    /// # Panics
    /// If the range ends past the array.
    #[inline]
    pub(crate) fn decrement_range(&mut self, start: usize, count: usize) {
        assert!(count <= self.len && start <= self.len - count, "the range ends past the array");
        if count == 0 {
            return;
        }
        let (first, low) = self.locate(start);
        let (last, high) = self.locate(start + count - 1);
        let from_start = u64::MAX << low;
        let to_end = u64::MAX >> (64 - self.bits - high);
        // If first and last word are the same, the mask of the last is empty, which avoids an unpredictable branch.
        let (in_first, in_last) = if first == last { (from_start & to_end, 0) } else { (from_start, to_end) };
        self.decrement_masked(first, in_first);
        self.decrement_masked(last, in_last);
        if last - first > 1 {
            self.decrement_words(first + 1, last);
        }
    }

    /// Subtracts 1 from all counters above 0 in the words `first`..`end`. This function is not inlined, so that a short
    /// range, which has no whole words, takes few instructions.
    #[inline(never)]
    fn decrement_words(&mut self, first: usize, end: usize) {
        let bits = self.bits;
        let words = &mut self.words_mut()[first..end];
        if bits == 2 {
            arch::decrement_2bit(arch::Cpu::detect(), words);
        } else {
            for word in words {
                change(word, |word| word - nonzero(word, bits));
            }
        }
    }

    /// Subtracts 1 from those counters above 0 of one word that lie under `mask`.
    #[inline]
    fn decrement_masked(&mut self, word: usize, mask: u64) {
        let bits = self.bits;
        change(&mut self.words_mut()[word], |word| word - (nonzero(word, bits) & mask));
    }
}

#[inline(always)]
fn change(word: &mut [u8; 8], new: impl FnOnce(u64) -> u64) {
    *word = new(u64::from_le_bytes(*word)).to_le_bytes();
}

/// Adds the counters of `bits` bits in two words pairwise; sums above the maximum become the maximum.
#[inline]
fn saturating_sums(a: u64, b: u64, bits: u32) -> u64 {
    let ones = u64::MAX / (u64::MAX >> (64 - bits));
    let tops = ones << (bits - 1);
    // Without their top bits, the cells' sums do not carry into a neighbour; the top bits are then added without carry.
    let sums = ((a & !tops) + (b & !tops)) ^ ((a ^ b) & tops);
    let carried = (a & b | (a | b) & !sums) & tops;
    let full = (carried >> (bits - 1)) * (u64::MAX >> (64 - bits));
    sums | full
}

/// A word with a 1 in the lowest bit of every counter of `word` that is not 0. Subtracting it from `word` decrements
/// these counters without borrowing from a neighbour.
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
