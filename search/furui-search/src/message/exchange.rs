//! The messages between the keepers of two words, and their cost.

use super::super::Coding;

/// Asks the keeper of `word` which ids of a coded set are in its list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meet {
    /// The word.
    pub word: String,
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
    /// In an exchange of three messages, the name of the session that the answering node keeps. [`Settle`] repeats it.
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
    /// The salted checksum of the matching ids without the rejected ones.
    pub checksum: u64,
}

/// The cost of an exchange between two keepers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// The index of the word in a list of the [search](super::Search)'s words: all of `must` but the first, then all of
    /// `without`.
    pub term: u32,
    /// The coding of the set that was sent last.
    pub coding: Coding,
    /// True if the exchange ended with a third message.
    pub in_three: bool,
    /// T₁: the bits of all sets and third messages, as the paper counts them.
    pub sent_bits: u64,
    /// T₂: the bits of all answers, including the coded steps of weights.
    pub back_bits: u64,
    /// The bytes of all requests.
    pub sent_bytes: u64,
    /// The bytes of all answers.
    pub back_bytes: u64,
}
