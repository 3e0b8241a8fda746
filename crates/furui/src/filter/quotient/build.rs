use crate::filter::Full;

use super::QuotientFilter;
use super::iter::CHUNK;
use super::shape::Shape;
use super::table::Table;

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
    /// Where to append; none once fingerprints are inserted.
    end: Option<End>,
}

/// The end of a table that is being filled: all that is not in the table yet. Small enough for registers.
#[derive(Clone, Copy, Debug)]
struct End {
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
    len: u64,
    distinct: u64,
}

impl<'a> Builder<'a> {
    /// Goes on from what `filter` holds; appends only if that is nothing.
    pub(super) fn new(filter: &'a mut QuotientFilter) -> Self {
        let end = End {
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
            len: 0,
            distinct: 0,
        };
        let end = filter.is_empty().then_some(end);
        Self { filter, end }
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
        let mut appended = 0;
        if let Some(mut end) = self.end {
            let QuotientFilter { table, shape, words, counting, .. } = &mut *self.filter;
            let (shape, counting) = (*shape, *counting);
            self.end = Some(words.run(
                #[inline(always)]
                |_| {
                    for &fingerprint in fingerprints {
                        if !end.append(table, &shape, counting, fingerprint) {
                            break;
                        }
                        appended += 1;
                    }
                    end
                },
            ));
        }
        if appended < fingerprints.len() {
            self.finish();
        }
        fingerprints[appended..]
            .iter()
            .try_for_each(|&fingerprint| self.filter.insert_fingerprint(fingerprint).map(drop))
    }

    /// Writes what is still held back. The filter is whole only after this.
    fn finish(&mut self) {
        if let Some(mut end) = self.end.take() {
            let table = &mut self.filter.table;
            end.finish_quotients(table, table.blocks() as u64 - 1);
            end.finish_slots(table, 0);
            (self.filter.len, self.filter.distinct) = (end.len, end.distinct);
        }
    }
}

impl Drop for Builder<'_> {
    /// A filter is whole again whenever its builder is gone.
    fn drop(&mut self) {
        self.finish();
    }
}

impl End {
    /// False, with nothing done, if the fingerprint does not simply go behind the last.
    #[inline(always)]
    fn append(&mut self, table: &mut Table, shape: &Shape, counting: bool, fingerprint: u64) -> bool {
        let (quotient, remainder) = shape.split(fingerprint);
        let continuation = quotient == self.previous_quotient;
        let copy = continuation & (fingerprint == self.previous);
        let position = quotient.max(self.next);
        // Offsets so near to 2¹⁶ that only `insert` has the exact answer are left to it.
        let regular = (fingerprint >= self.previous)
            & (position < shape.slots)
            & (position - quotient < u64::from(u16::MAX))
            & (self.len < shape.capacity);
        if !regular || copy && !counting {
            return regular;
        }
        if quotient / 64 != self.quotient_block {
            self.finish_quotients(table, quotient / 64);
        }
        if position / 64 != self.slot_block {
            self.finish_slots(table, position / 64);
        }
        let index = (position % 64) as u32;
        self.occupied |= 1 << (quotient % 64);
        self.starts |= u64::from(!continuation) << index;
        self.shifted |= u64::from(position != quotient) << index;

        // Eight bytes are written at the byte in which the remainder begins, together with what the slots before have
        // in that byte. The bytes behind the remainder get their values later: the next slots', or, of the next block,
        // its offset and occupied bits.
        let bit = index * shape.remainder_bits;
        let before = self.tail.checked_shr(8 * (bit / 8 - self.tail_at)).unwrap_or(0);
        (self.tail, self.tail_at) = (before | remainder << (bit % 8), bit / 8);
        table.store_remainders(self.slot_block as usize, self.tail_at as usize, self.tail);

        self.len += 1;
        self.distinct += u64::from(!copy);
        self.next = position + 1;
        (self.previous, self.previous_quotient) = (fingerprint, quotient);
        true
    }

    /// Writes the occupied bits so far and the offsets up to `block`, the next with a quotient.
    #[inline(always)]
    fn finish_quotients(&mut self, table: &mut Table, block: u64) {
        table.set_occupied(self.quotient_block as usize, self.occupied);
        self.occupied = 0;
        for between in self.quotient_block + 1..=block {
            let offset = self.next.saturating_sub(between * 64);
            if offset == 0 {
                break;
            }
            let offset = u16::try_from(offset).expect("a position is less than 2^16 slots behind its quotient");
            table.set_offset(between as usize, offset);
        }
        self.quotient_block = block;
    }

    /// Writes the planes of the slots so far and goes on to `block`.
    #[inline(always)]
    fn finish_slots(&mut self, table: &mut Table, block: u64) {
        table.set_starts(self.slot_block as usize, self.starts);
        table.set_shifted(self.slot_block as usize, self.shifted);
        (self.starts, self.shifted, self.tail, self.tail_at) = (0, 0, 0, 0);
        self.slot_block = block;
    }
}
