use std::fmt;
use std::str::FromStr;

use furui::KeyHash;
use thiserror::Error;

/// The 160-bit id of a document ([`ContentId::of`]): 14 bytes of a cryptographic hash of its record, and 6 bytes of a
/// hash of its URL, so that the nodes that keep one document of a URL keep all of them.
///
/// Ids are in the order of their bytes. Because an id consists of uniform hashes, it is not hashed again. Its first 64
/// bits ([`head`](Self::head)) place it in slices and coded sets. The next 64 bits ([`hash`](Self::hash)), which are
/// independent of the first, place it in Bloom filters.
///
/// ```
/// use furui_search::ContentId;
///
/// let id = ContentId::of(b"the bytes of a record");
/// assert_eq!(id.to_string().parse(), Ok(id));
/// ```
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentId([u8; Self::BYTES]);

impl ContentId {
    /// The size of an id in bytes.
    pub const BYTES: usize = 20;
    /// The size of an id in bits, ζ in the paper of Sei et al.
    pub const BITS: u64 = 160;
    /// The number of bytes at the end of an id that depend on the URL only.
    pub const URL_BYTES: usize = 6;

    /// Makes an id from its bytes.
    pub const fn new(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// The bytes of the id.
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// The part of the id that all documents of its URL share. Different URLs share it by chance only, or because
    /// somebody has tried many.
    pub fn of_url(&self) -> [u8; Self::URL_BYTES] {
        *self.0.last_chunk().expect("longer than that")
    }

    /// The first 64 bits as a number. Heads are in the order of the ids.
    #[inline]
    pub fn head(self) -> u64 {
        self.word(0).swap_bytes()
    }

    /// The 64 bits after the head, for Bloom filters.
    #[inline]
    pub fn hash(self) -> KeyHash {
        KeyHash::new(self.word(8))
    }

    fn word(self, at: usize) -> u64 {
        let (words, _) = self.0[at..].as_chunks();
        u64::from_le_bytes(words[0])
    }
}

impl fmt::Display for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The error for a text that is not the hexadecimal form of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the id of a document has {} hexadecimal digits", 2 * ContentId::BYTES)]
pub struct NoContentId;

impl FromStr for ContentId {
    type Err = NoContentId;

    /// Parses an id in hexadecimal, as [`Display`](fmt::Display) writes it.
    fn from_str(text: &str) -> Result<Self, NoContentId> {
        let digits = text.as_bytes();
        if digits.len() != 2 * Self::BYTES {
            return Err(NoContentId);
        }
        let digit = |at: usize| char::from(digits[at]).to_digit(16).ok_or(NoContentId);
        let mut bytes = [0; Self::BYTES];
        for (at, byte) in bytes.iter_mut().enumerate() {
            // Two hexadecimal digits encode a byte.
            *byte = (digit(2 * at)? << 4 | digit(2 * at + 1)?) as u8;
        }
        Ok(Self(bytes))
    }
}

impl fmt::Debug for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A range of ids: all ids whose [`head`](ContentId::head) is from `first` to `last`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IdRange {
    /// The smallest head (first 64 bits of an id) in the range.
    pub first: u64,
    /// The largest head (first 64 bits of an id) in the range, at least `first`.
    pub last: u64,
}

impl IdRange {
    /// The range of all ids of documents.
    pub const ALL: Self = Self { first: 0, last: u64::MAX };

    /// True if the id is in the range.
    #[inline]
    pub fn contains(&self, id: ContentId) -> bool {
        (self.first..=self.last).contains(&id.head())
    }

    /// The fraction of all ids in the range, from 2⁻⁶⁴ to 1. If a list has n ids, n times this fraction are expected in
    /// the range.
    pub fn part(&self) -> f64 {
        ((self.last - self.first) as f64 + 1.0) / 2f64.powi(64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_in_the_order_of_ids_and_hashes_come_after_them() {
        let mut bytes = [0; 20];
        bytes[0] = 0x12;
        bytes[7] = 0x34;
        bytes[8] = 0x56;
        let id = ContentId::new(bytes);
        assert_eq!(id.head(), 0x1200_0000_0000_0034);
        assert_eq!(id.hash().get(), 0x56);
        assert_eq!(id.to_string(), "1200000000000034560000000000000000000000");
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!("12".parse::<ContentId>(), Err(NoContentId));
        assert_eq!("+200000000000034560000000000000000000000".parse::<ContentId>(), Err(NoContentId));
        assert!(IdRange { first: id.head(), last: id.head() }.contains(id));
        assert!(!IdRange { first: id.head() + 1, last: u64::MAX }.contains(id));
        assert_eq!(IdRange::ALL.part(), 1.0);
        assert_eq!(IdRange { first: 0, last: u64::MAX / 2 }.part(), 0.5);
    }
}
