use crate::filter::Full;

use super::QuotientFilter;
use super::iter::CHUNK;

/// No quotient: there are fewer slots.
const NONE: u64 = u64::MAX;

/// Fills an empty filter from ascending fingerprints: every one goes behind the one before, nothing is searched, moved
/// or read back.
///
/// What does not fit that scheme is inserted as any other fingerprint: those that wrap around from the table's end,
/// and, as a matter of course, any that comes out of order.
#[derive(Debug)]
pub(super) struct Builder<'a> {
    filter: &'a mut QuotientFilter,
    /// True while fingerprints are appended.
    appending: bool,
    /// The slot behind the last one filled, counted through all blocks.
    next: u64,
    /// The fingerprint before and its quotient; [`NONE`] at first.
    previous: u64,
    previous_quotient: u64,
    /// Occupied bits of `quotient_block` and the other planes of `slot_block`, the blocks of `previous`.
    quotient_block: u64,
    occupied: u64,
    slot_block: u64,
    starts: u64,
    shifted: u64,
    /// The eight bytes that were written last, and at which byte of the block's remainders.
    tail: u64,
    tail_at: u32,
}

impl<'a> Builder<'a> {
    /// Goes on from what `filter` holds; appends only if that is nothing.
    pub(super) fn new(filter: &'a mut QuotientFilter) -> Self {
        Self {
            appending: filter.is_empty(),
            filter,
            next: 0,
            previous: 0,
            previous_quotient: NONE,
            quotient_block: 0,
            occupied: 0,
            slot_block: 0,
            starts: 0,
            shifted: 0,
            tail: 0,
            tail_at: 0,
        }
    }

    /// Appends a sequence of any length.
    pub(super) fn extend(&mut self, fingerprints: impl IntoIterator<Item = u64>) -> Result<(), Full> {
        let mut fingerprints = fingerprints.into_iter();
        let mut chunk = [0; CHUNK];
        loop {
            let mut count = 0;
            for (slot, fingerprint) in chunk.iter_mut().zip(&mut fingerprints) {
                *slot = fingerprint;
                count += 1;
            }
            if count == 0 {
                return Ok(());
            }
            self.extend_from_slice(&chunk[..count])?;
        }
    }

    pub(super) fn extend_from_slice(&mut self, fingerprints: &[u64]) -> Result<(), Full> {
        self.filter.words.run(
            #[inline(always)]
            move |_| {
                fingerprints.iter().try_for_each(
                    #[inline(always)]
                    |&fingerprint| self.push(fingerprint),
                )
            },
        )
    }

    #[inline(always)]
    fn push(&mut self, fingerprint: u64) -> Result<(), Full> {
        let (quotient, remainder) = self.filter.shape.split(fingerprint);
        let continuation = quotient == self.previous_quotient;
        let copy = continuation & (fingerprint == self.previous);
        let position = quotient.max(self.next);
        // Offsets so near to 2¹⁶ that only `insert` has the exact answer are left to it.
        let regular = self.appending
            & (fingerprint >= self.previous)
            & (position < self.filter.shape.slots)
            & (position - quotient < u64::from(u16::MAX))
            & (self.filter.len < self.filter.shape.capacity);
        if !regular {
            self.finish();
            return self.filter.insert_fingerprint(fingerprint).map(drop);
        }
        if copy && !self.filter.counting {
            return Ok(());
        }
        if quotient / 64 != self.quotient_block {
            self.finish_quotients(quotient / 64);
        }
        if position / 64 != self.slot_block {
            self.finish_slots(position / 64);
        }
        let index = (position % 64) as u32;
        self.occupied |= 1 << (quotient % 64);
        self.starts |= u64::from(!continuation) << index;
        self.shifted |= u64::from(position != quotient) << index;

        // Eight bytes are written at the byte in which the remainder begins, together with what the slots before have
        // in that byte. The bytes behind the remainder get their values later: the next slots', or, of the next block,
        // its offset and occupied bits.
        let (at, shift) = (index * self.filter.shape.remainder_bits / 8, index * self.filter.shape.remainder_bits % 8);
        let before = self.tail.checked_shr(8 * (at - self.tail_at)).unwrap_or(0);
        (self.tail, self.tail_at) = (before | remainder << shift, at);
        self.filter.table.store_remainders(self.slot_block as usize, at as usize, self.tail);

        self.filter.len += 1;
        self.filter.distinct += u64::from(!copy);
        self.next = position + 1;
        (self.previous, self.previous_quotient) = (fingerprint, quotient);
        Ok(())
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

    /// Writes the planes of the slots so far and goes on to `block`.
    #[inline(always)]
    fn finish_slots(&mut self, block: u64) {
        self.filter.table.set_starts(self.slot_block as usize, self.starts);
        self.filter.table.set_shifted(self.slot_block as usize, self.shifted);
        (self.starts, self.shifted, self.tail, self.tail_at) = (0, 0, 0, 0);
        self.slot_block = block;
    }

    /// Writes what is still held back. The filter is whole only after this.
    #[cold]
    fn finish(&mut self) {
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
