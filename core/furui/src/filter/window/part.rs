//! A table of a filter with a window, and its size.

use std::ops::{Deref, DerefMut};

use super::cells::{self, ALL, CELLS, CellLine, Ranges, SLICES};
use crate::bits::Buffer;
use crate::filter::error::no_memory;
use crate::filter::probes::{MAX_PROBES, own_rate};
use crate::filter::{ConfigError, smallest_size};
use crate::hash::KeyHash;

/// The maximum number of ranges of a table: a key has two cells in each.
pub(super) const MAX_RANGES: u32 = MAX_PROBES / 2;
/// The maximum number of lines of a table. Together they have 1 TiB.
pub(super) const MAX_LINES: u64 = 1 << 34;
/// The least number of keys in a slice for which a table is sized: smaller tables would save nothing, and their rates
/// would differ much from the mean.
const MIN_ROOM: u64 = 64;
/// A table may be larger than the smallest one by this fraction if keys then have fewer lines. Chosen: at 1 % a key has
/// three lines in place of six, and takes 20.4 bits in place of 17.0.
const FOR_FEWER_LINES: f64 = 1.2;

/// A table of cells, and how many keys were put into it in each slice.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part<M> {
    /// The lines of all ranges.
    pub(super) table: M,
    pub(super) ranges: Ranges,
    /// The number of keys that each slice has room for.
    pub(super) room: u64,
    /// The number of keys of each slice, by the slice's bit in the cells.
    pub(super) keys: [u64; SLICES],
    /// The bits of slices that have faded, and were not cleared yet in the cells.
    pub(super) stale: u32,
}

impl Part<Buffer> {
    /// An empty part that has the false-positive rate `rate` when all of its slices hold `room` keys, and the smallest
    /// room that is not smaller.
    pub(super) fn with_rate(room: u64, rate: f64) -> Result<Self, ConfigError> {
        let room = room.max(MIN_ROOM);
        let (count, lines) = size(room, rate)?;
        let lines = usize::try_from(lines).unwrap_or(usize::MAX);
        let table = lines.checked_mul(size_of::<CellLine>()).and_then(|bytes| Buffer::zeroed(bytes).ok());
        let table = table.ok_or_else(|| no_memory(lines, "lines of 64 bytes"))?;
        let ranges = Ranges { count: count as usize, lines: lines / count as usize };
        Ok(Self { table, ranges, room, keys: [0; SLICES], stale: 0 })
    }

    /// The memory in bytes that [`with_rate`](Self::with_rate) takes; 0 if it refuses the rate.
    pub(super) fn bytes_with_rate(room: u64, rate: f64) -> u64 {
        size(room.max(MIN_ROOM), rate).map_or(0, |(_, lines)| lines * size_of::<CellLine>() as u64)
    }
}

impl<M> Part<M> {
    /// The number of keys that still fit into the slice with this bit.
    pub(super) fn room_in(&self, slice: usize) -> u64 {
        self.room.saturating_sub(self.keys[slice])
    }

    /// Forgets the slice with this bit.
    pub(super) fn fade(&mut self, slice: usize) {
        if std::mem::take(&mut self.keys[slice]) > 0 {
            self.stale |= 1 << slice;
        }
    }

    /// True if no slice has a key.
    pub(super) fn is_empty(&self) -> bool {
        self.keys == [0; SLICES]
    }

    fn live(&self) -> u32 {
        ALL & !self.stale
    }
}

impl<M: Deref<Target = [u8]>> Part<M> {
    pub(super) fn lines(&self) -> &[CellLine] {
        self.table.as_chunks().0
    }

    /// Those of the slices `asked` in which `key` may be.
    #[inline(always)]
    pub(super) fn slices_of(&self, key: KeyHash, asked: u32) -> u32 {
        cells::slices_of(self.lines(), self.ranges, key, self.live() & asked)
    }

    /// Makes the answer of each key that may be in a slice true.
    pub(super) fn find_all(&self, keys: &[KeyHash], answers: &mut [bool]) {
        let found = |i: usize, slices: u32| answers[i] |= slices != 0;
        cells::slices_of_all(self.lines(), self.ranges, keys, self.live(), found);
    }

    /// For each slice, the probability that a key is in it by chance.
    pub(super) fn rates(&self) -> impl Iterator<Item = f64> {
        let lines = self.lines();
        let ranges = lines.chunks(self.ranges.lines).map(cells::shares);
        let rates = ranges.fold([1.0; SLICES], |rates, shares| std::array::from_fn(|i| rates[i] * shares[i]));
        let live = self.live();
        rates.into_iter().enumerate().map(move |(i, rate)| if live >> i & 1 == 1 { rate } else { 0.0 })
    }
}

impl<M: DerefMut<Target = [u8]>> Part<M> {
    /// Puts `key` into the slice with this bit. Returns true if it certainly was in no slice.
    #[inline(always)]
    pub(super) fn put(&mut self, key: KeyHash, slice: usize) -> bool {
        self.clear(slice);
        let live = self.live();
        let before = cells::put(self.table.as_chunks_mut().0, self.ranges, key, live, 1 << slice);
        self.keys[slice] += u64::from(before >> slice & 1 == 0);
        before == 0
    }

    /// Puts keys, for which the slice has room, into the slice with this bit. Returns how many certainly were in no
    /// slice.
    pub(super) fn put_all(&mut self, keys: &[KeyHash], slice: usize) -> u64 {
        self.clear(slice);
        let live = self.live();
        let table = self.table.as_chunks_mut().0;
        let (new, added) = cells::put_all(table, self.ranges, keys, live, 1 << slice);
        self.keys[slice] += added;
        new
    }

    /// Clears the cells of all faded slices, if the slice with this bit is one of them.
    #[inline(always)]
    fn clear(&mut self, slice: usize) {
        if self.stale >> slice & 1 == 1 {
            cells::clear(self.table.as_chunks_mut().0, self.stale);
            self.stale = 0;
        }
    }
}

/// The number of ranges and of lines of the table that has the false-positive rate `rate` when each of its slices holds
/// `room` keys.
fn size(room: u64, rate: f64) -> Result<(u32, u64), ConfigError> {
    let own = own_rate(rate, room.saturating_mul(SLICES as u64))?;
    let of_slice = -((-own).ln_1p() / SLICES as f64).exp_m1();
    let sizes = (1..=MAX_RANGES).filter_map(|ranges| {
        let most = MAX_LINES / u64::from(ranges);
        let excess = |lines: u64| f64::from(ranges) * chance(room, lines).ln() - of_slice.ln();
        if excess(most) > 0.0 {
            return None;
        }
        let lines = smallest_size::least((room / 5).max(1), most, excess)?;
        Some((ranges, lines * u64::from(ranges)))
    });
    let sizes: Vec<(u32, u64)> = sizes.collect();
    let least = sizes.iter().map(|(_, lines)| *lines).min().ok_or(ConfigError::TooLarge {
        keys: room.saturating_mul(SLICES as u64),
        rate,
        most: MAX_LINES,
        what: "lines of a filter with a window",
    })?;
    let is_small = |&&(_, lines): &&(u32, u64)| lines as f64 <= FOR_FEWER_LINES * least as f64;
    Ok(sizes.iter().find(is_small).copied().unwrap_or((1, least)))
}

/// The probability that a key meets ones in a line of a range of `lines` lines if `keys` others have lines there.
///
/// If a line has x keys, each of its two cells is set with the probability 1 - (14/15)ˣ. The mean over the numbers x of
/// keys in a line, which are binomially distributed, has this closed form.
fn chance(keys: u64, lines: u64) -> f64 {
    let unset = 1.0 - 1.0 / CELLS as f64;
    let mean = |base: f64| (keys as f64 * (-(1.0 - base) / lines as f64).ln_1p()).exp();
    (1.0 - 2.0 * mean(unset) + mean(unset * unset)).max(0.0)
}
