use super::ConfigError;
use crate::bits::scale;
use crate::bits::word::low_bits;
use crate::format::field::{u32_at, u64_at};
use crate::hash::KeyHash;

/// The number of places of a key, one in each of so many segments.
pub(super) const PLACES: usize = 4;
/// The binary logarithm of the number of places of the largest segment.
const LARGEST_SEGMENT: u32 = 13;
/// The binary logarithm of the number of places of the smallest segment. In smaller segments, too few places of a key
/// would depend on the multiplier.
const SMALLEST_SEGMENT: u32 = 3;
/// The largest number of bits of a fingerprint: the bits of a product from which no place is taken.
pub(super) const WIDEST: u32 = 64 - (PLACES as u32 - 1) * LARGEST_SEGMENT;
/// The maximum number of shards.
const MAX_SHARDS: u64 = 1 << 31;
/// The maximum size of a table in bytes.
const MAX_BYTES: u128 = 1 << 40;
/// Shards have at most this many keys on average. Chosen: from 600,000 keys on a filter takes no more than 1.075 places
/// a key, and a shard is built in 24 MB.
const SHARD: usize = 1 << 20;
/// The largest shard may have one of so many keys more than the mean: some 45 standard deviations of uniform hashes.
const UNEVEN: usize = 16;
/// The bytes of a block after its fingerprints: its multiplier. A fingerprint is read as a part of four bytes, so these
/// also let the last one be read.
const TAIL: usize = 8;

/// The sizes of a filter, from which the places of keys follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    shards: usize,
    /// The number of segments of a shard in which the first place of a key can be; [`PLACES`] - 1 follow.
    starts: usize,
    /// The binary logarithm of the number of places of a segment.
    segment: u32,
    /// The number of bits of a fingerprint.
    width: u32,
    /// The number of bytes of a shard's block: its fingerprints, then its multiplier.
    block: usize,
}

/// Where the fingerprints of a key are, and what their XOR is if the filter has the key.
#[derive(Clone, Copy, Default)]
pub(super) struct Places {
    /// The first bit of the fingerprint at each place, counted from the start of the table, or of a block.
    pub(super) bits: [usize; PLACES],
    pub(super) fingerprint: u32,
}

impl Shape {
    /// The shape with these sizes; `None` if no filter has them, or if this machine cannot address the bits of its
    /// table.
    pub(super) fn new(shards: u64, starts: u64, segment: u32, width: u32) -> Option<Self> {
        let valid = (1..=MAX_SHARDS).contains(&shards) && (1..=u32::MAX.into()).contains(&starts);
        if !valid || segment > LARGEST_SEGMENT || !(1..=WIDEST).contains(&width) {
            return None;
        }
        let places = (u128::from(starts) + PLACES as u128 - 1) << segment;
        let block = (places * u128::from(width)).div_ceil(8) + TAIL as u128;
        let bytes = u128::from(shards) * block;
        if bytes > MAX_BYTES || usize::try_from(8 * bytes).is_err() {
            return None;
        }
        Some(Self { shards: shards as usize, starts: starts as usize, segment, width, block: block as usize })
    }

    /// The shape for these different keys, which ascend, with fingerprints of `width` bits, and with `room` times the
    /// places that they mostly need.
    ///
    /// # Errors
    /// [`ConfigError::Unbuildable`] if one shard has far more keys than others.
    pub(super) fn for_keys(keys: &[KeyHash], width: u32, room: f64) -> Result<Self, ConfigError> {
        let unbuildable = ConfigError::Unbuildable { keys: keys.len() as u64 };
        let shards = keys.len().div_ceil(SHARD).max(1);
        let shard = |key: &KeyHash| scale(key.get(), shards);
        let largest = keys.chunk_by(|a, b| shard(a) == shard(b)).map(<[KeyHash]>::len).max().unwrap_or(0);
        let mean = keys.len().div_ceil(shards);
        if largest > mean + mean / UNEVEN {
            return Err(unbuildable);
        }
        // Both formulas are those of the paper.
        let ln = (largest.max(2) as f64).ln();
        let segment = (ln / 2.91f64.ln() - 0.5).floor() as u32;
        let segment = segment.clamp(SMALLEST_SEGMENT, LARGEST_SEGMENT);
        let places = largest as f64 * (0.77 + 0.305 * 600_000f64.ln() / ln).max(1.075) * room;
        let segments = (places as usize).div_ceil(1 << segment).max(PLACES);
        Self::new(shards as u64, (segments - (PLACES - 1)) as u64, segment, width).ok_or(unbuildable)
    }

    /// This shape with fingerprints of one bit, so that the bit of a place in its block is its number.
    #[inline(always)]
    pub(super) fn of_single_bits(self) -> Self {
        Self { width: 1, ..self }
    }

    /// This shape, if its fingerprints are bytes, for code that the compiler is to make for this case.
    #[inline(always)]
    pub(super) fn of_whole_bytes(self) -> Option<Self> {
        (self.width == 8).then_some(Self { width: 8, ..self })
    }

    pub(super) fn shards(self) -> usize {
        self.shards
    }

    pub(super) fn starts(self) -> usize {
        self.starts
    }

    pub(super) fn segment(self) -> u32 {
        self.segment
    }

    pub(super) fn width(self) -> u32 {
        self.width
    }

    /// The number of bytes of a shard's block: its fingerprints, then its multiplier.
    pub(super) fn block(self) -> usize {
        self.block
    }

    /// The number of bytes of the table.
    pub(super) fn bytes(self) -> usize {
        self.shards * self.block
    }

    /// The number of places of a shard.
    pub(super) fn places(self) -> usize {
        (self.starts + PLACES - 1) << self.segment
    }

    /// The number of a key's shard.
    #[inline(always)]
    pub(super) fn shard(self, key: KeyHash) -> usize {
        scale(key.get(), self.shards)
    }

    /// The index in the table of the multiplier of a key's shard, which has 8 bytes.
    #[inline(always)]
    pub(super) fn multiplier_of(self, key: KeyHash) -> usize {
        (self.shard(key) + 1) * self.block - TAIL
    }

    /// The places of a key in the table, which begin at bit `start` of it for the key's shard, with this multiplier of
    /// the shard. Of keys that ascend, the first places do not descend, whatever the multiplier is.
    #[inline(always)]
    pub(super) fn places_of(self, key: KeyHash, multiplier: u64, start: usize) -> Places {
        // What is left of the hash after the shard was taken from it.
        let rest = key.get().wrapping_mul(self.shards as u64);
        let product = key.get().wrapping_mul(multiplier);
        let first = scale(rest, self.starts << self.segment);
        let (before, within) = (first & !(low_bits(self.segment) as usize), low_bits(self.segment));
        let bit = |place: usize| start + place * self.width as usize;
        let other = |i: usize| {
            let random = product >> (64 - i as u32 * LARGEST_SEGMENT) & within;
            bit((before + (i << self.segment)) | random as usize)
        };
        Places {
            bits: [bit(first), other(1), other(2), other(3)],
            fingerprint: (product as u32) << (32 - WIDEST) >> (32 - self.width),
        }
    }

    /// The places of a key in `table`.
    #[inline(always)]
    pub(super) fn find(self, table: &[u8], key: KeyHash) -> Places {
        let end = self.multiplier_of(key);
        self.places_of(key, u64_at(table, end), 8 * (end + TAIL - self.block))
    }

    /// The XOR of the fingerprints at these places and of the key's own, which is 0 if the key may be in the filter.
    #[inline(always)]
    pub(super) fn difference(self, table: &[u8], places: Places) -> u32 {
        let read = |bit: usize| u32_at(table, bit / 8) >> (bit % 8);
        let read = places.bits.into_iter().fold(0, |xor, bit| xor ^ read(bit));
        (read ^ places.fingerprint) & u32::MAX >> (32 - self.width)
    }
}
