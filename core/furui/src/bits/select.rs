use std::ops::Deref;

use super::counts::{BLOCK, Counts, block, block_bytes};
use super::{Buffer, Cpu, NoMemory};

/// The number of zeros from one hint of the index to the next.
const HINT: u64 = 512;

/// The maximum number of blocks of 512 bits that are searched one after the other; more are narrowed down by binary
/// search first.
const FEW: usize = 8;

/// A bit string that answers "where is the zero with this number?" in constant time. It has a count for every 512 bits
/// and a hint for every 512 zeros:
///
/// ```text
/// hints        0               1               3        the block where zero 0, 512, 1024, ... is
/// counts       0          251          507       ...    zeros before each block
/// bits    | 512 bits | 512 bits | 512 bits |     ...    the counts between two hints give the block, its words the bit
/// ```
///
/// **Cost.** The index takes 1/16 of the bits and 1/16 of the zeros: 9.4 % if half of the bits are zeros, and twice
/// that from 2³² bits on. A query takes three cache misses. Its time is constant if at least about one bit in a
/// thousand is a zero, as in the unary degrees of a tree of bytes. If zeros are rarer, a query does a binary search
/// between two hints.
///
/// **Source.** Kim, Na, Kim, Park (2005), cited at [`Rank1`](super::Rank1). The zero within a word is found as in
/// Pandey, Bender, Johnson, "A fast x86 implementation of select" (2017).
///
/// ```
/// use furui::raw::Select0;
///
/// let words = vec![0b1101, 0, 0, 0, 0, 0, 0, 0];
/// let bits = Select0::new(words.into(), 6).expect("memory for an index");
/// assert_eq!([0, 1, 2, 3].map(|number| bits.select0(number)), [Some(1), Some(4), Some(5), None]);
/// ```
#[derive(Clone, Debug)]
pub struct Select0<M = Buffer> {
    /// The bits as little-endian words; bits beyond `len` are ignored.
    words: M,
    len: u64,
    zeros: u64,
    /// The number of zeros before each block of 512 bits.
    counts: Counts<M>,
    /// The hints: the number of the block that has each zero whose number is a multiple of [`HINT`], and then the
    /// number of the last block.
    hints: Counts<M>,
    instructions: Cpu,
}

impl Select0 {
    /// Builds the index for the first `len` bits of `words`, which are little-endian words of 64 bits.
    ///
    /// # Errors
    /// If there is no memory for the index.
    ///
    /// # Panics
    /// If `words` is shorter than `len` bits.
    pub fn new(words: Buffer, len: u64) -> Result<Self, NoMemory> {
        assert!(words.len() as u64 * 8 >= len, "{len} bits in {} bytes", words.len());
        let counts = Counts::collect(counts(&words, len), blocks(len), len)?;
        let zeros = blocks(len).checked_sub(1).map_or(0, |last| counts.get(last) + zeros(&words, last, len));
        let hints = Counts::collect(hints(&counts, len, zeros), hint_count(zeros), len)?;
        Ok(Self { words, len, zeros, counts, hints, instructions: Cpu::detect() })
    }
}

impl<M: Deref<Target = [u8]>> Select0<M> {
    /// The bit string with these [`words`](Self::words), [`zeros`](Self::zeros) and [`index`](Self::index); `None` if
    /// their lengths do not match. The contents of the index are checked only by [`verify`](Self::verify): a wrong
    /// index gives wrong answers.
    pub fn from_parts(words: M, len: u64, zeros: u64, [counts, hints]: [M; 2]) -> Option<Self> {
        if zeros > len || (words.len() as u64) < len.div_ceil(8) {
            return None;
        }
        let counts = Counts::from_bytes(counts, blocks(len), len)?;
        let hints = Counts::from_bytes(hints, hint_count(zeros), len)?;
        Some(Self { words, len, zeros, counts, hints, instructions: Cpu::detect() })
    }

    /// A view of this bit string that borrows its bytes.
    pub(crate) fn borrowed(&self) -> Select0<&[u8]> {
        Select0 {
            words: &self.words,
            len: self.len,
            zeros: self.zeros,
            counts: self.counts.borrowed(),
            hints: self.hints.borrowed(),
            instructions: self.instructions,
        }
    }

    /// True if the index and the number of zeros are correct. Cost: one pass over the bits.
    pub fn verify(&self) -> bool {
        let last = blocks(self.len).checked_sub(1);
        counts(&self.words, self.len).enumerate().all(|(index, zeros)| self.counts.get(index) == zeros)
            && self.zeros == last.map_or(0, |last| self.counts.get(last) + zeros(&self.words, last, self.len))
            && hints(&self.counts, self.len, self.zeros).enumerate().all(|(i, block)| self.hints.get(i) == block)
    }

    /// The number of bits of the bit string.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True if the bit string is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of zeros in the bit string: [`select0`](Self::select0) knows a position for each number below it. It
    /// is stored, so no bits are read.
    pub fn zeros(&self) -> u64 {
        self.zeros
    }

    /// The bits of the string, as little-endian words of 64 bits.
    pub fn words(&self) -> &[u8] {
        &self.words
    }

    /// The index in two parts: the number of zeros before each block of 512 bits, and the block of every 512th zero.
    pub fn index(&self) -> [&[u8]; 2] {
        [self.counts.bytes(), self.hints.bytes()]
    }

    /// True if the bit at `position` is one; false beyond the end.
    #[inline]
    pub fn bit(&self, position: u64) -> bool {
        position < self.len && self.words[(position / 8) as usize] >> (position % 8) & 1 == 1
    }

    /// The position of the zero that has `number` zeros before it, if there is one.
    #[inline]
    pub fn select0(&self, number: u64) -> Option<u64> {
        self.select0_seen(number, |_| {})
    }

    /// Works like [`select0`](Self::select0), but passes the bytes that it reads to `see` before it reads them.
    #[inline]
    pub(crate) fn select0_seen(&self, number: u64, see: impl Fn(&[u8])) -> Option<u64> {
        if number >= self.zeros {
            return None;
        }
        self.instructions.run(
            #[inline(always)]
            |instructions| self.select0_inlined(number, &see, instructions),
        )
    }

    #[inline(always)]
    fn select0_inlined(&self, number: u64, see: impl Fn(&[u8]), instructions: Cpu) -> Option<u64> {
        let hint = (number / HINT) as usize;
        see(self.hints.bytes_of(hint..hint + 2));
        let mut index = self.hints.get(hint) as usize;
        let mut end = (self.hints.get(hint + 1) as usize).saturating_add(1);
        see(self.counts.bytes_of(index..end));
        // Find the last block of index..end before which there are at most `number` zeros.
        while end.saturating_sub(index) > FEW {
            let middle = index + (end - index) / 2;
            if self.counts.get(middle) <= number {
                index = middle;
            } else {
                end = middle;
            }
        }
        while index + 1 < end && self.counts.get(index + 1) <= number {
            index += 1;
        }
        see(block_bytes(&self.words, index));
        // Count the words that end before the zero, at most seven. All seven are summed, because a branch could be
        // mispredicted.
        let rank = number.saturating_sub(self.counts.get(index)).min(BLOCK) as u32;
        let zeros = block(&self.words, index).map(|word| !word);
        let (mut word, mut before, mut sum) = (0, 0, 0);
        for zeros in &zeros[..7] {
            sum += zeros.count_ones();
            let passed = sum <= rank;
            word += usize::from(passed);
            before = if passed { sum } else { before };
        }
        let bit = instructions.select(zeros[word], (rank - before).min(63));
        let position = (index as u64).checked_mul(BLOCK)? + word as u64 * 64 + u64::from(bit);
        (position < self.len).then_some(position)
    }
}

fn blocks(len: u64) -> usize {
    len.div_ceil(BLOCK) as usize
}

fn hint_count(zeros: u64) -> usize {
    zeros.div_ceil(HINT) as usize + 1
}

/// Yields the number of zeros before each block of 512 bits.
fn counts(words: &[u8], len: u64) -> impl Iterator<Item = u64> {
    (0..blocks(len)).scan(0, move |sum, index| {
        let before = *sum;
        *sum += zeros(words, index, len);
        Some(before)
    })
}

/// Yields the number of the block that has each zero whose number is a multiple of [`HINT`], and then the number of the
/// last block.
fn hints<M: Deref<Target = [u8]>>(counts: &Counts<M>, len: u64, zeros: u64) -> impl Iterator<Item = u64> {
    let mut index = 0;
    let of_zeros = (0..zeros).step_by(HINT as usize).map(move |zero| {
        while index + 1 < blocks(len) && counts.get(index + 1) <= zero {
            index += 1;
        }
        index as u64
    });
    of_zeros.chain([blocks(len).saturating_sub(1) as u64])
}

/// The number of zeros in the block of 512 bits with this index, among the first `len` bits.
fn zeros(words: &[u8], index: usize, len: u64) -> u64 {
    let mut room = len - index as u64 * BLOCK;
    let mut zeros = 0;
    for word in block(words, index) {
        let here = room.min(64) as u32;
        zeros += u64::from((!word & super::word::low_bits(here)).count_ones());
        room -= u64::from(here);
    }
    zeros
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sucds::bit_vectors::Select;

    use super::*;
    use crate::bits::testing::{bit_strings, buffer};

    #[test]
    fn selected_zeros_are_those_counted_and_those_of_other_crates() {
        for bits in bit_strings() {
            let ours = Select0::new(buffer(&bits), bits.len() as u64).unwrap();
            let sucds = sucds::bit_vectors::Rank9Sel::from_bits(bits.iter().copied()).select0_hints();
            let vers = vers_vecs::RsVec::from_bit_vec(vers_vecs::BitVec::from_bools(&bits));
            let naive: Vec<usize> = (0..bits.len()).filter(|&i| !bits[i]).collect();
            assert_eq!(ours.zeros(), naive.len() as u64);
            for (number, &position) in naive.iter().enumerate() {
                assert_eq!(ours.select0(number as u64), Some(position as u64));
                assert_eq!(sucds.select0(number), Some(position));
                assert_eq!(vers.select0(number), position);
            }
            for beyond in [ours.zeros(), ours.zeros() + 1, u64::MAX] {
                assert_eq!(ours.select0(beyond), None);
            }
        }
    }

    #[test]
    fn the_index_of_balanced_bits_is_below_a_tenth() {
        let bits: Vec<bool> = (0..1 << 17).map(|i| i % 2 == 0).collect();
        let [counts, hints] = Select0::new(buffer(&bits), bits.len() as u64).unwrap().index().map(<[u8]>::len);
        assert_eq!([counts, hints], [4 * bits.len() / 512, 4 * (bits.len() / 2 / 512 + 1)]);
    }

    proptest! {
        #[test]
        fn any_bytes_for_an_index_give_answers_or_nothing(
            words in prop::collection::vec(any::<u8>(), 0..300), len in 0u64..2000, zeros in 0u64..2000,
            counts in prop::collection::vec(any::<u8>(), 16), hints in prop::collection::vec(any::<u8>(), 20),
            number: u64,
        ) {
            let counts = &counts[..4 * blocks(len).min(4)];
            let hints = &hints[..4 * hint_count(zeros).min(5)];
            if let Some(bits) = Select0::from_parts(&words[..], len, zeros, [counts, hints]) {
                let position = bits.select0(number % (zeros + 1));
                prop_assert!(position.is_none_or(|position| position < len));
            }
        }
    }
}
