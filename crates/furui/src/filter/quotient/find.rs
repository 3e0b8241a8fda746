use std::ops::Deref;

use crate::bits::arch::Words;
use crate::bits::word::{Lanes, low_bits};

use super::table::{Head, Slot, Table};

impl<M: Deref<Target = [u8]>> Table<M> {
    /// Where the `rank`-th run, counted from 0, of the quotients of `block` begins.
    ///
    /// Runs lie in the order of their quotients, and the first of this block's lies behind `offset` slots, so the
    /// seed's walk to the cluster's start and back is one select among the run starts from there on.
    #[inline(always)]
    pub(super) fn run_start(&self, words: Words, block: usize, head: &Head, rank: u32) -> Slot {
        match near_run_start(words, head, rank) {
            64.. => self.distant_run_start(words, block, rank),
            index => Slot { block, index },
        }
    }

    /// [`run_start`](Self::run_start) for a run that begins in a later block. Not inlined, so that the usual way needs
    /// few registers and instructions: then more lookups are in flight at a time.
    #[inline(never)]
    fn distant_run_start(&self, words: Words, block: usize, rank: u32) -> Slot {
        words.run(
            #[inline(always)]
            move |words| {
                let (mut block, mut rank) = (block, rank);
                let mut head = self.head(block);
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
            },
        )
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
        let index = near_run_start(words, &head, rank);
        if index >= 64 {
            return self.in_distant_run(words, block, rank, remainder);
        }
        // Up to the next start lie the run and perhaps empty slots, which hold 0; a remainder of 0 is a run's first.
        let ends = head.starts >> index >> 1 | 1 << (63 - index);
        let run = if remainder == 0 { 1 } else { ends.trailing_zeros() + 1 };
        let compared = run.min(lanes.count().max(2));
        let first = Slot { block, index };
        let found = if lanes.count() > 1 {
            lanes.any_equal(self.remainders_from(first), remainder, compared)
        } else {
            let second = Slot { block, index: index + compared - 1 };
            (self.remainder(first) == remainder) | (self.remainder(second) == remainder)
        };
        if found {
            return true;
        }
        let rest = index + compared;
        if compared == run && rest < 64 {
            return false;
        }
        self.in_rest_of_run(Slot { block, index: rest }, remainder)
    }

    /// [`contains`](Self::contains) for a run that begins in a later block.
    #[inline(never)]
    fn in_distant_run(&self, words: Words, block: usize, rank: u32, remainder: u64) -> bool {
        let start = self.distant_run_start(words, block, rank);
        self.remainder(start) == remainder || self.in_rest_of_run(Slot { index: start.index + 1, ..start }, remainder)
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

    /// is_shifted of `slot`.
    #[inline(always)]
    pub(super) fn is_shifted(&self, slot: Slot) -> bool {
        self.head(slot.block).shifted >> slot.index & 1 == 1
    }

    /// is_continuation of `slot`.
    #[inline(always)]
    pub(super) fn continues(&self, slot: Slot) -> bool {
        self.head(slot.block).continuation() >> slot.index & 1 == 1
    }
}

/// The index in its own block of where a run begins, as [`Table::run_start`]; 64 if it begins in a later block.
#[inline(always)]
fn near_run_start(words: Words, head: &Head, rank: u32) -> u32 {
    let offset = u32::from(head.offset);
    if offset < 64 { words.select(head.starts & (u64::MAX << offset), rank) } else { 64 }
}
