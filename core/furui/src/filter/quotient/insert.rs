use std::ops::{Deref, DerefMut};

use crate::bits::Cpu;
use crate::bits::word::low_bits;
use crate::filter::{FilterMut, Full};
use crate::hash::KeyHash;

use super::QuotientFilter;
use super::build::Builder;
use super::merge::{Stream, WINDOW};
use super::slot_table::{Slot, SlotTable};

/// A batch is merged with the table in one pass, instead of inserted key by key, if it has more keys than the filter's
/// number of keys divided by this.
const REBUILD_RATIO: u64 = 16;

/// The outcome of inserting a fingerprint into a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inserted {
    /// The fingerprint was absent and has been inserted.
    New,
    /// The fingerprint was present. If copies are allowed, another copy has been inserted.
    Again,
    /// The fingerprint was absent and the table is full. Nothing has changed.
    Full,
    /// The fingerprint was absent, and its insertion would have moved some run to 2¹⁶ slots after its canonical slot.
    /// Nothing has changed.
    Crowded,
}

impl<M: DerefMut<Target = [u8]>> SlotTable<M> {
    /// Inserts `remainder` into the run of `quotient`, in order. If it is present already, it is inserted again only if
    /// `copies` is true. If `full` is true, nothing is inserted, but a remainder that is present is still found.
    #[inline(always)]
    pub(super) fn insert(&mut self, words: Cpu, quotient: u64, remainder: u64, copies: bool, full: bool) -> Inserted {
        let home = Slot { block: (quotient / 64) as usize, index: (quotient % 64) as u32 };
        let head = self.head(home.block);
        let home_bit = 1 << home.index;
        if head.used() & home_bit == 0 {
            if full {
                return Inserted::Full;
            }
            self.set_occupied(home.block, head.occupied | home_bit);
            self.set_starts(home.block, head.starts | home_bit);
            self.set_remainder(home, remainder);
            return Inserted::New;
        }

        // Find `at`, the slot where the remainder belongs, and whether it becomes the first of its run.
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
            return Inserted::Full;
        }
        let empty = self.empty_slot(at);
        if !self.lengthen_offsets(home, empty) {
            return Inserted::Crowded;
        }
        if !has_run {
            self.set_occupied(home.block, head.occupied | home_bit);
        } else if first {
            // The slot that was the run's first moves up and becomes its second.
            self.set_starts(at.block, self.head(at.block).starts & !(1 << at.index));
        }
        self.open(at, empty, remainder, first, at != home);
        if again { Inserted::Again } else { Inserted::New }
    }

    /// Adds 1 to the offset of every block that begins after `home`, up to `empty`. If an offset would overflow,
    /// changes nothing and returns false.
    #[inline(always)]
    fn lengthen_offsets(&mut self, home: Slot, empty: Slot) -> bool {
        let crossed = self.boundaries(home, empty);
        let mut block = home.block;
        for done in 0..crossed {
            block = self.next_block(block);
            let Some(offset) = self.head(block).offset.checked_add(1) else {
                self.shorten_offsets(home, done);
                return false;
            };
            self.set_offset(block, offset);
        }
        true
    }

    /// Subtracts 1 from the offsets of the first `crossed` blocks that begin after `home`.
    #[inline(always)]
    pub(super) fn shorten_offsets(&mut self, home: Slot, crossed: usize) {
        let mut block = home.block;
        for _ in 0..crossed {
            block = self.next_block(block);
            self.set_offset(block, self.head(block).offset - 1);
        }
    }

    /// Moves the slots `at .. empty` up by one and puts `remainder` into slot `at`; `start` says whether it begins a
    /// run, and `shifted` whether it lies outside its canonical slot.
    #[inline(always)]
    fn open(&mut self, at: Slot, empty: Slot, remainder: u64, start: bool, shifted: bool) {
        let mut high = empty;
        for _ in 0..self.boundaries(at, empty) {
            let below = self.previous_block(high.block);
            let top = Slot { block: below, index: self.width(below) - 1 };
            self.open_block(0, high, self.remainder(top), self.starts(top), true);
            high = top;
        }
        self.open_block(at.index, high, remainder, start, shifted);
    }

    /// Does the part of [`open`](Self::open) that concerns the slots `low .. high` of one block.
    #[inline(always)]
    fn open_block(&mut self, low: u32, high: Slot, remainder: u64, start: bool, shifted: bool) {
        let block = high.block;
        let range = low_bits(high.index + 1) & (u64::MAX << low);
        let head = self.head(block);
        let moved = (head.starts & range) << 1 & range;
        self.set_starts(block, head.starts & !range | moved | u64::from(start) << low);
        self.set_shifted(block, head.shifted | range ^ u64::from(!shifted) << low);
        self.shift_up(block, low, high.index, remainder);
    }
}

impl<M: Deref<Target = [u8]>> SlotTable<M> {
    /// Returns the slot that is `offset` slots after the first slot of `block`.
    #[inline(always)]
    fn slot_after(&self, mut block: usize, mut offset: u32) -> Slot {
        while offset >= self.width(block) {
            offset -= self.width(block);
            block = self.next_block(block);
        }
        Slot { block, index: offset }
    }

    /// Returns the slot after the last slot of the run that begins at `start`.
    #[inline(always)]
    fn run_end(&self, start: Slot) -> Slot {
        let mut block = start.block;
        let mut index = start.index + 1;
        loop {
            let ones = if index < 64 { (self.head(block).continuation() >> index).trailing_ones() } else { 0 };
            index += ones;
            if index < self.width(block) {
                return Slot { block, index };
            }
            block = self.next_block(block);
            index = 0;
        }
    }

    /// Returns the first empty slot from `from` on. There must be one.
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
}

impl<M: DerefMut<Target = [u8]>> QuotientFilter<M> {
    /// Inserts `fingerprint`. Returns true if it was new.
    ///
    /// # Errors
    /// [`Full`] if there is no room for it; nothing is changed then.
    pub(super) fn insert_fingerprint(&mut self, fingerprint: u64) -> Result<bool, Full> {
        let (quotient, remainder) = self.shape.split(fingerprint);
        self.insert_at(quotient, remainder)
    }

    fn insert_at(&mut self, quotient: u64, remainder: u64) -> Result<bool, Full> {
        let (copies, full) = (self.counting, self.len >= self.capacity());
        let table = &mut self.table;
        let inserted = self.words.run(
            #[inline(always)]
            move |words| table.insert(words, quotient, remainder, copies, full),
        );
        let new = match inserted {
            Inserted::New => true,
            Inserted::Again => false,
            Inserted::Full => return Err(Full::AtCapacity { capacity: self.capacity() }),
            Inserted::Crowded => return Err(Full::Crowded { len: self.len }),
        };
        self.len += u64::from(new || copies);
        self.distinct += u64::from(new);
        Ok(new)
    }
}

impl<M: DerefMut<Target = [u8]>> FilterMut for QuotientFilter<M> {
    /// Inserts the fingerprint of `key`. Returns true if it was absent, so that the key was certainly new.
    ///
    /// # Errors
    /// [`Full::AtCapacity`] if the filter holds [`capacity`](QuotientFilter::capacity) fingerprints, [`Full::Crowded`]
    /// if a run would lie 2¹⁶ slots after its canonical slot.
    fn insert_hash(&mut self, key: KeyHash) -> Result<bool, Full> {
        let (quotient, remainder) = self.shape.locate(key);
        self.insert_at(quotient, remainder)
    }

    /// Sorts the batch and inserts it in order, for the sake of the caches. A batch that is large compared with the
    /// filter's contents is instead merged with them into a new table in one pass, which takes memory for a second
    /// table meanwhile. If there is no memory to sort the batch, its keys are inserted in the given order.
    ///
    /// # Errors
    /// [`Full`] if there is no room for all keys. Some of them may then have been inserted; nothing else has changed.
    fn insert_all(&mut self, keys: &[KeyHash]) -> Result<u64, Full> {
        let before = self.distinct;
        let mut fingerprints = vec![];
        if fingerprints.try_reserve_exact(keys.len()).is_err() {
            keys.iter().try_for_each(|&key| self.insert_hash(key).map(drop))?;
            return Ok(self.distinct - before);
        }
        fingerprints.extend(keys.iter().map(|&key| self.shape.fingerprint(key)));
        if !fingerprints.is_sorted() {
            fingerprints.sort_unstable();
        }
        if self.len > 0
            && fingerprints.len() as u64 > self.len / REBUILD_RATIO
            && let Ok(mut merged) = self.emptied()
        {
            let batch = Stream::Batch(fingerprints.chunks(WINDOW));
            merged.build(vec![Stream::Table(self.decoder()), batch])?;
            self.take_over(&merged);
        } else {
            Builder::new(self).extend_from_slice(&fingerprints)?;
        }
        Ok(self.distinct - before)
    }
}
