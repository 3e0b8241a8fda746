//! Encodes sets of ids as bytes, and finds the ids of another list that may be in a coded set.
//!
//! ```text
//!   holder of C₁                                                 holder of C₂
//!     CodedSet::encode(C₁)  ── bytes, T₁ bits ──▶  CodedSet::decode ─▶ Matcher: feed C₂, slice by slice
//!     settle(C₁)            ◀── bytes, T₂ bits ──  finish ─▶ Matches
//!       │
//!       └─ C₁ ∩ C₂ (in three messages also a Claim ──▶ Session::confirm)
//! ```
//!
//! All functions are pure. Every decoder is total: for any bytes from a peer, it returns the only value that they can
//! mean, or an error. The bytes are described in docs/protocol.md, "Coded sets"; [`plan`](super::plan) chooses the
//! coding.

mod answer;
mod bit_reader;
mod bit_writer;
mod coded_set;
mod coding;
mod error;
mod grades;
mod matcher;
pub(super) mod rice;
mod session;
mod settle;
mod short_checks;

pub use coded_set::CodedSet;
pub use coding::{Coding, Golomb};
pub use error::CodecError;
pub use matcher::{Matcher, Matches};
pub use session::{Claim, Session};
pub use settle::{Settlement, settle};
pub use short_checks::{ShortChecks, THIRD_MESSAGE_BITS};

pub(super) use grades::{decode_grades, encode_grades};

/// The maximum number of ids in a coded set.
pub const MAX_SET: usize = 1 << 18;
/// The maximum size of a filter, or of the encoded gaps of a coded set, in bytes.
pub const MAX_FILTER_BYTES: usize = 1 << 22;
/// The maximum number of matching ids in the answer to a coded set.
pub const MAX_MATCHES: usize = crate::limits::SESSION_IDS_A_PEER;
/// The maximum number of ids of the other list that match one cell of a Golomb-Rice coded set. With the parameters of
/// [`plan`](super::plan), at most a quarter of this number is expected. If more ids match, somebody has chosen ids such
/// that many are in one cell.
pub const MAX_PER_CELL: usize = 64;

/// Coded bytes, with their size in bits, counted as the paper of Sei et al. counts traffic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coded {
    /// The bytes to send.
    pub bytes: Vec<u8>,
    /// The number of bits of filter, ids, ranks and checks: T₁ or T₂ of the paper of Sei et al. The tag, the parameters
    /// and the numbers of elements are not included.
    pub bits: u64,
}
