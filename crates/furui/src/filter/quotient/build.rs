use crate::filter::Full;

use super::QuotientFilter;

/// Fills an empty filter from ascending fingerprints: every one goes behind the one before, nothing is searched or
/// moved, and each word of the table is written once.
///
/// What does not fit that scheme is inserted as any other fingerprint: those that wrap around from the table's end,
/// and, as a matter of course, any that comes out of order.
#[derive(Debug)]
pub(super) struct Builder<'a> {
    filter: &'a mut QuotientFilter,
    /// The slot behind the last one filled, counted through all blocks.
    next: u64,
    /// The fingerprint before and its quotient; none at first.
    previous: Option<(u64, u64)>,
    /// True while fingerprints are appended.
    appending: bool,
    quotient_block: u64,
    occupied: u64,
    slot_block: u64,
    continuation: u64,
    shifted: u64,
    /// The word of remainders that is being filled.
    word: u64,
    word_index: u32,
}

impl<'a> Builder<'a> {
    /// Goes on from what `filter` holds; appends only if that is nothing.
    pub(super) fn new(filter: &'a mut QuotientFilter) -> Self {
        let appending = filter.is_empty();
        Self {
            filter,
            next: 0,
            previous: None,
            appending,
            quotient_block: 0,
            occupied: 0,
            slot_block: 0,
            continuation: 0,
            shifted: 0,
            word: 0,
            word_index: 0,
        }
    }

    #[inline]
    pub(super) fn push(&mut self, fingerprint: u64) -> Result<(), Full> {
        if !self.appending {
            return self.filter.insert_fingerprint(fingerprint).map(drop);
        }
        let (quotient, remainder) = self.filter.shape.split(fingerprint);
        let mut continuation = false;
        if let Some((previous, previous_quotient)) = self.previous {
            if fingerprint <= previous {
                if fingerprint == previous && !self.filter.counting {
                    return Ok(());
                }
                if fingerprint < previous {
                    return self.insert(fingerprint);
                }
            }
            continuation = quotient == previous_quotient;
        }
        if self.filter.len == self.filter.capacity() {
            return Err(self.filter.full());
        }
        let position = quotient.max(self.next);
        // The greatest offset this position could need stays below 2¹⁶; beyond, `insert` has the exact answer.
        if position >= self.filter.shape.slots || position - quotient >= u64::from(u16::MAX) {
            return self.insert(fingerprint);
        }

        if quotient / 64 != self.quotient_block {
            self.finish_quotients(quotient / 64);
        }
        self.occupied |= 1 << (quotient % 64);
        if position / 64 != self.slot_block {
            self.finish_slots(position / 64);
        }
        let index = (position % 64) as u32;
        self.continuation |= u64::from(continuation) << index;
        self.shifted |= u64::from(position != quotient) << index;
        self.append_remainder(index, remainder);
        self.filter.len += 1;
        self.filter.distinct += u64::from(self.previous.is_none_or(|(previous, _)| fingerprint != previous));
        self.next = position + 1;
        self.previous = Some((fingerprint, quotient));
        Ok(())
    }

    /// Gives up appending and inserts.
    #[cold]
    fn insert(&mut self, fingerprint: u64) -> Result<(), Full> {
        self.finish();
        self.filter.insert_fingerprint(fingerprint).map(drop)
    }

    #[inline(always)]
    fn append_remainder(&mut self, index: u32, remainder: u64) {
        let r = self.filter.shape.remainder_bits;
        let bit = index * r;
        if bit / 64 != self.word_index {
            self.store_word();
            (self.word, self.word_index) = (0, bit / 64);
        }
        self.word |= remainder << (bit % 64);
        if bit % 64 + r > 64 {
            self.store_word();
            (self.word, self.word_index) = (remainder >> (64 - bit % 64), bit / 64 + 1);
        }
    }

    #[inline(always)]
    fn store_word(&mut self) {
        let words = self.filter.table.words_mut(self.slot_block as usize);
        words[self.word_index as usize] = self.word.to_le_bytes();
    }

    /// Writes the occupied bits so far and the offsets up to `block`, the next with a quotient.
    #[inline(always)]
    fn finish_quotients(&mut self, block: u64) {
        self.filter.table.set_occupied(self.quotient_block as usize, self.occupied);
        self.occupied = 0;
        for between in self.quotient_block + 1..=block {
            let offset = self.next.saturating_sub(between * 64);
            if offset == 0 {
                break;
            }
            let offset = u16::try_from(offset).expect("a position is less than 2^16 slots behind its quotient");
            self.filter.table.set_offset(between as usize, offset);
        }
        self.quotient_block = block;
    }

    /// Writes the slots of the block so far and goes on to `block`.
    #[inline(always)]
    fn finish_slots(&mut self, block: u64) {
        self.store_word();
        self.filter.table.set_continuation(self.slot_block as usize, self.continuation);
        self.filter.table.set_shifted(self.slot_block as usize, self.shifted);
        (self.continuation, self.shifted, self.word, self.word_index) = (0, 0, 0, 0);
        self.slot_block = block;
    }

    /// Writes what is still held back. The filter is whole only after this.
    pub(super) fn finish(&mut self) {
        if self.appending {
            self.appending = false;
            self.finish_quotients(self.filter.table.blocks() as u64 - 1);
            self.finish_slots(0);
        }
    }
}

impl Drop for Builder<'_> {
    /// A filter is whole again whenever its builder is gone.
    fn drop(&mut self) {
        self.finish();
    }
}
