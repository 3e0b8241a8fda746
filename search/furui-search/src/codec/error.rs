use std::fmt;

use furui::filter::ConfigError;

/// Why a set or an answer cannot be coded or read.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CodecError {
    /// No node that keeps to the protocol sends these bytes: ask the next replica. The text names the problem.
    Malformed(&'static str),
    /// A limit of this crate is exceeded. If matches exceed the limit, the coding does not suit the two lists, or
    /// somebody chose ids such that many are in one cell. [`Coding::Ids`](super::Coding::Ids) always works.
    TooMany {
        /// The name of the items of which there are too many.
        what: &'static str,
        /// The maximum number of these items.
        most: u64,
    },
    /// A range of ids ends before it begins.
    Range,
    /// Ids of a set are out of order, occur twice, or lie outside of the range.
    Order,
    /// A filter of fixed size has invalid parameters.
    Fixed {
        /// The number of bits: at least 1.
        bits: u32,
        /// The number of probes: 1 to 64.
        probes: u8,
    },
    /// A Golomb-Rice coded set has invalid parameters.
    Golomb {
        /// The bits of a cell: 1 to 64.
        cell_bits: u8,
        /// The bits of a check: 0 to 64.
        check_bits: u8,
    },
    /// No filter has these parameters.
    Filter(ConfigError),
    /// The number of precomputed keys differs from the number of ids.
    Keys {
        /// The number of keys.
        keys: usize,
        /// The number of ids.
        ids: usize,
    },
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(what) => write!(f, "a malformed coded set or answer: {what}; ask another replica"),
            Self::TooMany { what, most } => {
                write!(f, "more than {most} {what}: choose a smaller range of ids, or send the set as ids")
            }
            Self::Range => f.write_str("a range of ids that ends before it begins: exchange its ends"),
            Self::Order => f.write_str("ids out of order or out of range: sort them, and pass only those in the range"),
            Self::Fixed { bits, probes } => write!(
                f,
                "{bits} bits and {probes} probes: a filter of fixed size has at least 1 bit, and from 1 to 64 probes"
            ),
            Self::Golomb { cell_bits, check_bits } => write!(
                f,
                "cells of {cell_bits} bits and checks of {check_bits}: a coded set has cells of 1 to 64 bits, and checks of 0 \
                 to 64"
            ),
            Self::Filter(error) => error.fmt(f),
            Self::Keys { keys, ids } => write!(f, "{keys} keys for {ids} ids: make one key for each id"),
        }
    }
}

impl std::error::Error for CodecError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Filter(error) => Some(error),
            _ => None,
        }
    }
}

impl From<ConfigError> for CodecError {
    fn from(error: ConfigError) -> Self {
        Self::Filter(error)
    }
}
