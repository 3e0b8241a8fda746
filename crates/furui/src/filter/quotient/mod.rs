//! The quotient filter; see [`QuotientFilter`].

mod block;
mod build;
mod check;
mod file;
mod find;
mod insert;
mod iter;
mod merge;
mod remove;
mod sets;
mod shape;
mod table;

use std::ops::Deref;

use crate::bits::Buffer;
use crate::bits::Cpu;
use crate::bits::word::Lanes;
use crate::filter::ConfigError;
use crate::hash::{HashSpec, KeyHash};

pub use iter::{Fingerprints, QuotientSlot};

use iter::Decoder;
use shape::{MAX_REMAINDER_BITS, Shape};
use table::Table;

/// A set of short fingerprints in one table: "was this key seen?", with deletion, counts, resizing, ordered iteration
/// and merging, all without the keys.
///
/// A key's hash is cut to a fingerprint, and that into quotient and remainder. The quotient is the fingerprint's
/// canonical slot; the remainders of equal quotients lie side by side, ascending, as a *run*; runs that push each
/// other from their canonical slots form a *cluster*. Three flags a slot tell them apart:
///
/// ```text
/// slot             0    1    2    3    4    5    6    7
/// remainder             a    b    c    d         e             quotients: a, b: 1   c: 2   d: 4   e: 6
/// is_occupied      0    1    1    0    1    0    1    0        a run of this quotient exists
/// is_continuation  0    0    1    0    0    0    0    0        same run as the slot before
/// is_shifted       0    0    1    1    0    0    0    0        not in its canonical slot
/// ```
///
/// **Cost.** 3.25 bits a slot and the remainder; with [`with_rate`](Self::with_rate) at 1 % 10.6 bits a key, at any
/// number of keys. A lookup reads one or two cache lines of a block of 64 slots and the word where its run begins. An
/// insertion or removal moves the slots up to the next gap: about 1/(2(1 - load)²) of them.
///
/// **False positives.** A key that was never inserted is taken for seen if its fingerprint is one of the m distinct
/// ones held, out of D possible: exactly m / D for a uniform hash (see
/// [`false_positive_rate`](super::Filter::false_positive_rate)). After n keys its expectation is 1 - (1 - 1/D)ⁿ ≈
/// 1 - exp(-n/D).
///
/// **Source.** Bender, Farach-Colton, Johnson, Kraner, Kuszmaul, Medjedovic, Montes, Shetty, Spillane, Zadok, "Don't
/// Thrash: How to Cache Your Hash on Flash", VLDB 2012, after Knuth, The Art of Computer Programming 3, 6.4,
/// exercise 13. What differs:
/// - The flags are kept as bit planes of 64 slots, and each block of 64 counts the slots that earlier runs have taken
///   of it, as in the rank-and-select quotient filter (Pandey, Bender, Johnson, Patro, SIGMOD 2017). A run is found by
///   a population count and a select in place of walking its cluster.
/// - Any number of slots, and of fingerprints D up to 2⁶⁴: the quotient is ⌊fingerprint / d⌋ for d = ⌈D / slots⌉. For
///   powers of two this is the paper's cut into high and low bits.
/// - Fingerprints come from the *high* bits of the hash, so that the order of hashes is the order of the table.
/// - Removal moves the rest of the cluster back; there are no tombstones, which would have to be searched past and
///   cleared.
/// - A run may lie at most 2¹⁶ - 1 slots behind its canonical slot. Hashes of which a table is not nearly full come
///   nowhere near; chosen ones, or as many copies of one key, get [`Full::Crowded`](super::Full::Crowded) instead of
///   ever slower answers.
///
/// ```
/// use furui::filter::QuotientFilter;
///
/// let mut seen = QuotientFilter::with_rate(1_000_000, 0.01)?;
/// assert!(seen.insert("https://example.org/")?);
/// assert!(seen.contains("https://example.org/"));
/// assert!(seen.remove("https://example.org/"));
/// assert!(!seen.contains("https://example.org/"));
/// assert!(seen.bits() < 10_600_000);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct QuotientFilter<M = Buffer> {
    table: Table<M>,
    shape: Shape,
    lanes: Lanes,
    words: Cpu,
    len: u64,
    distinct: u64,
    counting: bool,
    hash: HashSpec,
}

impl QuotientFilter {
    /// An empty filter of `slots` slots with remainders of `remainder_bits` bits (1 to 57), so with `slots` ×
    /// 2^`remainder_bits` fingerprints.
    ///
    /// # Errors
    /// Sizes that are out of range, need more than 64 bits of hash, or do not fit the memory.
    pub fn new(slots: u64, remainder_bits: u32) -> Result<Self, ConfigError> {
        Self::with_shape(Shape::with_remainder(slots, remainder_bits)?)
    }

    /// An empty filter of `slots` slots for fingerprints of `fingerprint_bits` bits (1 to 64): the high bits of the
    /// hash. Filters with equal fingerprints can be [merged](Self::merge), whatever their slots.
    ///
    /// # Errors
    /// As [`new`](Self::new); also if there are more slots than fingerprints, or so few that a remainder would have
    /// more than 57 bits.
    pub fn with_fingerprint_bits(slots: u64, fingerprint_bits: u32) -> Result<Self, ConfigError> {
        if !(1..=64).contains(&fingerprint_bits) {
            return Err(ConfigError(format!("fingerprints have from 1 to 64 bits, not {fingerprint_bits}")));
        }
        Self::with_shape(Shape::new(slots, u64::MAX >> (64 - fingerprint_bits))?)
    }

    /// The smallest empty filter that takes `capacity` keys at a false-positive rate of at most `rate`.
    ///
    /// # Errors
    /// A rate outside (0, 1), or one that a 64-bit hash cannot hold for so many keys; a table that does not fit the
    /// memory.
    pub fn with_rate(capacity: u64, rate: f64) -> Result<Self, ConfigError> {
        Self::with_shape(Shape::with_rate(capacity, rate)?)
    }

    fn with_shape(shape: Shape) -> Result<Self, ConfigError> {
        Ok(Self::over(Table::new(&shape)?, shape))
    }

    /// The same filter for keys that are hashed like `hash`, instead of as [`HashSpec::default`] says. What is in it
    /// must have been hashed so. Filters of keys hashed differently cannot be [merged](Self::merge).
    #[must_use]
    pub fn hashed_by(self, hash: HashSpec) -> Self {
        Self { hash, ..self }
    }

    /// The same filter as a multiset: from now on, inserting a key again stores another copy, in a slot of its own,
    /// and removing it removes one.
    #[must_use]
    pub fn counting(self) -> Self {
        Self { counting: true, ..self }
    }
}

impl<M> QuotientFilter<M> {
    /// An empty filter over a table of zeros.
    fn over(table: Table<M>, shape: Shape) -> Self {
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

    /// How many fingerprints are held, copies included.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many fingerprints can be held: 97 % of the slots, rounded up.
    pub fn capacity(&self) -> u64 {
        self.shape.capacity
    }

    /// How many slots the table has.
    pub fn slots(&self) -> u64 {
        self.shape.slots
    }

    /// The bits of a remainder.
    pub fn remainder_bits(&self) -> u32 {
        self.shape.remainder_bits
    }

    /// The greatest fingerprint; the least is 0.
    pub fn last_fingerprint(&self) -> u64 {
        self.shape.last
    }

    /// How many different fingerprints are held.
    pub fn distinct(&self) -> u64 {
        self.distinct
    }

    /// The used part of the slots, 0 to 1.
    pub fn load(&self) -> f64 {
        self.len as f64 / self.shape.slots as f64
    }

    /// The fingerprint that stands for `key` here: its hash scaled to 0 ..=
    /// [`last_fingerprint`](Self::last_fingerprint).
    pub fn fingerprint(&self, key: KeyHash) -> u64 {
        self.shape.fingerprint(key)
    }
}

impl<M: Deref<Target = [u8]>> QuotientFilter<M> {
    /// Memory taken, in bits, all included.
    pub fn bits(&self) -> u64 {
        self.table.bits() + 8 * size_of::<Self>() as u64
    }

    /// The fingerprints held, ascending, copies repeated: one pass over the table.
    pub fn fingerprints(&self) -> Fingerprints<'_> {
        Fingerprints::new(self.decoder(), self.len)
    }

    fn decoder(&self) -> Decoder<'_> {
        Decoder::new(self.table.lend(), self.shape, self.words)
    }
}

/// Filters are equal if they have the same sizes, hold the same fingerprints of keys hashed the same way, and both
/// count copies or both do not. A set of fingerprints has one table only, however it came about.
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
    use super::*;

    /// Random insertions, removals and lookups, with and without the processor's word instructions.
    #[test]
    fn portable_code_builds_the_same_table() {
        for (slots, remainder_bits) in [(1, 3), (64, 1), (200, 7), (1000, 40), (77, 57)] {
            let mut fast = QuotientFilter::new(slots, remainder_bits).unwrap();
            let mut portable = QuotientFilter { words: Cpu::all()[0], ..fast.clone() };
            let mut x = slots;
            for _ in 0..20_000 {
                x = x.wrapping_mul(0xD129_0DAC_6E5A_42B5).wrapping_add(1);
                let key = KeyHash::new((x ^ x >> 29).wrapping_mul(0x9E37_79B9_7F4A_7C15) << 3 & !0xFFFF);
                assert_eq!(fast.contains_hash(key), portable.contains_hash(key));
                if x >> 60 < 6 {
                    assert_eq!(fast.remove_hash(key), portable.remove_hash(key));
                } else {
                    assert_eq!(fast.insert_hash(key), portable.insert_hash(key));
                }
            }
            assert_eq!(fast, portable);
            assert!(fast.fingerprints().eq(portable.fingerprints()));
        }
    }
}
