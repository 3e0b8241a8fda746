//! The messages between the keepers of two words, and their cost.

use super::super::{Coding, IdRange};

/// How a query wants sets to be sent between keepers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wants {
    /// The coding that takes the fewest bits: Golomb-Rice coded sets, with ranks and short checks back.
    Best,
    /// The paper's Naive algorithm: all ids.
    Naive,
    /// The paper's TFA with Bloom filters of one size for all lists.
    Fixed {
        /// The number of bits of every filter, m.
        bits: u32,
        /// The number of hash functions, k.
        probes: u8,
    },
    /// The paper's TFA with ringed Bloom filters.
    Ringed {
        /// The number of probes k = log₂ 1/α; `None` for the best one by eq. 18 for the two sizes.
        probes: Option<u8>,
        /// The window δ in groups.
        delta: u32,
    },
}

impl Eq for Wants {}

/// Asks the keeper of `word` which ids of a coded set are in its list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meet {
    /// The word.
    pub word: String,
    /// A range that holds all ids of the set. Only ids in it are requested.
    pub range: IdRange,
    /// The coded set.
    pub set: Vec<u8>,
    /// True if the answer is to say how often the word occurs in each document.
    pub weighted: bool,
}

/// The answer to a [`Meet`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Met {
    /// The coded matches.
    pub matches: Vec<u8>,
    /// True if the list is [whole](super::WordSize::whole). If not, another replica may know more ids.
    pub whole: bool,
    /// In an exchange of three messages, the name of the receiver's session, for a [`Settle`].
    pub session: Option<u64>,
    /// The coded steps of the matches' [`Weight`](super::super::Weight)s. Empty unless they were requested.
    pub steps: Vec<u8>,
}

/// The third message of an exchange: the matches that were false, and a checksum of the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settle {
    /// The name from [`Met::session`].
    pub session: u64,
    /// The coded ranks of the rejected matches.
    pub rejected: Vec<u8>,
    /// The salted checksum of the ids that are left.
    pub checksum: u64,
}

/// The cost of an exchange between two keepers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// The index of the word among the words after the first: first the rest of `must`, then `without`.
    pub term: u32,
    /// The coding of the set, of the last one if it was sent again, and whether there was a third message.
    pub coding: CodingKind,
    /// T₁: the bits of the set, as the paper counts them.
    pub sent_bits: u64,
    /// T₂: the bits of the answer.
    pub back_bits: u64,
    /// The bytes of all requests.
    pub sent_bytes: u64,
    /// The bytes of all answers.
    pub back_bytes: u64,
}

/// A [`Coding`] without its parameters.
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
    /// The answer decides whether there will be a third message.
    fn from(coding: Coding) -> Self {
        match coding {
            Coding::Ids => Self::Ids,
            Coding::Fixed { .. } => Self::Fixed,
            Coding::Ringed(_) => Self::Ringed,
            Coding::Golomb(_) => Self::Golomb,
        }
    }
}
