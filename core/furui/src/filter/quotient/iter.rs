use std::ops::Deref;

use crate::bits::Cpu;
use crate::bits::word::low_bits;

use super::QuotientFilter;
use super::shape::Shape;
use super::slot_table::{Slot, SlotTable};

/// The maximum number of fingerprints that a [`Decoder`] yields at a time.
pub(super) const CHUNK: usize = 64;

/// Reads the fingerprints of a quotient filter's table in ascending order, one block of slots at a time.
///
/// Some of the first slots may have wrapped around from the table's end. Reading starts after them, and ends with them.
#[derive(Clone, Debug)]
pub(super) struct Decoder<'a> {
    table: SlotTable<&'a [u8]>,
    shape: Shape,
    words: Cpu,
    /// The index of the block of slots that is read next.
    block: usize,
    /// The number of slots at the beginning of the block that are skipped.
    skip: u32,
    /// The number of slots to read when the first block is read again at the end.
    wrapped: u32,
    /// The number of blocks of slots that are still to be read.
    left: usize,
    /// The occupied bits of block `quotient_block` that come after the quotient of the current run.
    occupied: u64,
    /// The number of the block to which the bits in `occupied` belong.
    quotient_block: usize,
    /// The smallest fingerprint with the quotient of the current run: the one with remainder 0.
    base: u64,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(table: SlotTable<&'a [u8]>, shape: Shape, words: Cpu) -> Self {
        let head = table.head(0);
        let (mut block, mut skip) = (0, u32::from(head.offset));
        while skip >= table.width(block) {
            skip -= table.width(block);
            block += 1;
        }
        let left = table.blocks() + 1;
        Self {
            table,
            shape,
            words,
            block,
            skip,
            wrapped: skip,
            left,
            occupied: head.occupied,
            quotient_block: 0,
            base: 0,
        }
    }

    /// Writes the fingerprints of the next non-empty block into `out` and returns their number; 0 at the end.
    pub(super) fn next_chunk(&mut self, out: &mut [u64; CHUNK]) -> usize {
        let words = self.words;
        words.run(
            #[inline(always)]
            |_| {
                while self.left > 0 {
                    let count = self.decode_block(out);
                    if count > 0 {
                        return count;
                    }
                }
                0
            },
        )
    }

    #[inline(always)]
    fn decode_block(&mut self, out: &mut [u64; CHUNK]) -> usize {
        let (table, block) = (&self.table, self.block);
        self.left -= 1;
        let among = if self.left == 0 { low_bits(self.wrapped) } else { u64::MAX << self.skip };
        self.skip = 0;
        self.block = table.next_block(block);
        let head = table.head(block);
        let mut used = head.used() & among;
        let remainders = table.remainders(block);
        let r = table.remainder_bits();
        let mask = low_bits(r);
        let (mut occupied, mut base) = (self.occupied, self.base);
        while occupied == 0 && self.quotient_block + 1 < table.blocks() {
            self.quotient_block += 1;
            occupied = table.head(self.quotient_block).occupied;
        }
        let count = used.count_ones() as usize;
        for out in &mut out[..count] {
            let index = used.trailing_zeros();
            used &= used - 1;
            // The first slot of a run takes the next quotient, and its other slots keep it. Masks replace an
            // unpredictable branch.
            let starts = (head.starts >> index & 1).wrapping_neg();
            let quotient = self.quotient_block as u64 * 64 + u64::from(occupied.trailing_zeros());
            base ^= (base ^ self.shape.base(quotient)) & starts;
            occupied &= occupied.wrapping_sub(1) | !starts;
            if occupied == 0 {
                while occupied == 0 && self.quotient_block + 1 < table.blocks() {
                    self.quotient_block += 1;
                    occupied = table.head(self.quotient_block).occupied;
                }
            }
            let bit = index * r;
            let bytes = remainders[(bit / 8) as usize..].first_chunk().expect("padding follows the last block");
            *out = base + (u64::from_le_bytes(*bytes) >> (bit % 8) & mask);
        }
        (self.occupied, self.base) = (occupied, base);
        count
    }
}

/// An iterator over the fingerprints of a quotient filter in ascending order, with copies repeated. See
/// [`QuotientFilter::fingerprints`](super::QuotientFilter::fingerprints).
///
/// ```
/// use furui::KeyHash;
/// use furui::filter::{FilterMut, QuotientFilter};
///
/// let mut filter = QuotientFilter::with_fingerprint_bits(128, 64)?;
/// for hash in [7, 3, 5] {
///     filter.insert_hash(KeyHash::new(hash))?;
/// }
/// assert_eq!(filter.fingerprints().collect::<Vec<_>>(), [3, 5, 7]);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FingerprintIter<'a> {
    decoder: Decoder<'a>,
    chunk: [u64; CHUNK],
    at: usize,
    len: usize,
    left: u64,
}

impl<'a> FingerprintIter<'a> {
    pub(super) fn new(decoder: Decoder<'a>, len: u64) -> Self {
        Self { decoder, chunk: [0; CHUNK], at: 0, len: 0, left: len }
    }
}

impl Iterator for FingerprintIter<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        if self.at == self.len {
            self.len = self.decoder.next_chunk(&mut self.chunk);
            self.at = 0;
            if self.len == 0 {
                return None;
            }
        }
        let fingerprint = self.chunk[self.at];
        self.at += 1;
        self.left -= 1;
        Some(fingerprint)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.left).unwrap_or(usize::MAX);
        (left, Some(left))
    }
}

impl ExactSizeIterator for FingerprintIter<'_> {}
impl std::iter::FusedIterator for FingerprintIter<'_> {}

/// The content of one slot, as Bender et al. draw it; see [`QuotientFilter::slot`].
///
/// ```
/// use furui::KeyHash;
/// use furui::filter::{FilterMut, QuotientFilter};
///
/// // 64 slots: the upper 6 bits of a hash are its quotient. Two keys of one quotient are a run of two slots.
/// let mut filter = QuotientFilter::with_fingerprint_bits(64, 16)?;
/// for remainder in [1, 2] {
///     filter.insert_hash(KeyHash::new(9 << 58 | remainder << 48))?;
/// }
/// let next = filter.slot(10).expect("there are 64 slots");
/// assert!(next.is_continuation && next.is_shifted && !next.is_occupied);
/// assert_eq!(next.remainder, 2);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuotientSlot {
    /// True if the filter holds a fingerprint whose quotient is the number of this slot.
    pub is_occupied: bool,
    /// True if this slot's remainder belongs to the run of the slot before.
    pub is_continuation: bool,
    /// True if this slot's remainder lies outside its canonical slot.
    pub is_shifted: bool,
    /// The remainder in this slot; 0 if the slot is empty, that is, if no flag is set.
    pub remainder: u64,
}

impl<M: Deref<Target = [u8]>> QuotientFilter<M> {
    /// The content of slot number `slot`, for inspecting a table; `None` if there is no such slot.
    pub fn slot(&self, slot: u64) -> Option<QuotientSlot> {
        if slot >= self.shape.slots {
            return None;
        }
        let (block, index) = ((slot / 64) as usize, (slot % 64) as u32);
        let head = self.table.head(block);
        Some(QuotientSlot {
            is_occupied: head.occupied >> index & 1 == 1,
            is_continuation: head.continuation() >> index & 1 == 1,
            is_shifted: head.shifted >> index & 1 == 1,
            remainder: self.table.remainder(Slot { block, index }),
        })
    }
}
