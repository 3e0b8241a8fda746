use crate::bits::arch::Words;
use crate::bits::word::{Lanes, low_bits};

use super::table::{Head, Slot, Table};

impl Table {
    /// Where the `rank`-th run, counted from 0, of the quotients of `block` begins.
    ///
    /// Runs lie in the order of their quotients, and the first of this block's lies behind `offset` slots, so the
    /// seed's walk to the cluster's start and back is one select among the run starts from there on.
    #[inline(always)]
    pub(super) fn run_start(&self, words: Words, block: usize, head: &Head, rank: u32) -> Slot {
        let offset = u32::from(head.offset);
        if offset < 64 {
            let index = words.select(head.starts & (u64::MAX << offset), rank);
            if index < 64 {
                return Slot { block, index };
            }
        }
        self.distant_run_start(words, block, head, rank)
    }

    /// [`run_start`](Self::run_start) for a run that begins in a later block.
    #[inline(always)]
    fn distant_run_start(&self, words: Words, mut block: usize, head: &Head, mut rank: u32) -> Slot {
        let mut head = *head;
        let mut skip = u32::from(head.offset);
        loop {
            let starts = if skip < 64 { head.starts & (u64::MAX << skip) } else { 0 };
            let here = starts.count_ones();
            if rank < here {
                return Slot { block, index: words.select(starts, rank) };
            }
            rank -= here;
            skip = skip.saturating_sub(self.width(block));
            block = self.next_block(block);
            head = self.head(block);
        }
    }

    /// Whether `remainder` is in the run of `quotient`. Branches only where a branch is rare: on whether the quotient
    /// has a run at all, and on runs that are long or leave their block.
    #[inline(always)]
    pub(super) fn contains(&self, words: Words, lanes: &Lanes, quotient: u64, remainder: u64) -> bool {
        let (block, index) = ((quotient / 64) as usize, (quotient % 64) as u32);
        // The run begins at home or not far behind: asked for at once, its line comes together with the head's.
        self.prefetch_remainder(Slot { block, index });
        let head = self.head(block);
        if head.occupied >> index & 1 == 0 {
            return false;
        }
        let rank = (head.occupied & low_bits(index)).count_ones();
        let start = self.run_start(words, block, &head, rank);
        // Up to the next start lie the run and perhaps empty slots, which hold 0; a remainder of 0 is a run's first.
        let starts = if start.block == block { head.starts } else { self.head(start.block).starts };
        let run = if remainder == 0 {
            1
        } else {
            (starts >> start.index >> 1 | 1 << (63 - start.index)).trailing_zeros() + 1
        };
        let compared = run.min(lanes.count().max(2));
        let found = if lanes.count() > 1 {
            lanes.any_equal(self.remainders_from(start), remainder, compared)
        } else {
            let second = Slot { index: start.index + compared - 1, ..start };
            (self.remainder(start) == remainder) | (self.remainder(second) == remainder)
        };
        if found {
            return true;
        }
        let rest = Slot { block: start.block, index: start.index + compared };
        if compared == run && rest.index < 64 {
            return false;
        }
        self.in_rest_of_run(rest, remainder)
    }

    /// Whether `remainder` is in a run, from `slot` on, which may be behind a block's last.
    #[inline(never)]
    fn in_rest_of_run(&self, slot: Slot, remainder: u64) -> bool {
        let mut slot = if slot.index < self.width(slot.block) {
            slot
        } else {
            Slot { block: self.next_block(slot.block), index: 0 }
        };
        while self.continues(slot) {
            let found = self.remainder(slot);
            if found >= remainder {
                return found == remainder;
            }
            slot = self.next(slot);
        }
        false
    }

    /// How many times `remainder` is in the run of `quotient`.
    pub(super) fn count(&self, words: Words, quotient: u64, remainder: u64) -> u64 {
        let (block, index) = ((quotient / 64) as usize, (quotient % 64) as u32);
        let head = self.head(block);
        if head.occupied >> index & 1 == 0 {
            return 0;
        }
        let rank = (head.occupied & low_bits(index)).count_ones();
        let mut slot = self.run_start(words, block, &head, rank);
        let mut count = 0;
        loop {
            let found = self.remainder(slot);
            if found > remainder {
                return count;
            }
            count += u64::from(found == remainder);
            slot = self.next(slot);
            if !self.continues(slot) {
                return count;
            }
        }
    }

    /// Whether a run begins in `slot`.
    #[inline(always)]
    pub(super) fn starts(&self, slot: Slot) -> bool {
        self.head(slot.block).starts >> slot.index & 1 == 1
    }

    /// is_continuation of `slot`.
    #[inline(always)]
    pub(super) fn continues(&self, slot: Slot) -> bool {
        self.head(slot.block).continuation() >> slot.index & 1 == 1
    }
}
