use super::{CodecError, Coded, Golomb, answer};
use crate::ContentId;

/// The third message of an exchange: the ranks of the rejected matches, and a checksum of the remaining ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The encoded ranks of the matches in the answer that the sender has rejected.
    pub rejected: Coded,
    /// The sum of the keyed hashes of the matching ids that were not rejected.
    pub checksum: u64,
}

impl Claim {
    /// The number of bits of the checksum in a claim.
    pub const CHECKSUM_BITS: u64 = 64;

    /// The traffic of the message in bits, counted as the paper of Sei et al. does.
    pub fn bits(&self) -> u64 {
        self.rejected.bits + Self::CHECKSUM_BITS
    }
}

/// The state that the answering side keeps until the third message: those of its ids that matched.
///
/// If there are few check bits, some false matches are accepted as true. Each side then has a subset of its own ids
/// that contains all ids in both lists. Thus if the two subsets are equal, they are the intersection. The checksum
/// compares them, and errs with probability 2⁻⁶⁴. If they differ, the exchange is repeated with long checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    golomb: Golomb,
    ids: Vec<ContentId>,
}

impl Session {
    pub(super) fn new(golomb: Golomb, ids: Vec<ContentId>) -> Self {
        Self { golomb, ids }
    }

    /// The number of ids that matched the set. The session keeps 20 bytes for each.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// True if no id matched the set.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// True if the checksum shows that both sides have the same set. `rejected` and `checksum` are from the other
    /// side's [`Claim`].
    ///
    /// # Errors
    /// If the bytes do not name matches of this session.
    pub fn confirm(&self, rejected: &[u8], checksum: u64) -> Result<bool, CodecError> {
        let (rejected, _) = answer::decode_ranks(rejected, self.ids.len() as u64)?;
        let mut rejected = rejected.into_iter().peekable();
        let left = (0..).zip(&self.ids).filter(|(place, _)| rejected.next_if_eq(place).is_none()).map(|(_, &id)| id);
        Ok(self.golomb.checksum(left) == checksum)
    }
}
