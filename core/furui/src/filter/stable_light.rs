use std::io::{self, Write};
use std::ops::{Deref, DerefMut};

use super::counters::{CounterTable, META_BYTES, filter_of_counters};
use super::file::{FilterSource, FilterWriter, META, Stored};
use super::probes::{check_probes, own_rate};
use super::stable_point::{check_stable, lasting_probes, read_stable, sequential_decrements, sequential_zeros};
use super::{ConfigError, Filter, FilterMut, Full};
use crate::bits::Buffer;
use crate::format::field::{u32_at, u64_at};
use crate::format::{Envelope, EnvelopeWriter, ReadAt, ReadError};
use crate::hash::{HashSpec, KeyHash};

#[cfg(test)]
mod tests;

/// The number of bits of a counter: those that [`MAX`] needs.
const BITS: u32 = 2;
/// The value to which an insertion sets a counter.
const MAX: u8 = 3;

/// A fast stable Bloom filter without random numbers. It answers "was it here lately?", in fixed memory and at a fixed
/// error rate.
///
/// It works like [`StableBloom`](super::StableBloom), but an insertion decrements the next P counters at a cursor that
/// goes round the table. These counters are adjacent: 32 of them fill a word, and 256 fill a vector.
///
/// ```text
///   insert x:     -1 -1 -1 -1 -1                     the next P, then the cursor stands behind them
///   [ 0  3  0  2  3  1  0  0  2  1  0  3 ]
///                 ^        ^     ^                   the k of x become 3
/// ```
///
/// Both answers may be wrong: "no" is wrong for a key that has faded. Once the filter has settled, its false-positive
/// rate is (1 - Z)^k with Z = e^(-2λ) (1 - e^(-λ)) / λ and λ = k/P. A counter that was set stays above 0 for 2 to 3
/// rounds of the cursor.
///
/// Cost: no memory but the counters; an insertion touches k cache lines and one or two at the cursor. The filter
/// remembers every key for at least 2 rounds, that is 2 m/P insertions.
///
/// From Kubota, Ueda and Yamana, "Efficient Duplicated URL Detection for Web Crawlers", section 4.2. They take P from
/// the formula for random decrement ([`stable_decrements`](super::stable_decrements)). With a cursor, 11 to 13 % fewer
/// decrements give the same rate, and keys are remembered 13 to 15 % longer: [`with_rate`](Self::with_rate) uses that.
/// For exactly their filter, pass their P to [`from_parts`](Self::from_parts).
///
/// ```
/// use furui::filter::StableBloomLight;
/// use furui::raw::stable_decrements;
///
/// let (counters, probes, rate) = (1 << 20, 8, 1e-5);
/// let literal = stable_decrements(probes, rate, 3, counters) as usize;
/// let paper = StableBloomLight::from_parts(counters, probes, literal)?;
/// assert_eq!(paper.decrements(), 84);
/// assert!(paper.stable_rate() < rate); // better than required, but keys are forgotten sooner
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StableBloomLight<M = Buffer> {
    counters: CounterTable<M>,
    decrements: usize,
    cursor: usize,
    hash: HashSpec,
}

/// The number of counters of the smallest filter that [`StableBloomLight::for_last`] makes. It is large enough that
/// larger filters have equal numbers of probes and decrements.
const LEAST_COUNTERS: usize = 1 << 12;

impl StableBloomLight {
    /// A filter that remembers each key while at least `keys` further keys are inserted, repeats included, and whose
    /// false-positive rate settles at `rate` or just below.
    ///
    /// ```
    /// use furui::filter::StableBloomLight;
    ///
    /// let mut filter = StableBloomLight::for_last(10_000, 0.01)?;
    /// filter.insert("seen before");
    /// filter.extend((0..10_000u32).map(u32::to_le_bytes));
    /// assert!(filter.contains("seen before"));
    /// # Ok::<(), furui::Error>(())
    /// ```
    ///
    /// # Errors
    /// If `rate` is not between 0 and 1, or there is not enough memory.
    pub fn for_last(keys: u64, rate: f64) -> Result<Self, ConfigError> {
        let decrements = Self::with_rate(LEAST_COUNTERS, rate)?.decrements;
        // A key is never forgotten within two rounds of the cursor.
        let counters = (keys as f64 * decrements as f64 / 2.0) as usize;
        Self::with_rate(counters.max(LEAST_COUNTERS), rate)
    }

    /// A filter of `counters` counters whose false-positive rate settles at `rate` or just below.
    ///
    /// The number of probes is the smallest with which keys are remembered at least 0.9 times as long as with the best
    /// number: 4 at 1 %.
    ///
    /// # Errors
    /// If `rate` is not between 0 and 1, or there are too few counters for it.
    pub fn with_rate(counters: usize, rate: f64) -> Result<Self, ConfigError> {
        Self::with_probes(counters, rate, Self::probes_for(counters, rate)?)
    }

    /// A filter of `counters` counters that makes `probes` probes a key, and whose false-positive rate settles at
    /// `rate` or just below.
    ///
    /// # Errors
    /// If `rate` is not between 0 and 1, or there is no such filter.
    pub fn with_probes(counters: usize, rate: f64, probes: u32) -> Result<Self, ConfigError> {
        own_rate(rate, counters as u64)?;
        check_probes(probes)?;
        Self::from_parts(counters, probes, sequential_decrements(probes, rate, MAX).ceil() as usize)
    }

    /// The number of probes that [`with_rate`](Self::with_rate) chooses for a filter of `counters` counters.
    ///
    /// # Errors
    /// [`ConfigError::Rate`] if no filter can have the rate.
    pub(crate) fn probes_for(counters: usize, rate: f64) -> Result<u32, ConfigError> {
        own_rate(rate, counters as u64)?;
        Ok(lasting_probes(rate, MAX))
    }

    /// A filter of `counters` counters that makes `probes` probes a key and `decrements` decrements an insertion
    /// (P).
    ///
    /// # Errors
    /// If there is no such filter; the message says which values are valid.
    pub fn from_parts(counters: usize, probes: u32, decrements: usize) -> Result<Self, ConfigError> {
        check_stable(counters, probes, decrements)?;
        let counters = CounterTable::new(counters, BITS, probes)?;
        Ok(Self { counters, decrements, cursor: 0, hash: HashSpec::default() })
    }

    /// Writes the sections of the filter's file into another file.
    pub(crate) fn write_sections(&self, out: &mut EnvelopeWriter<&mut dyn Write>) -> io::Result<()> {
        self.write(out)
    }

    /// Takes over the counters and the cursor of a filter from a file that has the sections of that filter among other
    /// sections. The caller has checked all of them by [`Envelope::verify`]. Returns false, and changes nothing, if the
    /// filter in the file has another number of counters, probes or decrements.
    ///
    /// # Errors
    /// [`ReadError`] if the sections are not those of a filter, or cannot be read; the filter is then unchanged.
    pub(crate) fn restore(&mut self, file: &impl ReadAt, envelope: &Envelope) -> Result<bool, ReadError> {
        let source = FilterSource::embedded(file, envelope);
        let meta: [u8; META_BYTES] = source.meta()?;
        let own = (self.counters() as u64, self.decrements as u64, self.probes());
        if (u64_at(&meta, 0), u64_at(&meta, 8), u32_at(&meta, 16)) != own {
            return Ok(false);
        }
        *self = Self { hash: self.hash, ..Self::read(&source)? };
        Ok(true)
    }

    /// Reads the filter from a file that has the sections of a filter's file among other sections. The caller has
    /// checked all of them by [`Envelope::verify`].
    ///
    /// # Errors
    /// [`ReadError`] if the sections are not those of a filter, or cannot be read.
    pub(crate) fn read_sections(file: &impl ReadAt, envelope: &Envelope) -> Result<Self, ReadError> {
        Self::read(&FilterSource::embedded(file, envelope))
    }
}

impl<M> StableBloomLight<M> {
    /// The false-positive rate at which the filter settles.
    pub fn stable_rate(&self) -> f64 {
        (1.0 - sequential_zeros(self.probes(), self.decrements as f64, MAX)).powi(self.probes() as i32)
    }

    /// The number of counters that an insertion decrements (P).
    pub fn decrements(&self) -> usize {
        self.decrements
    }
}

impl<M: DerefMut<Target = [u8]>> StableBloomLight<M> {
    /// Subtracts 1 from the next `count` counters at the cursor, and moves the cursor after them.
    /// [`insert`](FilterMut::insert_hash) does so with P counters. A `count` of [`counters`](Self::counters) is one
    /// whole round.
    pub fn decrement(&mut self, count: usize) {
        let mut cells = self.counters.cells.lend_mut();
        let mut left = count;
        while left > 0 {
            let run = left.min(cells.len() - self.cursor);
            cells.decrement_range(self.cursor, run);
            self.cursor += run;
            if self.cursor == cells.len() {
                self.cursor = 0;
            }
            left -= run;
        }
    }

    /// Inserts `key`. Returns true if it was not remembered.
    ///
    /// The key's counters are read and set in one pass, so that each costs one memory access. No branch depends on
    /// their values, so while one insertion waits for memory, the processor starts the next ones. The fewer
    /// instructions an insertion takes, the more insertions fit into the processor's instruction window. The counters
    /// are set before the decrement, so those of them that are decremented must be set again.
    #[inline]
    fn put(&mut self, key: KeyHash) -> bool {
        let positions = self.counters.of(key);
        let mut cells = self.counters.cells.lend_mut();
        assert_eq!(cells.bits(), BITS, "lets the compiler see it");
        let (start, count) = (self.cursor, self.decrements);
        // The distance from the cursor to the next counter of the key.
        let mut nearest = usize::MAX;
        let known = positions.fold(true, |all, position| {
            nearest = nearest.min(position.wrapping_sub(start));
            all & cells.fill(position)
        });
        let end = start + count;
        if end >= cells.len() || nearest < count {
            self.decrement_and_fill(key);
        } else {
            cells.decrement_range(start, count);
            self.cursor = end;
        }
        !known
    }

    /// The slow case of an insertion: the counters that it decrements include some of the inserted key, or go beyond
    /// the last counter and on from the first one.
    #[cold]
    #[inline(never)]
    fn decrement_and_fill(&mut self, key: KeyHash) {
        self.decrement(self.decrements);
        self.counters.of(key).for_each(|position| _ = self.counters.cells.fill(position));
    }
}

filter_of_counters!(StableBloomLight, true);

impl<M: DerefMut<Target = [u8]>> FilterMut for StableBloomLight<M> {
    /// Inserts the key with this hash. Returns true if the key was not remembered, because it is new or has faded. This
    /// filter is never full.
    fn insert_hash(&mut self, key: KeyHash) -> Result<bool, Full> {
        Ok(self.put(key))
    }

    /// Inserts the keys, and returns how many of them were not remembered. Memory is fetched ahead, so a batch takes
    /// less time than its keys one by one.
    fn insert_all(&mut self, keys: &[KeyHash]) -> Result<u64, Full> {
        Ok((0..).zip(keys).fold(0, |new, (i, &key)| {
            self.counters.fetch_ahead(keys, i);
            new + u64::from(self.put(key))
        }))
    }
}

impl<M: Deref<Target = [u8]>> Stored<M> for StableBloomLight<M> {
    fn write(&self, out: &mut FilterWriter<'_>) -> io::Result<()> {
        self.counters.write(self.decrements as u64, self.cursor as u64, out)
    }

    fn reads(&self, key: KeyHash, see: &mut dyn FnMut(&[u8])) {
        self.counters.reads(key, see);
    }

    fn read(source: &FilterSource<'_, M>) -> Result<Self, ReadError> {
        let (counters, decrements, cursor) = read_stable(source, &[BITS])?;
        match usize::try_from(cursor) {
            Ok(cursor) if cursor < counters.len() => {
                Ok(Self { counters, decrements, cursor, hash: source.envelope.hash() })
            }
            _ => Err(source.invalid(META, "the cursor is beyond the last counter")),
        }
    }
}
