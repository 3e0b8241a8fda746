use super::{CodecError, Coded, Golomb, answer};
use crate::ContentId;

/// The third message: what was rejected, and a checksum of what is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Which matches were rejected.
    pub rejected: Coded,
    /// The sum of the keyed hashes of the ids that are left.
    pub checksum: u64,
}

impl Claim {
    /// The bits of the checksum.
    pub const CHECKSUM_BITS: u64 = 64;

    /// Its traffic as the paper counts it.
    pub fn bits(&self) -> u64 {
        self.rejected.bits + Self::CHECKSUM_BITS
    }
}

/// What the side that matched keeps until the third message: its ids that matched.
///
/// With few check bits some false matches pass for true ones. Both sides are left with ids of their own, each with at least
/// those that are truly in both lists; so if the two are the same set, they are the intersection. That is what the checksum
/// compares, exactly up to 2⁻⁶⁴. If it does not agree, the exchange is repeated with long checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    golomb: Golomb,
    ids: Vec<ContentId>,
}

impl Session {
    pub(super) fn new(golomb: Golomb, ids: Vec<ContentId>) -> Self {
        Self { golomb, ids }
    }

    /// How many ids matched: 20 bytes are kept for each.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether none did.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Whether both sides are left with the same set. `rejected` and `checksum` are those of the other side's [`Claim`].
    ///
    /// # Errors
    /// If the bytes do not name matches of this session.
    pub fn confirm(&self, rejected: &[u8], checksum: u64) -> Result<bool, CodecError> {
        let rejected = answer::decode_ranks(rejected, self.ids.len() as u64)?;
        let mut rejected = rejected.into_iter().peekable();
        let left = (0..).zip(&self.ids).filter(|(place, _)| rejected.next_if_eq(place).is_none()).map(|(_, &id)| id);
        Ok(self.golomb.checksum(left) == checksum)
    }
}
