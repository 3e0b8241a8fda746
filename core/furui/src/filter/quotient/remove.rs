use std::ops::DerefMut;

use crate::bits::Cpu;
use crate::bits::word::low_bits;
use crate::filter::ConfigError;
use crate::hash::KeyHash;

use super::QuotientFilter;
use super::slot_table::{Slot, SlotTable};

/// The outcome of removing a fingerprint from a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Removed {
    /// The only copy of the fingerprint has been removed.
    Last,
    /// One of several copies of the fingerprint has been removed.
    Copy,
    /// No key with this fingerprint is in the filter; nothing was changed.
    Absent,
}

impl<M: DerefMut<Target = [u8]>> SlotTable<M> {
    /// Removes one copy of `remainder` from the run of `quotient` and moves the rest of the cluster back by one slot.
    #[inline(always)]
    pub(super) fn remove(&mut self, words: Cpu, quotient: u64, remainder: u64) -> Removed {
        let home = Slot { block: (quotient / 64) as usize, index: (quotient % 64) as u32 };
        let head = self.head(home.block);
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
        // The run's second slot moves down and becomes its first.
        let new_first = first && more_behind;
        if new_first {
            self.set_starts(behind.block, self.head(behind.block).starts | 1 << behind.index);
        }
        // The quotients of the runs that begin at `at` or later, in order. `quotient` is among them only if its run
        // still begins there.
        let quotients = head.occupied & (u64::MAX << home.index << u32::from(!new_first));
        self.close(at, end, home.block, quotients);
        if first && !more_behind {
            self.set_occupied(home.block, head.occupied & !(1 << home.index));
        }
        if copy { Removed::Copy } else { Removed::Last }
    }

    /// The last of the slots that move down when `at` is emptied: the slot before the first one after `at` that is
    /// empty or starts a cluster. All slots in between are shifted.
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

    /// Moves the slots after `at`, up to `end`, down by one, overwriting `at`, and empties `end`. The runs that then
    /// begin at `at` or later must be those of `quotients` in `quotient_block` and of all quotients in later blocks.
    #[inline(always)]
    fn close(&mut self, at: Slot, end: Slot, mut quotient_block: usize, mut quotients: u64) {
        let mut low = at;
        for left in (0..=self.boundaries(at, end)).rev() {
            let block = low.block;
            let above = Slot { block: self.next_block(block), index: 0 };
            let (high, remainder, start) = if left == 0 {
                (end.index, 0, false)
            } else {
                (self.width(block) - 1, self.remainder(above), self.starts(above))
            };
            self.shift_down(block, low.index, high, remainder);

            let range = low_bits(high + 1) & (u64::MAX << low.index);
            let head = self.head(block);
            let moved = (head.starts & range) >> 1 & range | u64::from(start) << high;
            self.set_starts(block, head.starts & !range | moved);
            let used = if left == 0 { range & !(1 << high) } else { range };
            let home = self.home_starts(moved, block, &mut quotient_block, &mut quotients);
            self.set_shifted(block, head.shifted & !range | used & !home);
            low = above;
        }
    }

    /// Returns those of the run starts `starts` in `block` that are in their canonical slots. Their quotients must be
    /// the first of `quotients` in `quotient_block` and of the blocks after it; they are removed from `quotients`.
    ///
    /// Run starts and occupied bits correspond in order, so both are walked together, one bit of each per step, with no
    /// branch except at the end of a word.
    #[inline(always)]
    fn home_starts(&self, mut starts: u64, block: usize, quotient_block: &mut usize, quotients: &mut u64) -> u64 {
        let mut home = 0;
        while starts != 0 {
            while *quotients == 0 {
                *quotient_block = self.next_block(*quotient_block);
                *quotients = self.head(*quotient_block).occupied;
            }
            let pairs = starts.count_ones().min(quotients.count_ones());
            let mut equal = 0;
            for _ in 0..pairs {
                let (start, quotient) = (starts & starts.wrapping_neg(), *quotients & quotients.wrapping_neg());
                equal |= start & quotient;
                starts ^= start;
                *quotients ^= quotient;
            }
            if *quotient_block == block {
                home |= equal;
            }
        }
        home
    }
}

impl<M: DerefMut<Target = [u8]>> QuotientFilter<M> {
    /// Removes one copy of `key` from a [`counting`](Self::counting) filter. Returns false if its fingerprint is
    /// absent.
    ///
    /// Remove only keys that were inserted, and each at most as often as it was inserted. A key that was not inserted
    /// may share its fingerprint with an inserted key. The filter cannot tell the two apart: removing the first makes
    /// the filter forget the second, which is a false negative.
    ///
    /// # Errors
    /// [`ConfigError::OneCopy`] if the filter is a set. There, two keys with one fingerprint are one entry, so that
    /// removing either would remove both.
    pub fn remove(&mut self, key: impl AsRef<[u8]>) -> Result<bool, ConfigError> {
        self.remove_hash(self.hash.hash(key.as_ref()))
    }

    /// Works like [`remove`](Self::remove) for a key that the caller hashed by [`hash_spec`](Self::hash_spec). Nothing
    /// checks this: a hash that was made in another way counts as the hash of another key.
    ///
    /// # Errors
    /// [`ConfigError::OneCopy`] if the filter is a set.
    pub fn remove_hash(&mut self, key: KeyHash) -> Result<bool, ConfigError> {
        if !self.counting {
            return Err(ConfigError::OneCopy);
        }
        let (table, (quotient, remainder)) = (&mut self.table, self.shape.locate(key));
        let removed = self.words.run(
            #[inline(always)]
            move |words| table.remove(words, quotient, remainder),
        );
        if removed == Removed::Absent {
            return Ok(false);
        }
        self.len -= 1;
        self.distinct -= u64::from(removed == Removed::Last);
        Ok(true)
    }
}
