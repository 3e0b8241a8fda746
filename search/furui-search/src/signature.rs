use std::fmt;

use super::{ContentId, PublisherKey};

/// What a publisher signs about a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    /// The publisher publishes the record.
    Publish,
    /// The publisher withdraws what it had published by then.
    Withdraw,
}

impl Act {
    /// The bytes that the publisher of the record with this id signs at the time `at`; see [`Signature::at`].
    pub fn signed(self, id: ContentId, at: u32) -> Vec<u8> {
        let domain = match self {
            Self::Publish => "furui publish",
            Self::Withdraw => "furui withdraw",
        };
        [domain.as_bytes(), id.as_bytes(), &at.to_le_bytes()].concat()
    }
}

/// An Ed25519 signature (RFC 8032) of a publisher: that it publishes a record, or that it withdraws it.
///
/// Only the publisher that a record names can publish or withdraw it. Of several acts the latest counts, and a
/// withdrawal of the same time as a publication. The signature is not checked here. See docs/protocol.md, "Signatures".
///
/// ```
/// use furui_search::{Act, ContentId, Signature};
///
/// let id = ContentId::of(b"the bytes of a record");
/// let signature = Signature { at: 1_800_000_000, bytes: [7; 64] };
/// assert_eq!(Signature::from_bytes(signature.to_bytes()), signature);
/// assert_eq!(Act::Publish.signed(id, signature.at).len(), 13 + 20 + 4);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Signature {
    /// The time of the act by the clock of the publisher, in seconds since 1970; later than all of its earlier acts on
    /// this record.
    pub at: u32,
    /// The signature of what [`Act::signed`] returns.
    pub bytes: [u8; 64],
}

impl Signature {
    /// The encoded length of a signature with its time, in bytes.
    pub const BYTES: usize = 68;

    /// Encodes the time in four bytes, least significant first, and the signature.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&self.at.to_le_bytes());
        bytes[4..].copy_from_slice(&self.bytes);
        bytes
    }

    /// Decodes what [`to_bytes`](Self::to_bytes) has encoded.
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let (at, signature) = bytes.split_first_chunk().expect("longer than a time");
        let mut bytes = [0; 64];
        bytes.copy_from_slice(signature);
        Self { at: u32::from_le_bytes(*at), bytes }
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "signature at {}", self.at)
    }
}

/// The publication of a record, as a node that keeps the record knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Publication {
    /// The publisher's last signature.
    pub signature: Signature,
    /// The time at which the first of the nodes that handed the record over got it, by that node's clock, in
    /// milliseconds since 1970.
    pub first: u64,
    /// A hash of the network (the address prefix) from which the publisher brought the record; 0 if nobody knows it.
    pub network: u32,
}

/// The withdrawal of a record by its publisher. Only a node that knows the record can tell that it is its publisher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Withdrawal {
    /// The id of the withdrawn record.
    pub id: ContentId,
    /// The key of the publisher, with which the withdrawal is signed.
    pub publisher: PublisherKey,
    /// The publisher's signature of the withdrawal.
    pub signature: Signature,
}
