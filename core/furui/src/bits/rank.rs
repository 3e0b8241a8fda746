use std::ops::Deref;

use super::counts::{BLOCK, Counts, block, block_bytes};
use super::word::low_bits;
use super::{Buffer, Cpu, NoMemory};

/// A bit string that answers "how many ones are before this bit?" in constant time. It has a count for every 512 bits:
///
/// ```text
/// counts       0          261          517               ones before each block
/// bits    | 512 bits | 512 bits | 512 bits | ...         rank1(i) = counts[i / 512] + ones of the block before i
/// ```
///
/// **Cost.** The index takes 1/16 of the bits, 1/8 from 2³² bits on. A query takes two cache misses and eight
/// popcounts.
///
/// **Source.** Kim, Na, Kim, Park, "Efficient implementation of rank and select functions for succinct representation"
/// (2005). The paper has counts of two levels; here the processor's population count replaces the lower level.
///
/// ```
/// use furui::raw::Rank1;
///
/// let words = vec![0b1101, 0, 0, 0, 0, 0, 0, 0];
/// let bits = Rank1::new(words.into(), 64).expect("memory for an index");
/// assert_eq!([0, 1, 2, 3, 64].map(|position| bits.rank1(position)), [0, 1, 1, 2, 3]);
/// ```
#[derive(Clone, Debug)]
pub struct Rank1<M = Buffer> {
    /// The bits as little-endian words; bits beyond `len` are ignored.
    words: M,
    len: u64,
    /// The number of ones before each block of 512 bits, including the block of position `len`.
    counts: Counts<M>,
    instructions: Cpu,
}

impl Rank1 {
    /// Builds the index for the first `len` bits of `words`, which are little-endian words of 64 bits.
    ///
    /// # Errors
    /// If there is no memory for the counts.
    ///
    /// # Panics
    /// If `words` is shorter than `len` bits.
    pub fn new(words: Buffer, len: u64) -> Result<Self, NoMemory> {
        assert!(words.len() as u64 * 8 >= len, "{len} bits in {} bytes", words.len());
        let counts = Counts::collect(counts(&words, len), count(len), len)?;
        Ok(Self { words, len, counts, instructions: Cpu::detect() })
    }
}

impl<M: Deref<Target = [u8]>> Rank1<M> {
    /// The bit string with these [`words`](Self::words) and [`index`](Self::index); `None` if their lengths do not
    /// match. Only [`verify`](Self::verify) checks the contents of the index; a wrong index gives wrong answers.
    pub fn from_parts(words: M, len: u64, index: M) -> Option<Self> {
        if (words.len() as u64) < len.div_ceil(8) {
            return None;
        }
        let counts = Counts::from_bytes(index, count(len), len)?;
        Some(Self { words, len, counts, instructions: Cpu::detect() })
    }

    /// A view of this bit string that borrows its bytes.
    pub(crate) fn borrowed(&self) -> Rank1<&[u8]> {
        Rank1 { words: &self.words, len: self.len, counts: self.counts.borrowed(), instructions: self.instructions }
    }

    /// True if the index is correct. Cost: one pass over the bits.
    pub fn verify(&self) -> bool {
        counts(&self.words, self.len).enumerate().all(|(index, ones)| self.counts.get(index) == ones)
    }

    /// The number of bits of the bit string.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True if the bit string is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bits of the string, as little-endian words of 64 bits.
    pub fn words(&self) -> &[u8] {
        &self.words
    }

    /// The index: the number of ones before each block of 512 bits.
    pub fn index(&self) -> &[u8] {
        self.counts.bytes()
    }

    /// True if the bit at `position` is one; false beyond the end.
    #[inline]
    pub fn bit(&self, position: u64) -> bool {
        position < self.len && self.words[(position / 8) as usize] >> (position % 8) & 1 == 1
    }

    /// The number of ones among the bits 0..`position`; bits beyond the end count as zeros.
    #[inline]
    pub fn rank1(&self, position: u64) -> u64 {
        self.rank1_seen(position, |_| {})
    }

    /// Works like [`rank1`](Self::rank1), but passes the bytes that it reads to `see` before it reads them.
    #[inline]
    pub(crate) fn rank1_seen(&self, position: u64, see: impl Fn(&[u8])) -> u64 {
        let index = (position.min(self.len) / BLOCK) as usize;
        see(self.counts.bytes_of(index..index.saturating_add(1)));
        see(block_bytes(&self.words, index));
        self.instructions.run(
            #[inline(always)]
            |_| self.rank1_inlined(position),
        )
    }

    #[inline(always)]
    fn rank1_inlined(&self, position: u64) -> u64 {
        let position = position.min(self.len);
        let index = (position / BLOCK) as usize;
        let below = (position % BLOCK) as u32;
        // Count in all eight words, because a branch could be mispredicted.
        let ones: u32 = block(&self.words, index)
            .iter()
            .zip((0..).step_by(64))
            .map(|(word, start)| (word & low_bits(below.saturating_sub(start).min(64))).count_ones())
            .sum();
        self.counts.get(index).saturating_add(u64::from(ones))
    }
}

/// Yields the number of ones before each block of 512 bits.
fn counts(words: &[u8], len: u64) -> impl Iterator<Item = u64> {
    (0..count(len)).scan(0, move |sum, index| {
        let before = *sum;
        *sum += block(words, index).iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        Some(before)
    })
}

/// The number of counts in the index: one for each block of 512 bits, including the block of the position after the
/// last bit.
fn count(len: u64) -> usize {
    (len / BLOCK) as usize + 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sucds::bit_vectors::Rank;

    use super::*;
    use crate::bits::testing::{bit_strings, buffer};

    #[test]
    fn ranks_are_the_ones_counted_and_those_of_other_crates() {
        for bits in bit_strings() {
            let ours = Rank1::new(buffer(&bits), bits.len() as u64).unwrap();
            let sucds = sucds::bit_vectors::Rank9Sel::from_bits(bits.iter().copied());
            let vers = vers_vecs::RsVec::from_bit_vec(vers_vecs::BitVec::from_bools(&bits));
            let mut ones = 0;
            for (i, &bit) in bits.iter().enumerate() {
                assert_eq!(ours.rank1(i as u64), ones);
                assert_eq!(sucds.rank1(i), Some(ones as usize));
                assert_eq!(vers.rank1(i), ones as usize);
                assert_eq!(ours.bit(i as u64), bit);
                ones += u64::from(bit);
            }
            for beyond in [bits.len() as u64, bits.len() as u64 + 1, u64::MAX] {
                assert_eq!(ours.rank1(beyond), ones);
                assert!(!ours.bit(beyond));
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_for_an_index_give_answers_or_nothing(
            words in prop::collection::vec(any::<u8>(), 0..300), len in 0u64..3000,
            index in prop::collection::vec(any::<u8>(), 0..40), position: u64,
        ) {
            if let Some(bits) = Rank1::from_parts(&words[..], len, &index[..index.len() / 4 * 4]) {
                bits.rank1(position % (len + 2));
                bits.rank1(position);
            }
        }
    }
}
