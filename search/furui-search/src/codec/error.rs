use furui::filter::ConfigError;
use thiserror::Error;

/// The reason that a set or an answer cannot be encoded or decoded.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CodecError {
    /// The bytes are invalid, so the sender violates the protocol, and the next replica should be asked. The text names
    /// the problem.
    #[error("a malformed coded set or answer: {0}; ask another replica")]
    Malformed(&'static str),
    /// A limit of this crate is exceeded. If it is the limit of matches, the coding does not suit the two lists, or
    /// somebody has chosen ids such that many are in one cell. [`Coding::Ids`](super::Coding::Ids) always works.
    #[error("more than {most} {what}: send the set as ids")]
    TooMany {
        /// The name of the items whose number is too large.
        what: &'static str,
        /// The maximum number of these items.
        most: u64,
    },
    /// The ids of a set are out of order, or duplicated.
    #[error("ids out of order: sort them, and pass each once")]
    Order,
    /// A filter of fixed size has invalid parameters.
    #[error("{bits} bits and {probes} probes: a filter of fixed size has at least 1 bit, and from 1 to 64 probes")]
    Fixed {
        /// The number of bits of the filter, which must be at least 1.
        bits: u32,
        /// The number of probes of the filter, which must be from 1 to 64.
        probes: u8,
    },
    /// A Golomb-Rice coded set has invalid parameters.
    #[error(
        "cells of {cell_bits} bits and checks of {check_bits}: a coded set has cells of 1 to 64 bits, and checks of 0 to 64"
    )]
    Golomb {
        /// The parameter [`cell_bits`](super::Golomb::cell_bits), which must be from 1 to 64.
        cell_bits: u8,
        /// The parameter [`check_bits`](super::Golomb::check_bits), which must be at most 64.
        check_bits: u8,
    },
    /// The parameters of a filter are invalid.
    #[error(transparent)]
    Filter(#[from] ConfigError),
    /// The number of precomputed keys differs from the number of ids.
    #[error("{keys} keys for {ids} ids: make one key for each id")]
    Keys {
        /// The number of precomputed keys.
        keys: usize,
        /// The number of ids for which there should be a key each.
        ids: usize,
    },
}
