use std::ops::{Deref, DerefMut};

use crate::bits::Buffer;
use crate::filter::{ConfigError, Full};

use super::QuotientFilter;
use super::iter::CHUNK;
use super::merge::Stream;
use super::shape::Shape;
use super::slot_table::SlotTable;

/// The number that stands for "no quotient". It is greater than every quotient.
const NONE: u64 = u64::MAX;

/// Fills an empty filter with ascending fingerprints, each appended after the one before; nothing is searched, moved or
/// read back.
///
/// Fingerprints that cannot be appended are inserted as usual: those that wrap around from the table's end, and any
/// that come out of order.
#[derive(Debug)]
pub(super) struct Builder<'a, M: DerefMut<Target = [u8]> = Buffer> {
    filter: &'a mut QuotientFilter<M>,
    /// True as long as all fingerprints could be appended. From then on, fingerprints are inserted as usual.
    appending: bool,
    front: Front,
}

/// The position of a builder, and the data of the current blocks that is not yet written to the table. It is a few
/// words, to be kept in registers while a chunk is appended.
#[derive(Clone, Copy, Debug)]
struct Front {
    /// The number of the slot after the last one that was filled, counted through all blocks of the table.
    next: u64,
    /// The fingerprint that was appended last; 0 at first.
    previous: u64,
    /// The quotient of the fingerprint that was appended last; [`NONE`] at first.
    previous_quotient: u64,
    /// The number of the block to which the last quotient belongs.
    quotient_block: u64,
    /// The bits of block `quotient_block` that mark the quotients that have runs.
    occupied: u64,
    /// The number of the block to which the last filled slot belongs.
    slot_block: u64,
    /// The bits of block `slot_block` that mark the slots in which runs begin.
    starts: u64,
    /// The bits of block `slot_block` that mark the slots whose remainders are not in their canonical slots.
    shifted: u64,
    /// The eight bytes of remainders that were written last.
    tail: u64,
    /// The offset of `tail` among the bytes of the block's remainders.
    tail_at: u32,
}

impl<'a, M: DerefMut<Target = [u8]>> Builder<'a, M> {
    /// A builder that adds to `filter`, by appending only if `filter` is empty.
    pub(super) fn new(filter: &'a mut QuotientFilter<M>) -> Self {
        let front = Front {
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
        };
        Self { appending: filter.is_empty(), filter, front }
    }

    /// Adds the fingerprints of a sequence of any length.
    ///
    /// # Errors
    /// [`Full`] as soon as a fingerprint has no room; those before it are in the table.
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

    /// Adds fingerprints. Ascending ones are appended; others are inserted one by one, which takes longer.
    ///
    /// # Errors
    /// [`Full`] as soon as a fingerprint has no room; those before it are in the table.
    pub(super) fn extend_from_slice(&mut self, fingerprints: &[u64]) -> Result<(), Full> {
        let mut rest = fingerprints;
        while let Some((&first, behind_first)) = rest.split_first() {
            let (regular, behind) = rest.split_at(self.regular(rest));
            if regular.is_empty() {
                self.finish();
                self.filter.insert_fingerprint(first)?;
                rest = behind_first;
            } else {
                self.append(regular);
                rest = behind;
            }
        }
        Ok(())
    }

    /// The number of fingerprints at the front of `fingerprints`, at most a chunk, that can certainly be appended; 0
    /// only if the first cannot.
    fn regular(&self, fingerprints: &[u64]) -> usize {
        let (shape, front) = (&self.filter.shape, &self.front);
        let first = fingerprints[0];
        if !self.appending || first < front.previous {
            return 0;
        }
        let behind = front.next.saturating_sub(shape.split(first).0);
        let room = shape.capacity - self.filter.len;
        let mut count = fingerprints.len().min(CHUNK);
        loop {
            let (some, n) = (&fingerprints[..count], count as u64);
            let Some(&last) = some.last() else { return 0 };
            // The distance of a slot from its quotient's canonical slot grows by at most 1 from one fingerprint to the
            // next. If an offset might come so near to 2¹⁶ that only `insert` can tell whether it fits, `insert`
            // decides.
            let fits = n <= room
                && behind + n <= u64::from(u16::MAX)
                && front.next.max(shape.split(last).0) + n <= shape.slots
                && some.is_sorted();
            if fits {
                return count;
            }
            count /= 2;
        }
    }

    /// Appends fingerprints that can be appended according to [`regular`](Self::regular).
    fn append(&mut self, fingerprints: &[u64]) {
        let filter = &mut *self.filter;
        let (table, shape, counting) = (&mut filter.table, filter.shape, filter.counting);
        let start = self.front;
        let (front, copies) = filter.words.run(
            #[inline(always)]
            move |_| {
                let (mut front, mut copies, mut rest) = (start, 0, fingerprints);
                loop {
                    let remainders = table.remainders_mut(front.slot_block as usize);
                    let done = front.fill_block(remainders, &shape, counting, rest, &mut copies);
                    rest = &rest[done..];
                    let Some(&first) = rest.first() else { return (front, copies) };
                    front.go_to(table, shape.split(first).0);
                }
            },
        );
        self.front = front;
        let count = fingerprints.len() as u64;
        filter.distinct += count - copies;
        filter.len += if counting { count } else { count - copies };
    }

    /// Writes the data that is still in registers to the table. The filter is valid only after this.
    #[cold]
    fn finish(&mut self) {
        if self.appending {
            self.appending = false;
            let last = self.filter.table.blocks() as u64 - 1;
            self.front.finish_quotients(&mut self.filter.table, last);
            self.front.finish_slots(&mut self.filter.table, 0);
        }
    }
}

impl Front {
    /// Appends the fingerprints up to the first one of another block and returns their number. Adds to `copies` the
    /// number of fingerprints that equal the one before, which take slots only if `counting`.
    #[inline(always)]
    fn fill_block(
        &mut self,
        remainders: &mut [u8],
        shape: &Shape,
        counting: bool,
        fingerprints: &[u64],
        copies: &mut u64,
    ) -> usize {
        let mut done = 0;
        for &fingerprint in fingerprints {
            let (quotient, remainder) = shape.split(fingerprint);
            let continuation = quotient == self.previous_quotient;
            let copy = continuation & (fingerprint == self.previous);
            if copy && !counting {
                *copies += 1;
                done += 1;
                continue;
            }
            let position = quotient.max(self.next);
            if (quotient / 64 != self.quotient_block) | (position / 64 != self.slot_block) {
                break;
            }
            let index = (position % 64) as u32;
            self.occupied |= 1 << (quotient % 64);
            self.starts |= u64::from(!continuation) << index;
            self.shifted |= u64::from(position != quotient) << index;

            // Write eight bytes at the byte in which the remainder begins, including the bits of earlier slots in that
            // byte. The bytes after the remainder get their values later: those of the next slots or, in the next
            // block, its offset and occupied bits.
            let bit = index * shape.remainder_bits;
            let (at, shift) = (bit / 8, bit % 8);
            let before = self.tail.checked_shr(8 * (at - self.tail_at)).unwrap_or(0);
            (self.tail, self.tail_at) = (before | remainder << shift, at);
            *remainders[at as usize..].first_chunk_mut().expect("padding follows the last block") =
                self.tail.to_le_bytes();

            *copies += u64::from(copy);
            done += 1;
            self.next = position + 1;
            (self.previous, self.previous_quotient) = (fingerprint, quotient);
        }
        done
    }

    /// Continues with the blocks that hold the next `quotient` and its slot; the blocks that are complete are written
    /// to the table.
    #[inline(always)]
    fn go_to(&mut self, table: &mut SlotTable<impl DerefMut<Target = [u8]>>, quotient: u64) {
        if quotient / 64 != self.quotient_block {
            self.finish_quotients(table, quotient / 64);
        }
        let position = quotient.max(self.next);
        if position / 64 != self.slot_block {
            self.finish_slots(table, position / 64);
        }
    }

    /// Writes the pending occupied bits, and the offsets of the blocks up to `block`, the next that has a quotient.
    #[inline(always)]
    fn finish_quotients(&mut self, table: &mut SlotTable<impl DerefMut<Target = [u8]>>, block: u64) {
        table.set_occupied(self.quotient_block as usize, self.occupied);
        self.occupied = 0;
        for between in self.quotient_block + 1..=block {
            let offset = self.next.saturating_sub(between * 64);
            if offset == 0 {
                break;
            }
            let offset = u16::try_from(offset).expect("a position is less than 2^16 slots after its quotient");
            table.set_offset(between as usize, offset);
        }
        self.quotient_block = block;
    }

    /// Writes the pending bit planes of the current block of slots, and continues with the block of the number `block`.
    #[inline(always)]
    fn finish_slots(&mut self, table: &mut SlotTable<impl DerefMut<Target = [u8]>>, block: u64) {
        table.set_starts(self.slot_block as usize, self.starts);
        table.set_shifted(self.slot_block as usize, self.shifted);
        (self.starts, self.shifted, self.tail, self.tail_at) = (0, 0, 0, 0);
        self.slot_block = block;
    }
}

impl<M: DerefMut<Target = [u8]>> Drop for Builder<'_, M> {
    /// Writes the pending data, so that the filter is valid once its builder is dropped.
    fn drop(&mut self) {
        self.finish();
    }
}

impl<M: Deref<Target = [u8]>> QuotientFilter<M> {
    /// An empty filter with the shape, hash specification and counting mode of this one.
    ///
    /// # Errors
    /// [`ConfigError::NoMemory`].
    pub(super) fn emptied(&self) -> Result<QuotientFilter, ConfigError> {
        let empty = QuotientFilter::with_shape(self.shape)?;
        Ok(QuotientFilter { counting: self.counting, hash: self.hash, ..empty })
    }
}

impl<M: DerefMut<Target = [u8]>> QuotientFilter<M> {
    /// Fills this empty filter with the union of `streams`.
    ///
    /// # Errors
    /// [`Full`] if the union does not fit; the filter then holds a part of it.
    pub(super) fn build(&mut self, streams: Vec<Stream<'_>>) -> Result<(), Full> {
        let mut builder = Builder::new(self);
        let mut piece = vec![];
        if let Some(mut stream) = Stream::merged(streams) {
            loop {
                stream.next_piece(&mut piece);
                if piece.is_empty() {
                    break;
                }
                builder.extend_from_slice(&piece)?;
            }
        }
        Ok(())
    }

    /// Copies the contents of `other`, which must have been made by [`emptied`](Self::emptied) of this filter.
    pub(super) fn take_over(&mut self, other: &QuotientFilter) {
        self.table.copy_from(&other.table);
        (self.len, self.distinct) = (other.len, other.distinct);
    }
}
