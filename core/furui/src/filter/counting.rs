use std::io;
use std::ops::{Deref, DerefMut};

use super::counters::{CounterTable, filter_of_counters};
use super::error::Meaning;
use super::file::{FilterSource, FilterWriter, META, Stored};
use super::probes::own_rate;
use super::similarity::{Estimate, Marking};
use super::sizing::few_probes;
use super::{ConfigError, Filter, FilterMut, Full, Mismatch};
use crate::bits::Buffer;
use crate::format::ReadError;
use crate::hash::{HashSpec, KeyHash};

/// The numbers of bits that a counter may have.
const WIDTHS: [u32; 3] = [2, 4, 8];

/// A Bloom filter from which keys can be removed. It answers "is it in the set now?" for a set whose keys come and go.
///
/// Each of a key's k probes leads to a small counter instead of a bit. Inserting a key adds 1 to its k counters,
/// removing it subtracts 1 from them, and a key may be present if none of its counters is 0.
///
/// ```text
///              x                 y
///           /  |  \           /  |  \
///   [ 0  0  1  1  0  0  0  2  0  1  1  0 ]      the counter that x and y share holds 2
/// ```
///
/// Keys are counted: a key that was inserted twice stays until it is removed twice. A counter that reaches its maximum
/// stays there for good, because its true count is no longer known. So there are never false negatives, and a few
/// counters may stay set too long. (With counters of 4 bits and the number of keys for which the filter was sized, 1
/// counter in 6 · 10¹⁴ does so.)
///
/// Cost: with counters of 4 bits, 5.8 log₂(1/rate) bits a key, four times as many as a Bloom filter takes, and k cache
/// misses for each operation. With n keys in m counters the false-positive rate is (1 - (1 - 1/m)^(kn))^k, as for a
/// Bloom filter with m bits.
///
/// From Fan, Cao, Almeida and Broder, "Summary Cache" (2000), as described in section 3.2.1 of Kubota, Ueda and Yamana,
/// which does not say what happens on overflow.
///
/// ```
/// use furui::filter::CountingBloom;
///
/// let mut visitors = CountingBloom::with_rate(1000, 0.01)?;
/// visitors.insert("alice");
/// assert!(visitors.contains("alice") && visitors.count("alice") == 1);
/// assert!(visitors.remove("alice"));
/// assert!(!visitors.contains("alice"));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountingBloom<M = Buffer> {
    counters: CounterTable<M>,
    /// The number of keys that the filter was sized for; 0 if it was not sized for a number of keys.
    capacity: u64,
    hash: HashSpec,
}

impl CountingBloom {
    /// A filter of 4-bit counters that has the false-positive `rate` when it holds `keys` keys. It is never full;
    /// beyond `keys` keys the rate grows.
    ///
    /// # Errors
    /// If `rate` is not between 0 and 1, or finer than 64-bit hashes of that many keys allow, or if the filter would be
    /// too large.
    pub fn with_rate(keys: u64, rate: f64) -> Result<Self, ConfigError> {
        let (counters, probes) = few_probes(own_rate(rate, keys)?, keys);
        let counters = usize::try_from(counters).unwrap_or(usize::MAX);
        Ok(Self { capacity: keys, ..Self::from_parts(counters, probes, 4)? })
    }

    /// A filter of `counters` counters of `bits` bits (2, 4 or 8) with `probes` probes a key.
    ///
    /// # Errors
    /// If there is no such filter; the message says which values are valid.
    pub fn from_parts(counters: usize, probes: u32, bits: u32) -> Result<Self, ConfigError> {
        if !WIDTHS.contains(&bits) {
            return Err(ConfigError::CounterBits { given: bits, valid: &WIDTHS });
        }
        Ok(Self { counters: CounterTable::new(counters, bits, probes)?, capacity: 0, hash: HashSpec::default() })
    }
}

impl<M> CountingBloom<M> {
    /// The number of keys that the filter was sized for; 0 if it was not sized for a number of keys.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The number of bits of a counter.
    pub(crate) fn counter_bits(&self) -> u32 {
        self.counters.cells.bits()
    }

    fn meaning(&self) -> Meaning<3> {
        let counters = ("counters", self.counters() as u64);
        let bits = ("bits a counter", self.counter_bits().into());
        Meaning { sizes: [counters, bits, ("probes a key", self.probes().into())], hash: self.hash }
    }
}

impl<M: Deref<Target = [u8]>> CountingBloom<M> {
    /// The number of times that `key` is in the filter: the smallest value of its counters. The result is too high if
    /// each of these counters also belongs to another key that was inserted. The maximum value of a counter, 15 at 4
    /// bits, means that number or more.
    pub fn count(&self, key: impl AsRef<[u8]>) -> u64 {
        self.count_hash(self.hash.hash(key.as_ref()))
    }

    /// Works like [`count`](Self::count) for a key that the caller hashed by [`hash_spec`](Self::hash_spec). Nothing
    /// checks this: a hash that was made in another way counts as the hash of another key.
    pub fn count_hash(&self, key: KeyHash) -> u64 {
        let cells = self.counters.cells.lend();
        self.counters.of(key).map(|position| cells.get(position)).min().map_or(0, u64::from)
    }

    /// The approximate number of different keys, estimated from the number of counters that are not 0. Cost: one pass
    /// over the counters.
    pub fn cardinality(&self) -> Estimate {
        let taken = self.counters.cells.count_nonzero() as u64;
        Marking::of_probes(self.counters() as u64, self.probes()).cardinality(taken)
    }
}

impl<M: DerefMut<Target = [u8]>> CountingBloom<M> {
    /// Removes `key` once; a key that was inserted several times must be removed as often. Returns false, and changes
    /// nothing, if the key is certainly not in the filter.
    ///
    /// Remove only keys that were inserted: removing a key that is a false positive decrements the counters of other
    /// keys, which may then be missed.
    pub fn remove(&mut self, key: impl AsRef<[u8]>) -> bool {
        self.remove_hash(self.hash.hash(key.as_ref()))
    }

    /// Works like [`remove`](Self::remove) for a key that the caller hashed by [`hash_spec`](Self::hash_spec). Nothing
    /// checks this: a hash that was made in another way counts as the hash of another key.
    pub fn remove_hash(&mut self, key: KeyHash) -> bool {
        if !self.contains_hash(key) {
            return false;
        }
        let positions = self.counters.of(key);
        let mut cells = self.counters.cells.lend_mut();
        for position in positions {
            if cells.get(position) < cells.max() {
                cells.decrement(position);
            }
        }
        true
    }

    /// Adds the keys of `other`: every key then counts as often as in both filters together. Counters are added; a
    /// counter that reaches its maximum stays there for good. Cost: one pass over both filters.
    ///
    /// # Errors
    /// If the filters differ in the number or bits of counters, in probes or in hash; nothing is changed then.
    pub fn union_with(&mut self, other: &CountingBloom<impl Deref<Target = [u8]>>) -> Result<(), Mismatch> {
        self.meaning().check(other.meaning())?;
        self.counters.cells.add(&other.counters.cells);
        Ok(())
    }
}

filter_of_counters!(CountingBloom, false);

impl<M: DerefMut<Target = [u8]>> FilterMut for CountingBloom<M> {
    /// Inserts the key with this hash. The result is never an error, because this filter is never full.
    fn insert_hash(&mut self, key: KeyHash) -> Result<bool, Full> {
        let new = !self.contains_hash(key);
        let positions = self.counters.of(key);
        let mut cells = self.counters.cells.lend_mut();
        positions.for_each(|position| cells.increment(position));
        Ok(new)
    }

    fn insert_all(&mut self, keys: &[KeyHash]) -> Result<u64, Full> {
        (0..).zip(keys).try_fold(0, |new, (i, &key)| {
            self.counters.fetch_ahead(keys, i);
            Ok(new + u64::from(self.insert_hash(key)?))
        })
    }
}

impl<M: Deref<Target = [u8]>> Stored<M> for CountingBloom<M> {
    fn write(&self, out: &mut FilterWriter<'_>) -> io::Result<()> {
        self.counters.write(self.capacity, 0, out)
    }

    fn reads(&self, key: KeyHash, see: &mut dyn FnMut(&[u8])) {
        self.counters.reads(key, see);
    }

    fn read(source: &FilterSource<'_, M>) -> Result<Self, ReadError> {
        let (counters, capacity, reserved) = CounterTable::read(source, &WIDTHS)?;
        if reserved != 0 {
            return Err(source.invalid(META, "its reserved bytes are not 0"));
        }
        Ok(Self { counters, capacity, hash: source.envelope.hash() })
    }
}
