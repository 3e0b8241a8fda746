//! Sets of ids as bytes, and which of another list's ids are in them.
//!
//! ```text
//!   holder of C₁                                                 holder of C₂
//!     CodedSet::encode(C₁)  ── bytes, T₁ bits ──▶  CodedSet::decode ─▶ Matcher: feed C₂, slice by slice
//!     settle(C₁)            ◀── bytes, T₂ bits ──  finish ─▶ Matches
//!       │
//!       └─ C₁ ∩ C₂ (in three messages also a Claim ──▶ Session::confirm)
//! ```
//!
//! Pure functions on bytes. Every decoder is total: bytes from a peer end in the one value they can mean, or in an error.
//! The bytes: docs/format.md, "Coded sets". What to choose: [`plan`](super::plan).

mod answer;
mod bit_reader;
mod bit_writer;
mod coded_set;
mod coding;
mod error;
mod field;
mod matcher;
mod predict;
pub(super) mod rice;
mod session;
mod settle;
mod short_checks;
mod steps;

pub use coded_set::CodedSet;
pub use coding::{Coding, Golomb};
pub use error::CodecError;
pub use matcher::{Matcher, Matches};
pub use predict::{Prediction, Size, predict};
pub use session::{Claim, Session};
pub use settle::{Settlement, settle};
pub use short_checks::THIRD_MESSAGE_BITS;

pub(super) use short_checks::ShortChecks;
pub(super) use steps::{decode_steps, encode_steps};

use super::IdRange;

/// The most ids in one coded set.
pub const MAX_SET: usize = 1 << 18;
/// The most bytes of a filter, or of a coded set's gaps.
pub const MAX_FILTER_BYTES: usize = 1 << 22;
/// The most matches in one answer.
pub const MAX_MATCHES: usize = 1 << 18;
/// The most ids of the other list that match one cell of a Golomb-Rice coded set. With the parameters of
/// [`plan`](super::plan) at most a quarter is expected: more are ids that were chosen to crowd.
pub const MAX_PER_CELL: usize = 64;

/// Something coded, and its traffic as the paper counts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coded {
    /// What is sent.
    pub bytes: Vec<u8>,
    /// The bits of filter, ids, ranks and checks in it: T₁ or T₂ of the paper. Not tag, parameters and numbers of elements.
    pub bits: u64,
}
