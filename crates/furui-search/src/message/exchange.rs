//! What the keepers of two words say to each other, and what it took.

use super::super::{Coding, IdRange};

/// How sets are sent between holders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wants {
    /// What takes the fewest bits: Golomb-Rice coded sets, ranks and short checks back.
    Best,
    /// The paper's Naive algorithm: all ids.
    Naive,
    /// The paper's TFA with Bloom filters of one size, whatever the list.
    Fixed {
        /// Bits of every filter, m.
        bits: u32,
        /// Hash functions, k.
        probes: u8,
    },
    /// The paper's TFA with ringed Bloom filters.
    Ringed {
        /// k = log₂ 1/α; `None` for the best by eq. 18 from the two sizes.
        probes: Option<u8>,
        /// δ.
        delta: u32,
    },
}

impl Eq for Wants {}

/// Asks the holder of `word` which of a coded set's ids are in its list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meet {
    /// The word.
    pub word: String,
    /// All ids of the set lie in it, and only these are asked for.
    pub range: IdRange,
    /// The set, coded: see the codec.
    pub set: Vec<u8>,
    /// Whether the answer is to tell how often the word occurs.
    pub weighted: bool,
}

/// The answer to a [`Meet`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Met {
    /// The matches, coded: see the codec.
    pub matches: Vec<u8>,
    /// Whether the list is [whole](super::WordSize::whole): if not, another replica may know of more.
    pub whole: bool,
    /// The name of what the receiver remembers for a [`Settle`], in an exchange of three messages.
    pub session: Option<u64>,
    /// For each match the step of its [`Weight`](super::super::Weight), coded: see the codec. Empty unless it was asked for.
    pub steps: Vec<u8>,
}

/// Tells which matches were false, and a checksum of the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settle {
    /// From [`Met::session`].
    pub session: u64,
    /// The rejected matches, coded: see the codec.
    pub rejected: Vec<u8>,
    /// The salted checksum of the ids that are left.
    pub checksum: u64,
}

/// What one exchange between two holders took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Which of the words after the first (those of `must`, then those of `without`).
    pub term: u32,
    /// How the set was coded, the last time if it was sent again, and whether a third message was sent.
    pub coding: CodingKind,
    /// T₁: the bits of the filter, as the paper counts them.
    pub sent_bits: u64,
    /// T₂: the bits of the answer.
    pub back_bits: u64,
    /// Bytes of the request messages, everything included.
    pub sent_bytes: u64,
    /// Bytes of the answers.
    pub back_bytes: u64,
}

/// Which [`Coding`] a set had, without its parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CodingKind {
    /// [`Coding::Ids`].
    #[default]
    Ids,
    /// [`Coding::Fixed`].
    Fixed,
    /// [`Coding::Ringed`].
    Ringed,
    /// [`Coding::Golomb`], in two messages.
    Golomb,
    /// [`Coding::Golomb`], with a third message.
    GolombInThree,
}

impl From<Coding> for CodingKind {
    /// Whether there is to be a third message, the answer says.
    fn from(coding: Coding) -> Self {
        match coding {
            Coding::Ids => Self::Ids,
            Coding::Fixed { .. } => Self::Fixed,
            Coding::Ringed(_) => Self::Ringed,
            Coding::Golomb(_) => Self::Golomb,
        }
    }
}
