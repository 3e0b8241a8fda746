//! Quotient pages: sorted 64-bit hashes in 4 KiB, at two bits a key above their remainders.

use xxhash_rust::xxh3::xxh3_64;

use crate::bits::{append_packed, pack, unary_numbers, unary_position};
use crate::format::{Problem, field};

/// The size of a page, and its alignment in a file.
pub const PAGE_BYTES: usize = 4096;

/// The bytes of the checksum, the counts and the base quotient, which precede the unary part.
const HEADER_BYTES: usize = 16;

/// The bytes for the unary part and the remainders.
const BODY_BYTES: usize = PAGE_BYTES - HEADER_BYTES;

/// The number l of low bits of a hash that are its remainder in a run. The other bits are its quotient.
///
/// With n keys and l = ⌊64 − log₂ n⌋ there are one to two quotients for each key, so the unary part takes 2 to 3 bits a
/// key, and the whole page about 64 − log₂ n + 2. One bit more or less of remainder costs more than it saves.
///
/// ```
/// use furui::store::cascade::{PAGE_BYTES, Page, RemainderBits};
///
/// // A run of a billion keys: 30 bits of a hash are its quotient, and the others are stored.
/// let bits = RemainderBits::for_keys(1_000_000_000);
/// assert_eq!(bits.get(), 34);
/// let (keys, mut page) = ((1..10_000).map(|i| i << 34).collect::<Vec<u64>>(), [0; PAGE_BYTES]);
/// assert!(Page::encode(&keys, bits, &mut page) <= bits.most_keys());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemainderBits(u32);

impl RemainderBits {
    /// The narrowest remainder, for 2⁵⁶ keys and more.
    pub const MIN: u32 = 8;
    /// The widest remainder, for at most 256 keys. It fits into eight bytes from any bit on.
    pub const MAX: u32 = 56;

    /// The width for a run of about this many keys. Any number works; a wrong guess only costs space.
    pub fn for_keys(keys: u64) -> Self {
        Self(keys.saturating_sub(1).leading_zeros().clamp(Self::MIN, Self::MAX))
    }

    /// The width that a file states; `None` if no writer writes it.
    pub fn new(bits: u32) -> Option<Self> {
        (Self::MIN..=Self::MAX).contains(&bits).then_some(Self(bits))
    }

    /// The width in bits.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The maximum number of keys of a page. Each takes its remainder and at least one bit.
    pub const fn most_keys(self) -> usize {
        BODY_BYTES * 8 / (self.0 as usize + 1)
    }

    const fn bytes(self) -> usize {
        self.0 as usize
    }

    const fn mask(self) -> u64 {
        (1 << self.0) - 1
    }
}

/// A page of sorted hashes, which is searched in place, without unpacking.
///
/// ```text
///   0         4       6       8              16
///   ┌─────────┬───────┬───────┬──────────────┬───────────────────────┬──────────────────────┬─────┐
///   │ checksum│ count │ words │ base quotient│ unary part            │ remainders, l bits   │  0  │ 4096
///   │ u32     │ u16   │ u16   │ u64          │ words x u64           │ 8 keys = l bytes     │     │
///   └─────────┴───────┴───────┴──────────────┴───────────────────────┴──────────────────────┴─────┘
///   quotients  base, base, base+2, base+3    unary  1 1 0 0 1 0 1     key i sets bit (quotient - base) + i
/// ```
///
/// A 1 in the unary part is a key, and a 0 is a step to the next quotient: the keys of the quotient base + z stand
/// between the z-th zero and the next. A page is immutable, so there are no empty slots and no shifted runs.
///
/// Cost: a lookup touches the header, the first half of the unary part on average, and one line of remainders.
///
/// Source: M. A. Bender et al., "Don't Thrash: How to Cache Your Hash on Flash", PVLDB 5(11), 2012, whose quotient
/// filters on storage keep three flags for each slot, and a quarter of the slots empty, so that slots can move. A level
/// of the cascade is never changed, so here the quotients are written in unary (P. Elias, 1974), at full load.
///
/// ```
/// use furui::store::cascade::{PAGE_BYTES, Page, RemainderBits};
///
/// let bits = RemainderBits::for_keys(3);
/// let mut bytes = [0; PAGE_BYTES];
/// assert_eq!(Page::encode(&[5, 6, 1 << 60], bits, &mut bytes), 3);
/// let page = Page::new(&bytes, bits).unwrap();
/// assert!(page.contains(6) && !page.contains(7));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    bytes: &'a [u8; PAGE_BYTES],
    bits: RemainderBits,
    base: u64,
    unary: &'a [[u8; 8]],
    remainders: &'a [u8],
    count: usize,
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
        let words = unary_words(keys, keys.len(), bits) as usize;
        page.fill(0);
        field::put(page, 4, (keys.len() as u16).to_le_bytes());
        field::put(page, 6, (words as u16).to_le_bytes());
        field::put(page, 8, base.to_le_bytes());
        let (unary, remainders) = page[HEADER_BYTES..].split_at_mut(words * 8);
        encode_unary(keys, bits, base, unary.as_chunks_mut().0);
        pack(keys, bits.get(), remainders);
        let checksum = xxh3_64(&page[4..]) as u32;
        field::put(page, 0, checksum.to_le_bytes());
        keys.len()
    }

    /// Reads the header. Cost: one cache line. [`check`](Self::check) finds out whether the rest is whole.
    ///
    /// # Errors
    /// If the header describes an invalid page.
    pub fn new(bytes: &'a [u8; PAGE_BYTES], bits: RemainderBits) -> Result<Self, Problem> {
        let (header, body) = bytes.split_at(HEADER_BYTES);
        let count = usize::from(field::u16_at(header, 4));
        let words = usize::from(field::u16_at(header, 6));
        let base = field::u64_at(header, 8);
        let (unary, rest) =
            body.split_at_checked(words * 8).ok_or(Problem::Invalid("the unary part does not fit into its page"))?;
        let remainders = rest
            .get(..(count * bits.bytes()).div_ceil(8))
            .ok_or(Problem::Invalid("the remainders do not fit into their page"))?;
        if count == 0 || count > words * 64 {
            return Err(Problem::Invalid("a page's count of keys contradicts its unary part"));
        }
        if base > u64::MAX >> bits.get() {
            return Err(Problem::Invalid("a page's base quotient is too large"));
        }
        Ok(Self { bytes, bits, base, unary: unary.as_chunks().0, remainders, count })
    }

    /// Compares the checksum with the bytes. Cost: one pass over the page.
    ///
    /// # Errors
    /// [`Problem::Checksum`].
    pub fn check(&self) -> Result<(), Problem> {
        let checksum = field::u32_at(self.bytes, 0);
        if checksum == xxh3_64(&self.bytes[4..]) as u32 { Ok(()) } else { Err(Problem::Checksum) }
    }

    /// The number of keys, from 1 to 3626.
    #[expect(clippy::len_without_is_empty, reason = "a page is never empty")]
    pub fn len(&self) -> usize {
        self.count
    }

    /// The first and least key.
    pub fn first(&self) -> u64 {
        self.base << self.bits.get() | self.remainder(0)
    }

    /// True if `hash` is in the page.
    ///
    /// Cost: popcounts up to its quotient, then one or two comparisons. If the page is damaged the answer is arbitrary.
    #[inline]
    pub fn contains(&self, hash: u64) -> bool {
        let Some(zeros) = (hash >> self.bits.get()).checked_sub(self.base) else { return false };
        let Some(mut position) = unary_position(self.unary, zeros) else { return false };
        let remainder = hash & self.bits.mask();
        let mut index = position - zeros as usize;
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
        if !unary_numbers(self.unary, self.base, keys) {
            return Err(Problem::Invalid("a page's unary part holds a different number of keys than its header says"));
        }
        append_packed(self.remainders, self.bits.get(), keys);
        // This fold has no early exit, so the compiler makes vector comparisons of it.
        let ascending = keys.iter().zip(&keys[1..]).fold(true, |ascending, (a, b)| ascending & (a < b));
        if ascending { Ok(()) } else { Err(Problem::Invalid("the keys of a page do not ascend")) }
    }

    fn is_key(&self, position: usize) -> bool {
        self.unary.get(position / 64).is_some_and(|word| u64::from_le_bytes(*word) >> (position % 64) & 1 == 1)
    }

    /// The remainder of key `index`, which is less than the count.
    fn remainder(&self, index: usize) -> u64 {
        let bit = index * self.bits.bytes();
        // The last remainders end less than eight bytes before the page does. For them the last eight bytes are read,
        // and shifted more.
        let start = HEADER_BYTES + self.unary.len() * 8 + bit / 8;
        let at = start.min(PAGE_BYTES - 8);
        field::u64_at(self.bytes, at) >> ((start - at) * 8 + bit % 8) & self.bits.mask()
    }
}

/// The number of `keys` that fit into a page. The size grows with every key, so a binary search finds it.
fn fitting(keys: &[u64], bits: RemainderBits) -> usize {
    assert!(!keys.is_empty(), "a page holds at least one key");
    let (mut fit, mut most) = (1, keys.len().min(bits.most_keys()));
    while fit < most {
        let count = (fit + most).div_ceil(2);
        if unary_words(keys, count, bits) * 8 + (count * bits.bytes()).div_ceil(8) as u64 <= BODY_BYTES as u64 {
            fit = count;
        } else {
            most = count - 1;
        }
    }
    fit
}

/// The length of the unary part for the first `count` keys.
fn unary_words(keys: &[u64], count: usize, bits: RemainderBits) -> u64 {
    let steps = (keys[count - 1] >> bits.get()) - (keys[0] >> bits.get());
    (steps + count as u64).div_ceil(64)
}

/// Writes the unary part. The current word is kept in a register and stored with every key: no branch, and no load that
/// waits for a store.
fn encode_unary(keys: &[u64], bits: RemainderBits, base: u64, unary: &mut [[u8; 8]]) {
    let (mut current, mut word) = (0, 0u64);
    for (i, key) in keys.iter().enumerate() {
        let position = ((key >> bits.get()) - base) as usize + i;
        let kept = if position / 64 == current { word } else { 0 };
        current = position / 64;
        word = kept | 1 << (position % 64);
        unary[current] = word.to_le_bytes();
    }
}
