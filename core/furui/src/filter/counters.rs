//! A table of small counters, a few of which belong to each key. All filters with counters use this table.

use std::io::{self, Write};
use std::ops::Deref;

use super::ConfigError;
use super::error::no_memory;
use super::file::{BITS, FilterSource, FilterWriter, META};
use super::probes::{MAX_PROBES, check_probes, positions};
use crate::bits::{Buffer, Cells};
use crate::format::field::{u32_at, u64_at};
use crate::format::{Align, ReadError};
use crate::hash::KeyHash;

/// The maximum number of counters of a filter: 256 GiB at 2 bits each, 1 TiB at 8.
pub const MAX_COUNTERS: u64 = 1 << 40;

/// The number of keys by which the prefetch is ahead of the look-ups or insertions of a batch.
const AHEAD: usize = 16;

/// The length in bytes of the section `META` in the file of a filter of counters.
pub(super) const META_BYTES: usize = 32;

/// A table of counters, `probes` of which belong to every key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CounterTable<M = Buffer> {
    pub(super) cells: Cells<M>,
    pub(super) probes: u32,
}

impl CounterTable {
    /// A table of `counters` counters, all 0. Each has `bits` bits, a number that the caller has checked.
    ///
    /// # Errors
    /// [`ConfigError::OutOfRange`] if there can be no such filter; [`ConfigError::NoMemory`].
    pub(super) fn new(counters: usize, bits: u32, probes: u32) -> Result<Self, ConfigError> {
        check_counters(counters, probes)?;
        let cells = Cells::new(counters, bits).map_err(|_| no_memory(counters, "counters"))?;
        Ok(Self { cells, probes })
    }
}

/// Checks that a filter can have this many counters and probes.
///
/// # Errors
/// [`ConfigError::OutOfRange`], which names the number that is wrong and its range.
pub(super) fn check_counters(counters: usize, probes: u32) -> Result<(), ConfigError> {
    if !(1..=MAX_COUNTERS).contains(&(counters as u64)) {
        return Err(ConfigError::OutOfRange {
            what: "counters of a filter",
            given: counters as u64,
            least: 1,
            most: MAX_COUNTERS,
        });
    }
    check_probes(probes)
}

impl<M> CounterTable<M> {
    /// The number of counters of the table (m), from 1 to [`MAX_COUNTERS`].
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// The size of all counters together, in bits.
    pub(super) fn bits(&self) -> u64 {
        u64::from(self.cells.bits()) * self.len() as u64
    }

    /// The positions of the counters of `key`.
    #[inline]
    pub(super) fn of(&self, key: KeyHash) -> impl Iterator<Item = usize> + Clone + use<M> {
        positions(key, self.probes, self.len())
    }
}

impl<M: Deref<Target = [u8]>> CounterTable<M> {
    /// True if none of a key's counters is 0. All of them are read before any is tested, because in these filters it is
    /// as unpredictable as a coin toss whether a counter is 0. A branch on it would often be mispredicted.
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

    /// Calls `see` with each word that holds a counter of `key`.
    pub(super) fn reads(&self, key: KeyHash, see: &mut dyn FnMut(&[u8])) {
        self.of(key).for_each(|position| see(self.cells.word_of(position)));
    }

    /// Prefetches the counters of the key that is `AHEAD` keys after index `i`; at index 0, also those of all
    /// keys before this key. The caller must call this method with every index of a batch, in order.
    #[inline]
    pub(super) fn fetch_ahead(&self, keys: &[KeyHash], i: usize) {
        let first = if i == 0 { 0 } else { i + AHEAD };
        let cells = self.cells.lend();
        for &later in keys.iter().take(i + AHEAD + 1).skip(first) {
            self.of(later).for_each(|position| cells.prefetch(position));
        }
    }

    /// The rate (c/m)^k, where c of the m counters are not 0: the probability that all k probes of a key that was never
    /// inserted find such a counter. Cost: one pass over the counters.
    pub(super) fn false_positive_rate(&self) -> f64 {
        (self.cells.count_nonzero() as f64 / self.len() as f64).powi(self.probes as i32)
    }

    /// Writes the sections `META` and `BITS`. The fields of `META` at offsets 8 and 24 depend on the kind of filter.
    pub(super) fn write(&self, at_8: u64, at_24: u64, out: &mut FilterWriter<'_>) -> io::Result<()> {
        out.section(META, Align::Line)?;
        out.write_all(&(self.len() as u64).to_le_bytes())?;
        out.write_all(&at_8.to_le_bytes())?;
        out.write_all(&self.probes.to_le_bytes())?;
        out.write_all(&self.cells.bits().to_le_bytes())?;
        out.write_all(&at_24.to_le_bytes())?;
        out.section(BITS, Align::Line)?;
        out.write_all(self.cells.as_bytes())
    }

    /// Reads sections that [`write`](Self::write) wrote: the counters, whose number of bits must be one of `widths`,
    /// and the fields of `META` at offsets 8 and 24.
    ///
    /// # Errors
    /// [`ReadError::Format`] if the sections are damaged, if their sizes contradict each other, or if a bit after the
    /// last counter is set; [`ReadError::Io`].
    pub(super) fn read(source: &FilterSource<'_, M>, widths: &[u32]) -> Result<(Self, u64, u64), ReadError> {
        source.expect_sections(&[META, BITS])?;
        let meta: [u8; META_BYTES] = source.meta()?;
        let (counters, probes, bits) = (u64_at(&meta, 0), u32_at(&meta, 16), u32_at(&meta, 20));
        if !(1..=MAX_COUNTERS).contains(&counters) || !(1..=MAX_PROBES).contains(&probes) || !widths.contains(&bits) {
            return Err(
                source.invalid(META, "a filter of its kind cannot have these numbers of counters, probes and bits")
            );
        }
        let bytes = source.table(BITS, Cells::bytes(counters, bits))?;
        let len = usize::try_from(counters).map_err(|_| source.too_large())?;
        let cells = Cells::from_bytes(bytes, len, bits)
            .ok_or_else(|| source.invalid(BITS, "a bit beyond the last counter is set"))?;
        Ok((Self { cells, probes }, u64_at(&meta, 8), u64_at(&meta, 24)))
    }
}

/// Defines the methods that a filter of one [`CounterTable`], its field `counters`, passes on to the table. `$forgets`
/// is what [`Filter::forgets`](super::Filter::forgets) answers.
macro_rules! filter_of_counters {
    ($filter:ident, $forgets:literal) => {
        impl $filter {
            /// This filter, for keys that are hashed by `hash` instead of by [`HashSpec::default`]. Keys that are
            /// already in the filter must have been hashed by `hash` too.
            #[must_use]
            pub fn hashed_by(self, hash: HashSpec) -> Self {
                Self { hash, ..self }
            }
        }

        impl<M> $filter<M> {
            /// The number of counters of the filter (m).
            pub fn counters(&self) -> usize {
                self.counters.len()
            }

            /// The size of all counters together, in bits.
            pub fn bits(&self) -> u64 {
                self.counters.bits()
            }

            /// The number of counters that belong to each key (k).
            pub fn probes(&self) -> u32 {
                self.counters.probes
            }
        }

        impl<M: Deref<Target = [u8]>> Filter for $filter<M> {
            fn hash_spec(&self) -> HashSpec {
                self.hash
            }

            fn contains_hash(&self, key: KeyHash) -> bool {
                self.counters.contains_hash(key)
            }

            fn contains_all(&self, keys: &[KeyHash], out: &mut Vec<bool>) {
                self.counters.contains_all(keys, out);
            }

            fn forgets(&self) -> bool {
                $forgets
            }

            /// The false-positive rate (c/m)^k, where c of the m counters are not 0 and a key has k of them. Cost: one
            /// pass over the counters.
            fn false_positive_rate(&self) -> f64 {
                self.counters.false_positive_rate()
            }
        }
    };
}
pub(super) use filter_of_counters;
