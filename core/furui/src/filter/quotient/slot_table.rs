use std::ops::{Deref, DerefMut};

use crate::bits::Buffer;
use crate::bits::word::low_bits;
use crate::filter::ConfigError;
use crate::filter::error::no_memory;

use super::block::{Block, HEAD_BYTES, Head};
use super::shape::Shape;

/// Extra bytes after the last block, so that eight bytes can be read wherever one of its remainders begins, and also
/// where one more remainder would begin.
const PADDING: usize = 16;

/// The slots of a filter, in consecutive blocks of 64. Each block is laid out, little-endian on every machine, as
///
/// ```text
/// byte  0        2         10      18       26
///       offset   occupied  starts  shifted  64 remainders of r bits
///       16 bits  64 bits   64 bits 64 bits  r little-endian words
/// ```
///
/// The plane `starts` is stored instead of is_continuation and is its opposite among the used slots: a one where a run
/// begins. With it, runs are found without knowing which slots are used, so that a lookup reads only 18 bytes of a
/// head. The last block may have fewer than 64 slots; its bits beyond them are 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SlotTable<M = Buffer> {
    bytes: M,
    blocks: usize,
    block_bytes: usize,
    remainder_bits: u32,
    /// A mask of the low `remainder_bits` bits.
    remainder_mask: u64,
    last_width: u32,
}

/// The position of a slot: a block, and an index in that block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) block: usize,
    pub(super) index: u32,
}

impl SlotTable {
    /// An empty table of this shape.
    ///
    /// # Errors
    /// [`ConfigError::NoMemory`].
    pub(super) fn new(shape: &Shape) -> Result<Self, ConfigError> {
        let too_big = || no_memory(usize::try_from(shape.slots).unwrap_or(usize::MAX), "slots of a quotient filter");
        let len = usize::try_from(Self::bytes(shape)).map_err(|_| too_big())?;
        Ok(Self::over(Buffer::zeroed(len).map_err(|_| too_big())?, shape))
    }

    /// The size of a table of this shape, in bytes.
    pub(super) fn bytes(shape: &Shape) -> u64 {
        shape.slots.div_ceil(64) * block_bytes(shape) as u64 + PADDING as u64
    }
}

fn block_bytes(shape: &Shape) -> usize {
    HEAD_BYTES + 8 * shape.remainder_bits as usize
}

impl<M> SlotTable<M> {
    /// A table of this shape over `bytes`, whose length must be [`bytes`](SlotTable::bytes).
    pub(super) fn over(bytes: M, shape: &Shape) -> Self {
        Self {
            bytes,
            blocks: shape.slots.div_ceil(64) as usize,
            block_bytes: block_bytes(shape),
            remainder_bits: shape.remainder_bits,
            remainder_mask: low_bits(shape.remainder_bits),
            last_width: (shape.slots - 1) as u32 % 64 + 1,
        }
    }

    pub(super) fn blocks(&self) -> usize {
        self.blocks
    }

    /// The number of slots in `block`: 64, or fewer in the last block.
    #[inline(always)]
    pub(super) fn width(&self, block: usize) -> u32 {
        if block + 1 == self.blocks { self.last_width } else { 64 }
    }

    #[inline(always)]
    pub(super) fn next_block(&self, block: usize) -> usize {
        if block + 1 == self.blocks { 0 } else { block + 1 }
    }

    #[inline(always)]
    pub(super) fn previous_block(&self, block: usize) -> usize {
        if block == 0 { self.blocks - 1 } else { block - 1 }
    }

    /// The slot after `slot`, which is incr(slot) in the paper of Bender et al. After the last slot comes the first.
    #[inline(always)]
    pub(super) fn next(&self, slot: Slot) -> Slot {
        if slot.index + 1 < self.width(slot.block) {
            Slot { index: slot.index + 1, ..slot }
        } else {
            Slot { block: self.next_block(slot.block), index: 0 }
        }
    }

    /// The position (block, and index in the block) of the slot with this number in the whole table.
    pub(super) fn slot_at(&self, number: u64) -> Slot {
        Slot { block: (number / 64) as usize, index: (number % 64) as u32 }
    }

    /// The number of block boundaries between the slot `from` and the later slot `to`. The slots wrap around at the end
    /// of the table.
    #[inline(always)]
    pub(super) fn boundaries(&self, from: Slot, to: Slot) -> usize {
        if (from.block, from.index) <= (to.block, to.index) {
            to.block - from.block
        } else {
            self.blocks - from.block + to.block
        }
    }

    pub(super) fn remainder_bits(&self) -> u32 {
        self.remainder_bits
    }
}

impl<M: Deref<Target = [u8]>> SlotTable<M> {
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A view of this table that borrows its bytes.
    #[inline(always)]
    pub(super) fn lend(&self) -> SlotTable<&[u8]> {
        SlotTable {
            bytes: &self.bytes,
            blocks: self.blocks,
            block_bytes: self.block_bytes,
            remainder_bits: self.remainder_bits,
            remainder_mask: self.remainder_mask,
            last_width: self.last_width,
        }
    }

    pub(super) fn bits(&self) -> u64 {
        self.bytes.len() as u64 * 8
    }

    #[inline(always)]
    pub(super) fn head(&self, block: usize) -> Head {
        self.block(block).head()
    }

    /// A read-only view of the block of slots with this index.
    #[inline(always)]
    pub(super) fn block(&self, block: usize) -> Block<'_> {
        Block::new(&self.bytes[block * self.block_bytes..], self.remainder_bits)
    }

    #[inline(always)]
    pub(super) fn remainder(&self, slot: Slot) -> u64 {
        self.block(slot.block).remainders_from(slot.index) & self.remainder_mask
    }

    /// The padding bytes after the last block.
    pub(super) fn padding(&self) -> &[u8] {
        &self.bytes[self.blocks * self.block_bytes..]
    }

    /// The packed remainders of `block`, followed by at least eight more bytes.
    #[inline(always)]
    pub(super) fn remainders(&self, block: usize) -> &[u8] {
        let at = block * self.block_bytes;
        &self.bytes[at + HEAD_BYTES..at + self.block_bytes + PADDING]
    }
}

impl<M: DerefMut<Target = [u8]>> SlotTable<M> {
    /// Copies the contents of `other`, which must have the same shape.
    pub(super) fn copy_from(&mut self, other: &SlotTable) {
        self.bytes.copy_from_slice(&other.bytes);
    }

    #[inline(always)]
    pub(super) fn set_offset(&mut self, block: usize, offset: u16) {
        let at = block * self.block_bytes;
        self.bytes[at..at + 2].copy_from_slice(&offset.to_le_bytes());
    }

    #[inline(always)]
    pub(super) fn set_occupied(&mut self, block: usize, occupied: u64) {
        self.store(block * self.block_bytes + 2, occupied);
    }

    #[inline(always)]
    pub(super) fn set_starts(&mut self, block: usize, starts: u64) {
        self.store(block * self.block_bytes + 10, starts);
    }

    #[inline(always)]
    pub(super) fn set_shifted(&mut self, block: usize, shifted: u64) {
        self.store(block * self.block_bytes + 18, shifted);
    }

    #[inline(always)]
    fn store(&mut self, at: usize, word: u64) {
        *self.bytes[at..].first_chunk_mut().expect("padding follows the last block") = word.to_le_bytes();
    }

    #[inline(always)]
    pub(super) fn set_remainder(&mut self, slot: Slot, remainder: u64) {
        let (at, shift) = self.block(slot.block).place(slot.index);
        let at = slot.block * self.block_bytes + at;
        let bytes: &mut [u8; 8] = self.bytes[at..].first_chunk_mut().expect("padding follows the last block");
        let others = u64::from_le_bytes(*bytes) & !(self.remainder_mask << shift);
        *bytes = (others | remainder << shift).to_le_bytes();
    }

    /// The packed remainders of `block`, followed by at least eight more bytes, as mutable bytes.
    #[inline(always)]
    pub(super) fn remainders_mut(&mut self, block: usize) -> &mut [u8] {
        let at = block * self.block_bytes;
        &mut self.bytes[at + HEAD_BYTES..at + self.block_bytes + PADDING]
    }

    /// The packed remainders of `block`, as little-endian words.
    #[inline(always)]
    pub(super) fn words_mut(&mut self, block: usize) -> &mut [[u8; 8]] {
        let at = block * self.block_bytes;
        self.bytes[at + HEAD_BYTES..at + self.block_bytes].as_chunks_mut().0
    }

    /// Moves the remainders of slots `low .. high` of `block` up by one slot, overwriting the remainder of `high`, and
    /// puts `remainder` into slot `low`.
    #[inline(always)]
    pub(super) fn shift_up(&mut self, block: usize, low: u32, high: u32, remainder: u64) {
        let r = self.remainder_bits;
        let (from, to) = (low * r, (high + 1) * r);
        let words = &mut self.words_mut(block)[(from / 64) as usize..=((to - 1) / 64) as usize];
        let (first, rest) = words.split_first_mut().expect("a slot has bits");
        let above = !low_bits((to - 1) % 64 + 1);
        let last_before = u64::from_le_bytes(*rest.last().unwrap_or(first));

        let start = from % 64;
        let word = u64::from_le_bytes(*first);
        let moving = word & !low_bits(start);
        *first = (word & low_bits(start) | moving << r | remainder << start).to_le_bytes();
        let mut carry = moving >> (64 - r) | remainder >> 1 >> (63 - start);
        for word in &mut *rest {
            let moving = u64::from_le_bytes(*word);
            *word = (moving << r | carry).to_le_bytes();
            carry = moving >> (64 - r);
        }
        let last = rest.last_mut().unwrap_or(first);
        *last = (u64::from_le_bytes(*last) & !above | last_before & above).to_le_bytes();
    }

    /// Moves the remainders of slots `low + 1 ..= high` of `block` down by one slot, overwriting the remainder of
    /// `low`, and puts `remainder` into slot `high`.
    #[inline(always)]
    pub(super) fn shift_down(&mut self, block: usize, low: u32, high: u32, remainder: u64) {
        let r = self.remainder_bits;
        let (from, to) = (low * r, (high + 1) * r);
        let words = &mut self.words_mut(block)[(from / 64) as usize..=((to - 1) / 64) as usize];
        let below = low_bits(from % 64);
        let first_before = u64::from_le_bytes(words[0]);

        // The bits that move down, followed by `remainder`, which begins at bit `end` of the last word.
        let end = (to - 1) % 64 + 1;
        let last = words.len() - 1;
        let last_before = u64::from_le_bytes(words[last]);
        let moving = last_before & low_bits(end) | remainder << (end - 1) << 1;
        words[last] = moving.to_le_bytes();
        for i in 0..last {
            let (word, next) = (u64::from_le_bytes(words[i]), u64::from_le_bytes(words[i + 1]));
            words[i] = (word >> r | next << (64 - r)).to_le_bytes();
        }
        let moved = moving >> r | remainder >> (64 - end) << (64 - r);
        words[last] = (moved & low_bits(end) | last_before & !low_bits(end)).to_le_bytes();
        words[0] = (u64::from_le_bytes(words[0]) & !below | first_before & below).to_le_bytes();
    }
}
