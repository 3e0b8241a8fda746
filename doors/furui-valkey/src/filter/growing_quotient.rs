//! The quotient filters of the commands `CF.*`.

use furui::filter::{AnyFilter, Filter as _, FilterMut as _, Full, QuotientFilter};
use furui::{HashSpec, KeyHash};

use super::settings::{Dialect, SETTINGS, Settings, damaged};
use crate::files::Files;
use crate::refusal::Refusal;

/// A quotient filter that keeps a copy for each insertion of a key, and grows when it is full.
///
/// **Rate.** A fingerprint has at least 32 bits, and at least 16 bits more than the index of a slot in the first table.
/// Its length stays the same when the table grows, so the false-positive rate for n keys is n · 2⁻³², or less. A table
/// does not grow beyond a rate of 1/32.
///
/// **Cost.** A slot takes 3.25 bits and the part of the fingerprint that is not the index of its slot: 25.25 bits for a
/// table of 1024 slots, 19.25 bits from 65,536 slots on, and a bit less with each doubling.
#[derive(Clone)]
pub struct GrowingQuotient {
    filter: QuotientFilter,
    pub shape: CuckooShape,
    /// The number of keys that were removed from the filter.
    pub deleted: u64,
}

/// The parameters of a cuckoo filter that a client has given.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CuckooShape {
    pub capacity: u64,
    /// The number of fingerprints in a bucket. A quotient filter has no buckets: the number is only stored and
    /// reported.
    pub bucket_size: u32,
    /// The number of moves after which an insertion fails. A quotient filter moves no fingerprints: the number is only
    /// stored and reported.
    pub max_iterations: u32,
    /// A full table grows by this many times its size, so 1 doubles it; 0 if it does not grow.
    pub expansion: u32,
}

/// The maximum expansion of a filter of `CF.*`.
pub const MAX_EXPANSION: u32 = 32_768;

/// The minimum length of a fingerprint in bits.
const MIN_FINGERPRINT_BITS: u32 = 32;

/// The number of bits by which a fingerprint is longer than the index of a slot in the first table.
const REMAINDER_BITS: u32 = 16;

/// The false-positive rate beyond which no table grows.
const MAX_RATE: f64 = 1.0 / 32.0;

/// The maximum number of copies of a key. An insertion reads all of them.
const MAX_COPIES: u64 = 1024;

/// The name of the file that has the table of the filter.
const NAME: &str = "filter";

impl CuckooShape {
    /// The number of slots of the first table. At the capacity, 97 % of them are used.
    const fn slots(&self) -> u64 {
        self.capacity.saturating_mul(100).div_ceil(97)
    }

    /// The length of a fingerprint in bits.
    fn fingerprint_bits(&self) -> u32 {
        (self.slots().next_power_of_two().ilog2() + REMAINDER_BITS).clamp(MIN_FINGERPRINT_BITS, 64)
    }

    /// The memory that an empty filter with these parameters takes, in bytes.
    pub fn bytes(&self) -> usize {
        bytes_of(self.slots(), self.fingerprint_bits())
    }
}

/// The memory that a table with this number of slots takes, in bytes.
fn bytes_of(slots: u64, fingerprint_bits: u32) -> usize {
    let remainder_bits = fingerprint_bits - slots.max(1).ilog2().min(fingerprint_bits - 1);
    // A block of 64 slots has three bits for each slot, 16 bits for the whole block, and the remainders.
    let blocks = slots.div_ceil(64);
    let bits = u128::from(blocks) * u128::from(64 * (3 + remainder_bits) + 16);
    usize::try_from(bits / 8).unwrap_or(usize::MAX).saturating_add(size_of::<GrowingQuotient>() + 64)
}

impl GrowingQuotient {
    /// Creates an empty filter.
    ///
    /// # Errors
    /// If a filter with these parameters is impossible.
    pub fn new(shape: CuckooShape) -> Result<Self, Refusal> {
        let filter = QuotientFilter::with_fingerprint_bits(shape.slots(), shape.fingerprint_bits())?;
        Ok(Self { filter: filter.hashed_by(HashSpec::default()).counting(), shape, deleted: 0 })
    }

    /// Inserts a copy of a key. Returns true if the key was certainly not in the filter. If the table must grow,
    /// `admit` is called first with the filter's size in bytes and the number of bytes by which it would grow.
    ///
    /// # Errors
    /// If the filter is full, or `admit` refuses.
    pub fn insert(
        &mut self,
        key: KeyHash,
        admit: impl FnOnce(usize, usize) -> Result<(), Refusal>,
    ) -> Result<bool, Refusal> {
        if self.count(key) >= MAX_COPIES {
            return Err(Refusal::because(format!("Filter is full: it has {MAX_COPIES} copies of this item")));
        }
        if self.filter.len() >= self.capacity() {
            if self.shape.expansion == 0 {
                return Err(Refusal::because("Filter is full"));
            }
            let slots = self.filter.slots().saturating_mul(u64::from(self.shape.expansion) + 1);
            if slots as f64 / self.fingerprints() > MAX_RATE {
                return Err(Refusal::because("Maximum expansions reached"));
            }
            admit(self.bytes(), bytes_of(slots, self.shape.fingerprint_bits()))?;
            self.filter = self.filter.with_slots(slots)?;
        }
        self.filter.insert_hash(key).map_err(|full| match full {
            Full::AtCapacity { .. } => Refusal::because("Filter is full"),
            // The hash is public, so clients can choose keys that collide.
            Full::Crowded { .. } => Refusal::because("Filter is full: it has too many fingerprints like this one"),
            fixed @ Full::Fixed => Refusal::because(fixed.to_string()),
        })
    }

    /// The number of different fingerprints that the filter distinguishes.
    fn fingerprints(&self) -> f64 {
        self.filter.last_fingerprint() as f64 + 1.0
    }

    /// True if a key may be in the filter, false if it certainly is not.
    pub fn contains(&self, key: KeyHash) -> bool {
        self.filter.contains_hash(key)
    }

    /// The number of copies of a key. It may be too large, but never too small.
    pub fn count(&self, key: KeyHash) -> u64 {
        self.filter.count_hash(key)
    }

    /// Removes a copy of a key. Returns false if the key certainly is not in the filter.
    ///
    /// # Errors
    /// If the filter does not keep copies, which cannot happen.
    pub fn remove(&mut self, key: KeyHash) -> Result<bool, Refusal> {
        let was_there = self.filter.remove_hash(key)?;
        self.deleted += u64::from(was_there);
        Ok(was_there)
    }

    /// Shrinks the table to the size for the keys that are left in the filter.
    ///
    /// # Errors
    /// If `admit` refuses the memory of the smaller table, which exists beside the larger one for a while.
    pub fn compact(&mut self, admit: impl FnOnce(usize, usize) -> Result<(), Refusal>) -> Result<(), Refusal> {
        let mut slots = self.shape.slots();
        while slots < self.filter.slots() && slots.saturating_mul(97).div_ceil(100) < self.filter.len() {
            slots = slots.saturating_mul(u64::from(self.shape.expansion) + 1);
        }
        if slots < self.filter.slots() {
            admit(self.bytes(), bytes_of(slots, self.shape.fingerprint_bits()))?;
            self.filter = self.filter.with_slots(slots)?;
        }
        Ok(())
    }

    pub fn hash(&self) -> HashSpec {
        self.filter.hash_spec()
    }

    /// The number of slots of the table, which doubles or more when it grows.
    pub fn slots(&self) -> u64 {
        self.filter.slots()
    }

    /// The number of keys in the filter, including copies.
    pub fn len(&self) -> u64 {
        self.filter.len()
    }

    /// The number of keys at which the table grows, or is full.
    pub fn capacity(&self) -> u64 {
        if self.shape.expansion == 0 { self.shape.capacity } else { self.filter.capacity() }
    }

    /// The memory that the filter takes, in bytes.
    pub fn bytes(&self) -> usize {
        usize::try_from(self.filter.bits() / 8).unwrap_or(usize::MAX).saturating_add(size_of::<CuckooShape>() + 8)
    }

    /// The probability that the filter says yes to a key that it does not contain, with the keys that it contains.
    pub fn false_positive_rate(&self) -> f64 {
        self.filter.false_positive_rate()
    }

    /// The files of the filter: one with the settings, and one with the table.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn files(&self) -> Result<Files, Refusal> {
        let settings = Settings::new(Dialect::Cf)
            .with("capacity", self.shape.capacity)
            .with("bucketsize", self.shape.bucket_size)
            .with("maxiterations", self.shape.max_iterations)
            .with("expansion", self.shape.expansion)
            .with("deleted", self.deleted);
        let mut files = Files::of(SETTINGS, settings.text().into_bytes());
        let mut bytes = vec![];
        AnyFilter::from(self.filter.clone()).write_to(&mut bytes)?;
        files.append(NAME, &bytes)?;
        Ok(files)
    }

    /// Reads a filter from its files.
    ///
    /// # Errors
    /// If a file is damaged or missing.
    pub fn open(files: &Files, settings: &Settings) -> Result<Self, Refusal> {
        let shape = CuckooShape {
            capacity: settings.value("capacity")?,
            bucket_size: settings.value("bucketsize")?,
            max_iterations: settings.value("maxiterations")?,
            expansion: settings.value("expansion")?,
        };
        let bytes = files.get(NAME).filter(|_| files.iter().len() == 2).ok_or_else(damaged)?;
        let AnyFilter::Quotient(filter) = AnyFilter::copy_of_bytes(bytes, NAME)? else { return Err(damaged()) };
        let last = u64::MAX >> (64 - shape.fingerprint_bits());
        let is_sound = (1..=1 << 40).contains(&shape.capacity)
            && filter.is_counting()
            && filter.last_fingerprint() == last
            && shape.expansion <= MAX_EXPANSION
            && filter.slots() >= shape.slots()
            && (shape.expansion > 0 || filter.slots() == shape.slots());
        if !is_sound {
            return Err(damaged());
        }
        Ok(Self { filter, shape, deleted: settings.value("deleted")? })
    }
}
