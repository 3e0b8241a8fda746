//! The quotient filter; see [`QuotientFilter`].

mod block;
mod build;
mod check;
mod combine;
mod file;
mod find;
mod insert;
mod iter;
mod merge;
mod remove;
mod shape;
mod slot_table;

use std::ops::Deref;

use crate::bits::Buffer;
use crate::bits::Cpu;
use crate::bits::word::Lanes;
use crate::filter::ConfigError;
use crate::hash::{HashSpec, KeyHash};

pub use iter::{FingerprintIter, QuotientSlot};

use iter::Decoder;
use shape::{MAX_REMAINDER_BITS, Shape};
use slot_table::SlotTable;

/// A set of key fingerprints in one table. It answers "was this key seen?" and supports resizing, ordered iteration and
/// merging, all without the keys. A [`counting`](Self::counting) filter keeps a copy for each key that is inserted, and
/// so supports removal and counts.
///
/// A key's hash is shortened to a fingerprint, which is split into quotient and remainder. The quotient is the number
/// of the fingerprint's canonical slot. The remainders of equal quotients lie side by side, in ascending order, as a
/// *run*; runs that push each other out of their canonical slots form a *cluster*. Three flags per slot tell them
/// apart:
///
/// ```text
/// slot             0    1    2    3    4    5    6    7
/// remainder             a    b    c    d         e             quotients: a, b: 1   c: 2   d: 4   e: 6
/// is_occupied      0    1    1    0    1    0    1    0        a run of this quotient exists
/// is_continuation  0    0    1    0    0    0    0    0        same run as the slot before
/// is_shifted       0    0    1    1    0    0    0    0        not in its canonical slot
/// ```
///
/// **Cost.** A slot takes 3.25 bits plus its remainder. A filter made by [`with_rate`](Self::with_rate) for 1 % takes
/// 10.6 bits a key, at any number of keys. A lookup reads one or two cache lines of a block of 64 slots, and the word
/// in which the run begins. An insertion or removal moves the slots up to the next gap: about 1/(2(1 - load)²) of them.
///
/// **False positives.** A key that was never inserted is reported as present if its fingerprint equals one of the m
/// distinct fingerprints held, out of D possible ones. For a uniform hash, the probability is exactly m / D (see
/// [`false_positive_rate`](super::Filter::false_positive_rate)). After n keys, its mean is 1 - (1 - 1/D)ⁿ ≈ 1 -
/// exp(-n/D).
///
/// **Source.** Bender, Farach-Colton, Johnson, Kraner, Kuszmaul, Medjedovic, Montes, Shetty, Spillane, Zadok, "Don't
/// Thrash: How to Cache Your Hash on Flash", VLDB 2012, after Knuth, The Art of Computer Programming 3, 6.4, exercise
/// 13. This implementation differs in five points:
/// - The flags are stored as bit planes of 64 slots. Each block of 64 slots stores how many of the slots from its first
///   on belong to runs of earlier blocks. Both are as in the rank-and-select quotient filter (Pandey, Bender, Johnson,
///   Patro, SIGMOD 2017). A run is found by a population count and a select instead of a walk along its cluster.
/// - The number of slots and the number D of fingerprints, up to 2⁶⁴, need not be powers of two: the quotient is
///   ⌊fingerprint / d⌋ for d = ⌈D / slots⌉. For powers of two this is the paper's split into high and low bits.
/// - Fingerprints are taken from the *high* bits of the hash, so that the table is in the order of the hashes.
/// - Removal moves the rest of the cluster back. There are no tombstones, which would slow down searches and need
///   cleaning up.
/// - A run may lie at most 2¹⁶ - 1 slots after its canonical slot. Uniform hashes stay far below this limit until the
///   table is nearly full. Adversarial hashes, or that many copies of one key, get
///   [`Full::Crowded`](super::Full::Crowded) instead of ever slower lookups.
///
/// ```
/// use furui::filter::QuotientFilter;
///
/// let mut seen = QuotientFilter::with_rate(1_000_000, 0.01)?;
/// assert!(seen.insert("https://example.org/")?);
/// assert!(!seen.insert("https://example.org/")?);
/// assert!(seen.bits() < 10_600_000);
/// assert!(seen.remove("https://example.org/").is_err());
///
/// let mut live = QuotientFilter::with_rate(1_000_000, 0.01)?.counting();
/// live.insert("https://example.org/")?;
/// assert!(live.remove("https://example.org/")?);
/// assert!(!live.contains("https://example.org/"));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct QuotientFilter<M = Buffer> {
    table: SlotTable<M>,
    shape: Shape,
    lanes: Lanes,
    words: Cpu,
    len: u64,
    distinct: u64,
    counting: bool,
    hash: HashSpec,
}

impl QuotientFilter {
    /// An empty filter of `slots` slots with remainders of `remainder_bits` bits (1 to 57). It distinguishes `slots` ×
    /// 2^`remainder_bits` fingerprints.
    ///
    /// # Errors
    /// If a size is out of range, if fingerprints would need more than 64 bits, or if the table does not fit in memory.
    pub fn new(slots: u64, remainder_bits: u32) -> Result<Self, ConfigError> {
        Self::with_shape(Shape::with_remainder(slots, remainder_bits)?)
    }

    /// An empty filter of `slots` slots whose fingerprints are the `fingerprint_bits` (1 to 64) high bits of a hash.
    /// Filters with equally long fingerprints can be [merged](Self::merge), whatever their numbers of slots.
    ///
    /// # Errors
    /// For the reasons that [`new`](Self::new) gives; also if there are more slots than fingerprints, or so few slots
    /// that a remainder would have more than 57 bits.
    pub fn with_fingerprint_bits(slots: u64, fingerprint_bits: u32) -> Result<Self, ConfigError> {
        if !(1..=64).contains(&fingerprint_bits) {
            return Err(ConfigError::OutOfRange {
                what: "bits of a fingerprint",
                given: fingerprint_bits.into(),
                least: 1,
                most: 64,
            });
        }
        Self::with_shape(Shape::new(slots, u64::MAX >> (64 - fingerprint_bits))?)
    }

    /// The smallest empty filter that holds `capacity` keys at a false-positive rate of at most `rate`.
    ///
    /// # Errors
    /// If `rate` is outside (0, 1) or too low for 64-bit hashes of this many keys, or if the table does not fit in
    /// memory.
    pub fn with_rate(capacity: u64, rate: f64) -> Result<Self, ConfigError> {
        Self::growing(capacity, rate, 0)
    }

    /// The smallest empty filter that holds `capacity` keys, and that still has a false-positive rate of at most `rate`
    /// when it is full after [`with_slots`](Self::with_slots) has doubled it `doublings` times.
    ///
    /// The fingerprints are made long enough for the last size: each doubling moves a bit of every remainder into the
    /// quotient, and doubles the rate of a full filter. So a key takes `doublings` bits more in the first table, one
    /// less after each doubling, and none more in the last and largest one. (InfiniFilter, Dayan et al., SIGMOD 2023,
    /// needs no number of doublings, but takes a bit or two a key for the lengths of fingerprints and, to bound the
    /// rate, 2 log₂ of the doublings more, in every table.)
    ///
    /// ```
    /// use furui::filter::QuotientFilter;
    ///
    /// let mut seen = QuotientFilter::growing(1000, 0.01, 10)?;
    /// for key in 0..500_000u32 {
    ///     if seen.len() == seen.capacity() {
    ///         seen = seen.with_slots(2 * seen.slots())?;
    ///     }
    ///     seen.insert(key.to_le_bytes())?;
    /// }
    /// assert!(seen.false_positive_rate() < 0.01);
    /// # Ok::<(), furui::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`with_rate`](Self::with_rate) for the rate of the first table, `rate` / 2^`doublings`.
    pub fn growing(capacity: u64, rate: f64, doublings: u32) -> Result<Self, ConfigError> {
        let first = rate * 0.5f64.powi(i32::try_from(doublings).unwrap_or(i32::MAX));
        Self::with_shape(Shape::with_rate(capacity, first)?)
    }

    fn with_shape(shape: Shape) -> Result<Self, ConfigError> {
        Ok(Self::over(SlotTable::new(&shape)?, shape))
    }

    /// Replaces the hash specification, at first [`HashSpec::default`], by `hash`. Keys already in the filter must have
    /// been hashed by `hash`. Filters with different specifications cannot be [merged](Self::merge).
    #[must_use]
    pub fn hashed_by(self, hash: HashSpec) -> Self {
        Self { hash, ..self }
    }

    /// Turns an empty filter into a multiset. Each insertion stores a copy of the key's fingerprint in a slot of its
    /// own, even if the key was inserted before. Each removal removes one copy.
    ///
    /// So keys can be [removed](Self::remove) without removing others that share their fingerprint. If the filter is
    /// not empty, keys that it already holds and that share a fingerprint still share one copy.
    #[must_use]
    pub fn counting(self) -> Self {
        Self { counting: true, ..self }
    }
}

impl<M> QuotientFilter<M> {
    /// A filter over `table` that counts as empty: `table` must be all zeros, or the caller must set `len` and
    /// `distinct`.
    fn over(table: SlotTable<M>, shape: Shape) -> Self {
        Self {
            table,
            shape,
            lanes: Lanes::new(shape.remainder_bits, MAX_REMAINDER_BITS),
            words: Cpu::detect(),
            len: 0,
            distinct: 0,
            counting: false,
            hash: HashSpec::default(),
        }
    }

    /// The number of fingerprints in the filter, copies included.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True if the filter holds no fingerprint.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The maximum number of fingerprints that the filter holds: 97 % of the slots, rounded up.
    pub fn capacity(&self) -> u64 {
        self.shape.capacity
    }

    /// The number of slots of the table. A few of them always stay empty; see [`capacity`](Self::capacity).
    pub fn slots(&self) -> u64 {
        self.shape.slots
    }

    /// The number of bits of a fingerprint that its slot stores. The other bits, the quotient, choose the slot.
    pub fn remainder_bits(&self) -> u32 {
        self.shape.remainder_bits
    }

    /// The greatest possible fingerprint; the least is 0.
    pub fn last_fingerprint(&self) -> u64 {
        self.shape.last
    }

    /// True if the filter keeps a copy for each key that is inserted; see [`counting`](Self::counting).
    pub fn is_counting(&self) -> bool {
        self.counting
    }

    /// The number of different fingerprints in the filter.
    pub fn distinct(&self) -> u64 {
        self.distinct
    }

    /// The fraction of the slots that are used, 0 to 1.
    pub fn load(&self) -> f64 {
        self.len as f64 / self.shape.slots as f64
    }

    /// The fingerprint of `key` in this filter: its hash scaled to 0 ..= [`last_fingerprint`](Self::last_fingerprint).
    pub fn fingerprint(&self, key: KeyHash) -> u64 {
        self.shape.fingerprint(key)
    }
}

impl<M: Deref<Target = [u8]>> QuotientFilter<M> {
    /// The size of the table in bits, with the flags and offsets beside the remainders.
    pub fn bits(&self) -> u64 {
        self.table.bits()
    }

    /// An iterator over the fingerprints in the filter, in ascending order, with copies repeated. Cost: one pass over
    /// the table.
    pub fn fingerprints(&self) -> FingerprintIter<'_> {
        FingerprintIter::new(self.decoder(), self.len)
    }

    fn decoder(&self) -> Decoder<'_> {
        Decoder::new(self.table.lend(), self.shape, self.words)
    }
}

/// Two filters are equal if they have equal sizes and hash specifications, hold equal fingerprints, and both count
/// copies or neither does. Tables are compared, because a set of fingerprints has only one possible table.
impl<M: PartialEq> PartialEq for QuotientFilter<M> {
    fn eq(&self, other: &Self) -> bool {
        self.shape == other.shape
            && self.counting == other.counting
            && self.hash == other.hash
            && self.table == other.table
    }
}

impl<M: Eq> Eq for QuotientFilter<M> {}

#[cfg(test)]
mod tests {
    use super::super::{Filter, FilterMut};
    use super::*;

    /// Does random insertions, removals and lookups with the processor's special instructions and without them.
    #[test]
    fn portable_code_builds_the_same_table() {
        let levels = Cpu::all();
        for (slots, remainder_bits) in [(1, 3), (64, 1), (200, 7), (1000, 40), (77, 57)] {
            let empty = QuotientFilter::new(slots, remainder_bits).unwrap().counting();
            for &cpu in &levels[1..] {
                let mut fast = QuotientFilter { words: cpu, ..empty.clone() };
                let mut portable = QuotientFilter { words: levels[0], ..empty.clone() };
                let mut x = slots;
                for _ in 0..20_000 {
                    x = x.wrapping_mul(0xD129_0DAC_6E5A_42B5).wrapping_add(1);
                    let key = KeyHash::new((x ^ x >> 29).wrapping_mul(0x9E37_79B9_7F4A_7C15) << 3 & !0xFFFF);
                    assert_eq!(fast.contains_hash(key), portable.contains_hash(key), "{cpu:?}");
                    if x >> 60 < 6 {
                        assert_eq!(fast.remove_hash(key), portable.remove_hash(key), "{cpu:?}");
                    } else {
                        let inserted = fast.insert_hash(key);
                        assert_eq!(inserted, portable.insert_hash(key), "{cpu:?}");
                        assert!(inserted.is_err() || fast.contains_hash(key), "{cpu:?}");
                    }
                }
                assert_eq!(fast, portable);
                assert!(fast.fingerprints().eq(portable.fingerprints()));
            }
        }
    }
}
