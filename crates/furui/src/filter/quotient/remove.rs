use crate::bits::arch::Words;
use crate::bits::word::low_bits;

use super::table::{Slot, Table};

/// What became of a fingerprint that was to be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Removed {
    /// It was there once, and is gone.
    Last,
    /// It was there several times, and is there once less.
    Copy,
    /// It was not there.
    Absent,
}

impl Table {
    /// Takes one copy of `remainder` out of the run of `quotient`; the rest of the cluster moves back by one slot.
    #[inline(always)]
    pub(super) fn remove(&mut self, words: Words, quotient: u64, remainder: u64) -> Removed {
        let home = Slot { block: (quotient / 64) as usize, index: (quotient % 64) as u32 };
        let mut head = self.head(home.block);
        if head.occupied >> home.index & 1 == 0 {
            return Removed::Absent;
        }
        let rank = (head.occupied & low_bits(home.index)).count_ones();
        let start = self.run_start(words, home.block, &head, rank);
        let mut at = start;
        loop {
            let found = self.remainder(at);
            if found == remainder {
                break;
            }
            at = self.next(at);
            if found > remainder || !self.continues(at) {
                return Removed::Absent;
            }
        }
        let behind = self.next(at);
        let more_behind = behind != start && self.continues(behind);
        let copy = more_behind && self.remainder(behind) == remainder;
        let first = at == start;

        let end = self.last_to_move(at);
        self.shorten_offsets(home, self.boundaries(home, end));
        self.close(at, end);
        if first && more_behind {
            let mut head = self.head(at.block);
            head.continuation &= !(1 << at.index);
            self.set_head(at.block, head);
        }
        // The quotients whose runs begin from `at` on, in order: this one only if its run still does.
        let behind_home = u64::MAX << home.index << u32::from(!(first && more_behind));
        self.clear_shifted(home.block, behind_home, at, end);
        if first && !more_behind {
            head = self.head(home.block);
            head.occupied &= !(1 << home.index);
            self.set_head(home.block, head);
        }
        if copy { Removed::Copy } else { Removed::Last }
    }

    /// The last slot before the first behind `at` that is empty or starts a cluster: slots up to it are shifted.
    #[inline(always)]
    fn last_to_move(&self, at: Slot) -> Slot {
        let mut block = at.block;
        let mut among = u64::MAX << at.index << 1;
        loop {
            let stop = !self.head(block).shifted & low_bits(self.width(block)) & among;
            if stop != 0 {
                let index = stop.trailing_zeros();
                if index > 0 {
                    return Slot { block, index: index - 1 };
                }
                let block = self.previous_block(block);
                return Slot { block, index: self.width(block) - 1 };
            }
            block = self.next_block(block);
            among = u64::MAX;
        }
    }

    /// Moves the slots behind `at`, up to `end`, one down, over `at`, and empties `end`.
    #[inline(always)]
    fn close(&mut self, at: Slot, end: Slot) {
        let mut low = at;
        for _ in 0..self.boundaries(at, end) {
            let above = Slot { block: self.next_block(low.block), index: 0 };
            let high = self.width(low.block) - 1;
            self.shift_block_down(low, high, self.remainder(above), self.continues(above));
            low = above;
        }
        self.shift_block_down(low, end.index, 0, false);
        let mut head = self.head(end.block);
        head.shifted &= !(1 << end.index);
        self.set_head(end.block, head);
    }

    #[inline(always)]
    fn shift_block_down(&mut self, low: Slot, high: u32, remainder: u64, continuation: bool) {
        self.shift_down(low.block, low.index, high, remainder);
        let range = low_bits(high + 1) & (u64::MAX << low.index);
        let mut head = self.head(low.block);
        let moved = (head.continuation & range) >> 1 & range | u64::from(continuation) << high;
        head.continuation = head.continuation & !range | moved;
        head.shifted |= range;
        self.set_head(low.block, head);
    }

    /// Clears is_shifted of the runs from `at` up to before `end` that begin in their canonical slot. `quotients`
    /// masks the first of their quotients in `quotient_block`.
    ///
    /// Run starts and occupied bits pair up in order: the two are walked in step, one bit each a step and no branch
    /// but at the end of a word.
    #[inline(always)]
    fn clear_shifted(&mut self, mut quotient_block: usize, quotients: u64, at: Slot, end: Slot) {
        let mut occupied = self.head(quotient_block).occupied & quotients;
        let mut low = at;
        for left in (0..=self.boundaries(at, end)).rev() {
            let high = if left == 0 { end.index } else { self.width(low.block) };
            let mut head = self.head(low.block);
            let mut starts = !head.continuation & low_bits(high) & (u64::MAX << low.index);
            let mut home = 0;
            while starts != 0 {
                while occupied == 0 {
                    quotient_block = self.next_block(quotient_block);
                    occupied = self.head(quotient_block).occupied;
                }
                for _ in 0..starts.count_ones().min(occupied.count_ones()) {
                    let (start, quotient) = (starts & starts.wrapping_neg(), occupied & occupied.wrapping_neg());
                    home |= start & quotient;
                    starts ^= start;
                    occupied ^= quotient;
                }
                if quotient_block != low.block {
                    home = 0;
                }
            }
            head.shifted &= !home;
            self.set_head(low.block, head);
            low = Slot { block: self.next_block(low.block), index: 0 };
        }
    }
}
