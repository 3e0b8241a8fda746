//! The messages by which the nodes that keep the lists of two words compare these lists, and the cost of these
//! messages.

use super::super::Coding;

/// Asks the node that keeps the list of `word` for the ids of a coded set that are in that list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meet {
    /// The word whose list is compared with the set.
    pub word: String,
    /// The coded set of ids (docs/protocol.md, "Coded sets").
    pub set: Vec<u8>,
    /// True if the answer must say how well each document answers the word.
    pub weighted: bool,
}

/// The answer to a [`Meet`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Met {
    /// The coded matches: those ids of the set that are in the list.
    pub matches: Vec<u8>,
    /// True if the list is [complete](super::WordSize::whole). If not, another node that keeps the list may have more
    /// ids.
    pub whole: bool,
    /// In an exchange of three messages, the number of the session that the answering node keeps. [`Settle`] repeats
    /// it.
    pub session: Option<u64>,
    /// The coded [`Grade`](super::super::Grade)s of the matches. Empty unless they were requested.
    pub grades: Vec<u8>,
}

/// The third message of an exchange: the rejected matches, and a checksum of the remaining ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settle {
    /// The session number from [`Met::session`].
    pub session: u64,
    /// The coded ranks of the rejected matches.
    pub rejected: Vec<u8>,
    /// The salted checksum of the matching ids except the rejected ones.
    pub checksum: u64,
}

/// The cost of an exchange between the nodes that keep two words' lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// The index of the exchange's word among the [search](super::Search)'s words: all of `must` but the first, then
    /// all of `without`.
    pub term: u32,
    /// The coding of the set that was sent last.
    pub coding: Coding,
    /// True if the exchange has ended with a third message.
    pub in_three: bool,
    /// T₁: the bits of all sets and third messages, as the paper of Sei et al. counts them.
    pub sent_bits: u64,
    /// T₂: the bits of all answers, including the coded grades.
    pub back_bits: u64,
    /// The total size of all requests of the exchange, in bytes.
    pub sent_bytes: u64,
    /// The total size of all answers of the exchange, in bytes.
    pub back_bytes: u64,
}
