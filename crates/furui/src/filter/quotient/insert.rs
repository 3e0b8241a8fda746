use crate::bits::arch::Words;
use crate::bits::word::low_bits;

use super::table::{Slot, Table};

/// What became of a fingerprint that was offered to a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inserted {
    /// It was not there, and is now.
    New,
    /// It was there; with `copies`, it is there once more now.
    Again,
    /// There is no room: no empty slot, or a run would lie 2¹⁶ slots behind its place. Nothing has changed.
    NoRoom,
}

impl Table {
    /// Puts `remainder` into the run of `quotient`, in order. With `copies`, even if it is there already. With `full`,
    /// nothing is put in, but what is there is still found.
    #[inline(always)]
    pub(super) fn insert(&mut self, words: Words, quotient: u64, remainder: u64, copies: bool, full: bool) -> Inserted {
        let home = Slot { block: (quotient / 64) as usize, index: (quotient % 64) as u32 };
        let mut head = self.head(home.block);
        let home_bit = 1 << home.index;
        if head.used() & home_bit == 0 {
            if full {
                return Inserted::NoRoom;
            }
            head.occupied |= home_bit;
            self.set_head(home.block, head);
            self.set_remainder(home, remainder);
            return Inserted::New;
        }

        // Where the remainder belongs, and whether a run begins with it.
        let has_run = head.occupied & home_bit != 0;
        let runs = (head.occupied & low_bits(home.index + 1)).count_ones();
        let (mut first, mut again) = (true, false);
        let mut at = match runs.checked_sub(1) {
            None => self.slot_after(home.block, u32::from(head.offset)),
            Some(rank) => self.run_start(words, home.block, &head, rank),
        };
        if has_run {
            loop {
                let found = self.remainder(at);
                if found >= remainder {
                    again = found == remainder;
                    break;
                }
                first = false;
                at = self.next(at);
                if !self.continues(at) {
                    break;
                }
            }
            if again && !copies {
                return Inserted::Again;
            }
        } else if runs > 0 {
            at = self.run_end(at);
        }
        if full {
            return Inserted::NoRoom;
        }
        let empty = self.empty_slot(at);
        if !self.lengthen_offsets(home, empty) {
            return Inserted::NoRoom;
        }
        self.open(at, empty, remainder, !first);

        // The planes of `at` are as for a shifted slot; what is different there:
        let mut head = self.head(at.block);
        if at == home {
            head.shifted &= !home_bit;
        }
        self.set_head(at.block, head);
        if has_run && first {
            let old_first = self.next(at);
            let mut head = self.head(old_first.block);
            head.continuation |= 1 << old_first.index;
            self.set_head(old_first.block, head);
        }
        if !has_run {
            let mut head = self.head(home.block);
            head.occupied |= home_bit;
            self.set_head(home.block, head);
        }
        if again { Inserted::Again } else { Inserted::New }
    }

    /// The slot `offset` slots behind the first of `block`.
    #[inline(always)]
    fn slot_after(&self, mut block: usize, mut offset: u32) -> Slot {
        while offset >= self.width(block) {
            offset -= self.width(block);
            block = self.next_block(block);
        }
        Slot { block, index: offset }
    }

    /// The slot behind the run that begins at `start`.
    #[inline(always)]
    fn run_end(&self, start: Slot) -> Slot {
        let mut block = start.block;
        let mut index = start.index + 1;
        loop {
            let ones = if index < 64 { (self.head(block).continuation >> index).trailing_ones() } else { 0 };
            index += ones;
            if index < self.width(block) {
                return Slot { block, index };
            }
            block = self.next_block(block);
            index = 0;
        }
    }

    /// The first empty slot from `from` on; there is one.
    #[inline(always)]
    fn empty_slot(&self, from: Slot) -> Slot {
        let mut block = from.block;
        let mut among = u64::MAX << from.index;
        loop {
            let empty = !self.head(block).used() & low_bits(self.width(block)) & among;
            if empty != 0 {
                return Slot { block, index: empty.trailing_zeros() };
            }
            block = self.next_block(block);
            among = u64::MAX;
        }
    }

    /// Adds 1 to the offset of every block that begins behind `home`, up to `empty`, unless one would overflow.
    #[inline(always)]
    fn lengthen_offsets(&mut self, home: Slot, empty: Slot) -> bool {
        let crossed = self.boundaries(home, empty);
        let mut block = home.block;
        for done in 0..crossed {
            block = self.next_block(block);
            let mut head = self.head(block);
            let Some(offset) = head.offset.checked_add(1) else {
                self.shorten_offsets(home, done);
                return false;
            };
            head.offset = offset;
            self.set_head(block, head);
        }
        true
    }

    /// Takes 1 from the offsets of the first `crossed` blocks that begin behind `home`.
    #[inline(always)]
    pub(super) fn shorten_offsets(&mut self, home: Slot, crossed: usize) {
        let mut block = home.block;
        for _ in 0..crossed {
            block = self.next_block(block);
            let mut head = self.head(block);
            head.offset -= 1;
            self.set_head(block, head);
        }
    }

    /// Moves the slots `at .. empty` one up and puts a shifted slot with `remainder` at `at`.
    #[inline(always)]
    fn open(&mut self, at: Slot, empty: Slot, remainder: u64, continuation: bool) {
        let mut high = empty;
        for _ in 0..self.boundaries(at, empty) {
            let below = self.previous_block(high.block);
            let top = Slot { block: below, index: self.width(below) - 1 };
            self.shift_block_up(high.block, 0, high.index, self.remainder(top), self.continues(top));
            high = top;
        }
        self.shift_block_up(at.block, at.index, high.index, remainder, continuation);
    }

    #[inline(always)]
    fn shift_block_up(&mut self, block: usize, low: u32, high: u32, remainder: u64, continuation: bool) {
        self.shift_up(block, low, high, remainder);
        let range = low_bits(high + 1) & (u64::MAX << low);
        let mut head = self.head(block);
        let moved = (head.continuation << 1) & range & (range << 1) | u64::from(continuation) << low;
        head.continuation = head.continuation & !range | moved;
        head.shifted |= range;
        self.set_head(block, head);
    }
}
