//! Counters of which every key owns some: what the filters that count have in common.

use std::io::{self, Write};
use std::ops::Deref;

use super::ConfigError;
use super::error::no_memory;
use super::file::{BITS, META, Source, Writer};
use super::probes::{MAX_PROBES, check_probes, positions};
use crate::bits::{Buffer, Cells};
use crate::format::field::{u32_at, u64_at};
use crate::format::{Align, ReadError};
use crate::hash::KeyHash;

/// The most counters a filter has: 256 GiB of them at 2 bits each, 1 TiB at 8.
pub const MAX_COUNTERS: u64 = 1 << 40;

/// How many keys ahead counters are fetched.
const AHEAD: usize = 16;

/// How long `META` is in the file of a filter of counters.
pub(super) const META_BYTES: usize = 32;

/// Counters, `probes` of which belong to every key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Counters<M = Buffer> {
    pub(super) cells: Cells<M>,
    pub(super) probes: u32,
}

impl Counters {
    /// `counters` counters, all 0, of a number of `bits` that can be.
    pub(super) fn new(counters: usize, bits: u32, probes: u32) -> Result<Self, ConfigError> {
        check_counters(counters, probes)?;
        let cells = Cells::new(counters, bits).map_err(|_| no_memory(counters, "counters"))?;
        Ok(Self { cells, probes })
    }
}

/// Refuses numbers of counters and probes that no filter can have.
pub(super) fn check_counters(counters: usize, probes: u32) -> Result<(), ConfigError> {
    if !(1..=MAX_COUNTERS).contains(&(counters as u64)) {
        return Err(ConfigError(format!("{counters} counters: a filter has from 1 to {MAX_COUNTERS}")));
    }
    check_probes(probes)
}

impl<M> Counters<M> {
    /// How many counters there are.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Where the counters of `key` are.
    #[inline]
    pub(super) fn of(&self, key: KeyHash) -> impl Iterator<Item = usize> + Clone + use<M> {
        positions(key, self.probes, self.len())
    }
}

impl<M: Deref<Target = [u8]>> Counters<M> {
    /// Whether none of a key's counters is 0. All are read before any is looked at: at the fill of these filters each is
    /// as good as a coin, and a branch on it would be guessed wrong.
    #[inline]
    pub(super) fn contains_hash(&self, key: KeyHash) -> bool {
        let cells = self.cells.lend();
        self.of(key).fold(true, |all, position| all & (cells.get(position) != 0))
    }

    pub(super) fn contains_all(&self, keys: &[KeyHash], out: &mut Vec<bool>) {
        out.clear();
        out.extend(keys.iter().enumerate().map(|(i, &key)| {
            self.fetch_ahead(keys, i);
            self.contains_hash(key)
        }));
    }

    /// Shows `see` the words that the counters of `key` lie in.
    pub(super) fn reads(&self, key: KeyHash, see: &mut dyn FnMut(&[u8])) {
        self.of(key).for_each(|position| see(self.cells.word_of(position)));
    }

    /// Asks for the counters of a key behind the one of index `i`. Of a batch that is walked through in order, it is
    /// called with every index.
    #[inline]
    pub(super) fn fetch_ahead(&self, keys: &[KeyHash], i: usize) {
        let first = if i == 0 { 0 } else { i + AHEAD };
        let cells = self.cells.lend();
        for &later in keys.iter().take(i + AHEAD + 1).skip(first) {
            self.of(later).for_each(|position| cells.prefetch(position));
        }
    }

    /// (c/m)^k for c counters that are not 0: the chance that all probes of a key never inserted meet such a counter.
    /// Cost: one pass over the counters.
    pub(super) fn false_positive_rate(&self) -> f64 {
        (self.cells.count_nonzero() as f64 / self.len() as f64).powi(self.probes as i32)
    }

    /// Writes `META`, with what the kind of filter has at offsets 8 and 24, and the counters.
    pub(super) fn write(&self, at_8: u64, at_24: u64, out: &mut Writer<'_>) -> io::Result<()> {
        out.section(META, Align::Line)?;
        out.write_all(&(self.len() as u64).to_le_bytes())?;
        out.write_all(&at_8.to_le_bytes())?;
        out.write_all(&self.probes.to_le_bytes())?;
        out.write_all(&self.cells.bits().to_le_bytes())?;
        out.write_all(&at_24.to_le_bytes())?;
        out.section(BITS, Align::Line)?;
        out.write_all(self.cells.as_bytes())
    }

    /// Reads what [`write`](Self::write) wrote, of counters of one of these widths, and the two fields that are the
    /// kind's.
    pub(super) fn read<S: Source<Bytes = M>>(source: &S, widths: &[u32]) -> Result<(Self, u64, u64), ReadError> {
        source.expect_sections(&[META, BITS])?;
        let meta: [u8; META_BYTES] = source.meta()?;
        let (counters, probes, bits) = (u64_at(&meta, 0), u32_at(&meta, 16), u32_at(&meta, 20));
        if !(1..=MAX_COUNTERS).contains(&counters) || !(1..=MAX_PROBES).contains(&probes) || !widths.contains(&bits) {
            return Err(source.invalid(META, "no filter of its kind has these numbers of counters, probes and bits"));
        }
        let bytes = source.table(BITS, Cells::bytes(counters, bits))?;
        let len = usize::try_from(counters).map_err(|_| source.invalid(META, "the table is beyond this machine"))?;
        let cells = Cells::from_bytes(bytes, len, bits)
            .ok_or_else(|| source.invalid(BITS, "a bit beyond the last counter is set"))?;
        Ok((Self { cells, probes }, u64_at(&meta, 8), u64_at(&meta, 24)))
    }
}
