//! Quotient pages: sorted fingerprints in 4 KiB. A key takes two to three bits besides its remainder.

use xxhash_rust::xxh3::xxh3_64;

use crate::bits::arch::prefetch_at;
use crate::bits::word::low_bits;
use crate::bits::{append_packed, pack, unary_numbers, unary_position};
use crate::format::{Problem, field};
use crate::store::Fingerprints;

/// The size of a page in bytes, and its alignment in a file.
pub const PAGE_BYTES: usize = 4096;

/// The size of a page's header in bytes: a checksum and the number of keys.
const HEADER_BYTES: usize = 6;

/// The size in bytes of the rest of a page: the quotients in unary, and the remainders.
const BODY_BYTES: usize = PAGE_BYTES - HEADER_BYTES;

/// The maximum number of bytes of the quotients in unary, which are read in whole words.
const MAX_UNARY_BYTES: usize = BODY_BYTES / 8 * 8;

/// The number l of low bits of a fingerprint that are its remainder in a run. The other bits are its quotient.
///
/// With n of m possible fingerprints and l = ⌊log₂ (m / n)⌋, there are one to two quotients for each key. So the unary
/// part takes 2 to 3 bits a key, and the whole page about log₂ (m / n) + 2 bits a key. A remainder that is one bit
/// shorter or longer costs more than it saves.
///
/// ```
/// use furui::store::Fingerprints;
/// use furui::raw::{PAGE_BYTES, Page, RemainderBits};
///
/// // A run of a billion keys: 30 bits of a hash are its quotient, and the others are stored.
/// let bits = RemainderBits::for_keys(1_000_000_000, Fingerprints::EXACT);
/// assert_eq!(bits.get(), 34);
/// let (keys, mut page) = ((1..10_000).map(|i| i << 34).collect::<Vec<u64>>(), [0; PAGE_BYTES]);
/// assert!(Page::encode(&keys, bits, &mut page) <= bits.most_keys());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemainderBits(u32);

impl RemainderBits {
    /// The minimum width of a remainder, in bits, for runs that hold a quarter of all fingerprints or more.
    pub const MIN: u32 = 1;
    /// The maximum width of a remainder, in bits, for runs of at most 256 whole hashes. Such a remainder lies within
    /// eight bytes, at whichever bit of a byte it begins.
    pub const MAX: u32 = 56;

    /// The width for a run of about this many keys. Any number works; a wrong guess only costs space.
    pub fn for_keys(keys: u64, fingerprints: Fingerprints) -> Self {
        let each = (u128::from(fingerprints.last()) + 1) / u128::from(keys.max(1));
        Self(each.max(1).ilog2().clamp(Self::MIN, Self::MAX))
    }

    /// The width that a file states, in bits; `None` if it is out of range.
    pub fn new(bits: u32) -> Option<Self> {
        (Self::MIN..=Self::MAX).contains(&bits).then_some(Self(bits))
    }

    /// The number of low bits of a fingerprint that are its remainder.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The maximum number of keys of a page. Each key takes its remainder and at least one bit.
    pub const fn most_keys(self) -> usize {
        BODY_BYTES * 8 / (self.0 as usize + 1)
    }

    /// The number of bytes that `count` remainders take.
    const fn packed(self, count: usize) -> usize {
        (count * self.0 as usize).div_ceil(8)
    }

    const fn mask(self) -> u64 {
        low_bits(self.0)
    }
}

/// A page of sorted fingerprints, which is searched in place, without unpacking.
///
/// ```text
///   0         4       6
///   ┌─────────┬───────┬───────────────────────┬─────┬──────────────────────┐
///   │ checksum│ count │ unary part            │  0  │ remainders, l bits   │ 4096
///   │ u32     │ u16   │                       │     │ 8 keys = l bytes     │
///   └─────────┴───────┴───────────────────────┴─────┴──────────────────────┘
///   quotients  base, base, base+2, base+3    unary  1 1 0 0 1 0 1     key i sets bit (quotient - base) + i
/// ```
///
/// A 1 in the unary part is a key, and a 0 is a step to the next quotient: the keys of the quotient base + z stand
/// between the z-th zero and the next. The base is the quotient of the first key, which is the page's fence and so not
/// in the page. A page is immutable, so there are no empty slots and no shifted runs.
///
/// Cost: a lookup touches the header, the first half of the unary part on average, and one line of remainders.
///
/// Source: M. A. Bender et al., "Don't Thrash: How to Cache Your Hash on Flash", PVLDB 5(11), 2012, whose quotient
/// filters on storage keep three flags for each slot, and a quarter of the slots empty, so that slots can move. A level
/// of the cascade is never changed, so here the quotients are written in unary (P. Elias, 1974), at full load.
///
/// ```
/// use furui::store::Fingerprints;
/// use furui::raw::{PAGE_BYTES, Page, RemainderBits};
///
/// let bits = RemainderBits::for_keys(3, Fingerprints::EXACT);
/// let mut bytes = [0; PAGE_BYTES];
/// assert_eq!(Page::encode(&[5, 6, 1 << 60], bits, &mut bytes), 3);
/// let page = Page::new(&bytes, 5, bits).unwrap();
/// assert!(page.contains(6) && !page.contains(7));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    bytes: &'a [u8; PAGE_BYTES],
    bits: RemainderBits,
    base: u64,
    /// The quotients of the keys in unary, in words of 8 bytes. The last word may reach into the remainders.
    unary: &'a [[u8; 8]],
    /// The offset in the page at which the remainders begin, in bytes.
    remainders: usize,
    count: usize,
}

/// The place of a key in a page: the position of its bit among the unary quotients, and its index among the keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyPlace {
    /// The position of the key's one bit among the unary quotients.
    position: usize,
    /// The number of keys in the page before this one.
    index: usize,
}

impl<'a> Page<'a> {
    /// Packs as many of `keys` into `page` as fit, at least one, and returns their number.
    ///
    /// `keys` must ascend strictly; otherwise the page is not readable.
    ///
    /// # Panics
    /// If `keys` is empty.
    pub fn encode(keys: &[u64], bits: RemainderBits, page: &mut [u8; PAGE_BYTES]) -> usize {
        let keys = &keys[..fitting(keys, bits)];
        debug_assert!(keys.is_sorted_by(|a, b| a < b));
        let base = keys[0] >> bits.get();
        page.fill(0);
        field::put(page, 4, (keys.len() as u16).to_le_bytes());
        encode_unary(keys, bits, base, &mut page[HEADER_BYTES..]);
        pack(keys, bits.get(), &mut page[PAGE_BYTES - bits.packed(keys.len())..]);
        let checksum = checksum(page, base);
        field::put(page, 0, checksum.to_le_bytes());
        keys.len()
    }

    /// Reads the header of the page whose first key is `first`. Cost: one cache line. [`check`](Self::check) finds out
    /// whether the rest is whole.
    ///
    /// # Errors
    /// If the header describes an invalid page.
    pub fn new(bytes: &'a [u8; PAGE_BYTES], first: u64, bits: RemainderBits) -> Result<Self, Problem> {
        let count = usize::from(field::u16_at(bytes, 4));
        let remainders = PAGE_BYTES.saturating_sub(bits.packed(count));
        let unary_bytes = remainders.saturating_sub(HEADER_BYTES);
        if count == 0 || count > unary_bytes * 8 {
            return Err(Problem::Invalid("the keys of a page do not fit into it"));
        }
        let words = bytes[HEADER_BYTES..].as_chunks().0;
        let unary = &words[..unary_bytes.div_ceil(8).min(words.len())];
        Ok(Self { bytes, bits, base: first >> bits.get(), unary, remainders, count })
    }

    /// Compares the checksum with the bytes and the place of the page. Cost: one pass over the page.
    ///
    /// # Errors
    /// [`Problem::Checksum`].
    pub fn check(&self) -> Result<(), Problem> {
        let found = field::u32_at(self.bytes, 0);
        if found == checksum(self.bytes, self.base) { Ok(()) } else { Err(Problem::Checksum) }
    }

    /// The number of keys in the page, from 1 to 16 360.
    #[expect(clippy::len_without_is_empty, reason = "a page is never empty")]
    pub fn len(&self) -> usize {
        self.count
    }

    /// The first fingerprint of the page, which is the least.
    pub fn first(&self) -> u64 {
        self.base << self.bits.get() | self.remainder(0)
    }

    /// True if `fingerprint` is in the page.
    ///
    /// Cost: popcounts up to its quotient, then one or two comparisons. If the page is damaged the answer is arbitrary.
    #[inline]
    pub fn contains(&self, fingerprint: u64) -> bool {
        self.seek(fingerprint).is_some_and(|place| self.contains_at(place, fingerprint))
    }

    /// Returns the place of the first key with the same quotient as `fingerprint`; `None` if there is none. This reads
    /// the header and the unary quotients, and prefetches the remainders that [`contains_at`](Self::contains_at) reads.
    #[inline]
    pub(super) fn seek(&self, fingerprint: u64) -> Option<KeyPlace> {
        let zeros = (fingerprint >> self.bits.get()).checked_sub(self.base)?;
        let position = unary_position(self.unary, zeros)?;
        // If the position is after the last key, the index is at least the count, even though the last word may also
        // have bits of the remainders.
        let index = position - zeros as usize;
        if index >= self.count || !self.is_key(position) {
            return None;
        }
        // The remainders of the one or two keys that are compared may lie on two cache lines.
        let remainder = self.remainders + index * self.bits.get() as usize / 8;
        prefetch_at(self.bytes, remainder);
        prefetch_at(self.bytes, remainder + 15);
        Some(KeyPlace { position, index })
    }

    /// True if `fingerprint`, whose quotient is that of the key at `place`, is in the page.
    #[inline]
    pub(super) fn contains_at(&self, place: KeyPlace, fingerprint: u64) -> bool {
        let remainder = fingerprint & self.bits.mask();
        let KeyPlace { mut position, mut index } = place;
        while index < self.count && self.is_key(position) {
            let found = self.remainder(index);
            if found >= remainder {
                return found == remainder;
            }
            position += 1;
            index += 1;
        }
        false
    }

    /// Appends all keys, ascending, to `keys`. Cost: 1 to 2 ns a key.
    ///
    /// # Errors
    /// If the keys do not ascend strictly, or their number is not that of the header; `keys` is then unchanged.
    pub fn decode(&self, keys: &mut Vec<u64>) -> Result<(), Problem> {
        let start = keys.len();
        keys.resize(start + self.count, 0);
        let result = self.decode_into(&mut keys[start..]);
        if result.is_err() {
            keys.truncate(start);
        }
        result
    }

    fn decode_into(&self, keys: &mut [u64]) -> Result<(), Problem> {
        if !self.decode_unary(keys) {
            return Err(Problem::Invalid("a page's unary part holds a different number of keys than its header says"));
        }
        append_packed(&self.bytes[self.remainders..], self.bits.get(), keys);
        // The fold has no early exit, so that the compiler can vectorize it.
        let ascending = keys.iter().zip(&keys[1..]).fold(true, |ascending, (a, b)| ascending & (a < b));
        if ascending { Ok(()) } else { Err(Problem::Invalid("the keys of a page do not ascend")) }
    }

    /// Decodes the quotients of all keys from unary. False if there are not as many as `quotients` has room for.
    fn decode_unary(&self, quotients: &mut [u64]) -> bool {
        let Some((last, whole)) = self.unary.split_last() else { return false };
        let bits = (self.remainders - HEADER_BYTES) * 8 - whole.len() * 64;
        let last = u64::from_le_bytes(*last) & low_bits(bits.min(64) as u32);
        let Some(before) = quotients.len().checked_sub(last.count_ones() as usize) else { return false };
        let (front, back) = quotients.split_at_mut(before);
        // The whole words of a valid page hold `before` ones, so their other bits are the zeros before the last word.
        let Some(zeros) = (whole.len() * 64).checked_sub(before) else { return false };
        unary_numbers(whole, self.base, front)
            && unary_numbers(&[last.to_le_bytes()], self.base.wrapping_add(zeros as u64), back)
    }

    fn is_key(&self, position: usize) -> bool {
        self.unary.get(position / 64).is_some_and(|word| u64::from_le_bytes(*word) >> (position % 64) & 1 == 1)
    }

    /// The remainder of the key with this index, which must be less than the number of keys.
    fn remainder(&self, index: usize) -> u64 {
        let bit = index * self.bits.get() as usize;
        // The last remainders begin less than eight bytes before the end of the page. For these, the last eight bytes
        // of the page are read, and shifted by more bits.
        let start = self.remainders + bit / 8;
        let at = start.min(PAGE_BYTES - 8);
        field::u64_at(self.bytes, at) >> ((start - at) * 8 + bit % 8) & self.bits.mask()
    }
}

/// The checksum of a page. It depends on the quotient of the page's first key (`base`), so that a page in the place of
/// another one is noticed.
fn checksum(page: &[u8; PAGE_BYTES], base: u64) -> u32 {
    (xxh3_64(&page[4..]) as u32).wrapping_add(base as u32)
}

/// The number of `keys` that fit into a page. A binary search finds it, because the size of a page grows with every
/// key.
fn fitting(keys: &[u64], bits: RemainderBits) -> usize {
    assert!(!keys.is_empty(), "a page holds at least one key");
    let (mut fit, mut most) = (1, keys.len().min(bits.most_keys()));
    while fit < most {
        let count = (fit + most).div_ceil(2);
        let steps = (keys[count - 1] >> bits.get()) - (keys[0] >> bits.get());
        let room = MAX_UNARY_BYTES.min(BODY_BYTES - bits.packed(count));
        if steps + count as u64 <= room as u64 * 8 {
            fit = count;
        } else {
            most = count - 1;
        }
    }
    fit
}

/// Writes the unary part to the front of `unary`, which holds zeros. The current word is kept in a register and stored
/// after every key, so that there is no branch, and no load waits for a store. A store may reach beyond the unary part,
/// but writes only zeros there.
fn encode_unary(keys: &[u64], bits: RemainderBits, base: u64, unary: &mut [u8]) {
    let words = unary.as_chunks_mut().0;
    let (mut current, mut word) = (0, 0u64);
    for (i, key) in keys.iter().enumerate() {
        let position = ((key >> bits.get()) - base) as usize + i;
        let kept = if position / 64 == current { word } else { 0 };
        current = position / 64;
        word = kept | 1 << (position % 64);
        words[current] = word.to_le_bytes();
    }
}
