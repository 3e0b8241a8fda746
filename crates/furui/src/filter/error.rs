use std::fmt;

use super::Full;
use crate::format::Kind;
use crate::hash::HashSpec;

/// A parameter is invalid, or there is not enough memory.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConfigError {
    /// A number is outside its range.
    OutOfRange {
        /// What the number counts, in the plural.
        what: &'static str,
        /// The number that was given.
        given: u64,
        /// The minimum.
        least: u64,
        /// The maximum.
        most: u64,
    },
    /// A false-positive rate is not between 0 and 1, or is finer than a filter of this kind can have for its number of
    /// keys.
    Rate {
        /// The rate that was given.
        given: f64,
        /// A valid rate is more than this.
        finest: f64,
    },
    /// A filter for this many keys at this rate would exceed the maximum size of its kind.
    TooLarge {
        /// The number of keys.
        keys: u64,
        /// The false-positive rate.
        rate: f64,
        /// The maximum size.
        most: u64,
        /// What the size counts, in the plural.
        what: &'static str,
    },
    /// With fingerprints of this length, the keys would have a higher false-positive rate than is allowed.
    RateExceeded {
        /// The number of keys.
        keys: u64,
        /// The false-positive rate that is expected of the keys.
        expected: f64,
        /// The maximum rate.
        allowed: f64,
    },
    /// Counters cannot have this many bits.
    CounterBits {
        /// The number of bits that was given.
        given: u32,
        /// The numbers that are valid.
        valid: &'static [u32],
    },
    /// With this many probes a key has bits in two lines, so the number of lines must be even.
    OddLines {
        /// The number of lines that was given.
        lines: u64,
        /// The number of probes.
        probes: u32,
    },
    /// A table has a bit set after its last one.
    BitBeyond {
        /// How many bits the table has.
        bits: u64,
    },
    /// Keys cannot be removed from filters of this kind.
    NotRemovable(Kind),
    /// There is no filter to merge.
    NothingToMerge,
    /// The filters to merge are incompatible.
    Mismatch(Mismatch),
    /// The keys of the filters to merge do not fit into one filter.
    Full(Full),
    /// Parts of fixed sizes take more memory than they may.
    BeyondMemory {
        /// What takes the memory, in the plural.
        what: &'static str,
        /// How many bytes they take.
        bytes: u64,
        /// How many bytes they may take.
        most: u64,
    },
    /// There is not enough memory.
    NoMemory {
        /// The number of items that there is no memory for.
        count: usize,
        /// What the items are.
        what: &'static str,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BitBeyond { bits } => write!(f, "a table of {bits} bits has a bit set after the last: it must be 0"),
            Self::OutOfRange { what, given, least, most } => {
                write!(f, "{given} {what}: from {least} to {most} are valid")
            }
            Self::Rate { given, finest: 0.0 } => {
                write!(f, "a false-positive rate of {given}: it is more than 0 and less than 1")
            }
            Self::Rate { given, finest } => write!(
                f,
                "a false-positive rate of {given:e}: what this kind of filter takes of a hash allows more than {finest:.1e}, and less \
                 than 1; ask for a larger rate, fewer keys, or another kind of filter"
            ),
            Self::TooLarge { keys, rate, most, what } => {
                write!(
                    f,
                    "{keys} keys at a rate of {rate}: more than {most} {what}; ask for fewer keys or a larger rate"
                )
            }
            Self::RateExceeded { keys, expected, allowed } => write!(
                f,
                "{keys} keys of these fingerprints give a false-positive rate of {expected:e}, over {allowed:e}: only a filter \
                 built again from the keys can have longer fingerprints"
            ),
            Self::CounterBits { given, valid } => write!(f, "counters of {given} bits: one of {valid:?} is valid"),
            Self::OddLines { lines, probes } => {
                write!(f, "{lines} lines with {probes} probes a key in two of them: have an even number of lines")
            }
            Self::NotRemovable(kind) => write!(
                f,
                "nothing can be removed from {kind}: its bits may belong to other keys as well; counting and quotient \
                 filters can remove"
            ),
            Self::NothingToMerge => f.write_str("there is no filter to merge: name at least one"),
            Self::Mismatch(mismatch) => mismatch.fmt(f),
            Self::Full(full) => write!(f, "the filters together do not fit: {full}"),
            Self::BeyondMemory { what, bytes, most } => write!(
                f,
                "{what} take {bytes} bytes, and at most {most} of the memory may be theirs: allow more memory, or choose smaller sizes"
            ),
            Self::NoMemory { count, what } => {
                write!(f, "{count} {what}: more than there is memory for; ask for less than that")
            }
        }
    }
}

impl std::error::Error for ConfigError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Mismatch(mismatch) => Some(mismatch),
            Self::Full(full) => Some(full),
            _ => None,
        }
    }
}

/// Why two filters cannot be combined or compared.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Mismatch {
    /// The filters are of different kinds.
    Kind {
        /// The kind of the first filter.
        ours: Kind,
        /// The kind of the second filter.
        theirs: Kind,
    },
    /// Filters of this kind do not have this operation.
    Unsupported(Kind),
    /// A size or parameter differs.
    Size {
        /// What is counted, in the plural.
        what: &'static str,
        /// The number of the first filter.
        ours: u64,
        /// The number of the second filter.
        theirs: u64,
    },
    /// The keys are hashed in different ways.
    Hash {
        /// The hash of the first filter.
        ours: HashSpec,
        /// The hash of the second filter.
        theirs: HashSpec,
    },
    /// The union has more keys than the first filter has room for.
    NoRoom {
        /// How many keys both filters have together.
        keys: u64,
        /// How many slots the first filter has.
        slots: u64,
    },
    /// The union of two growing filters would have too many parts.
    Parts {
        /// How many parts both filters have together.
        parts: usize,
        /// The maximum number of parts of a filter.
        most: usize,
    },
    /// The rates of two growing filters add up to 1 or more.
    Rates {
        /// The rate of the first filter.
        ours: f64,
        /// The rate of the second filter.
        theirs: f64,
    },
    /// There is no memory for the result.
    NoMemory,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind { ours, theirs } => write!(f, "{ours} and {theirs} cannot be combined: build both of one kind"),
            Self::Unsupported(kind) => {
                write!(f, "{kind} and another cannot be combined so: Bloom, blocked and quotient filters can")
            }
            Self::Size { what, ours, theirs } => {
                write!(f, "one filter has {ours} {what} and the other {theirs}: build both with as many")
            }
            Self::Hash { ours, theirs } => {
                write!(
                    f,
                    "keys are hashed by {ours} in one filter and by {theirs} in the other: build both with one hash"
                )
            }
            Self::NoRoom { keys, slots } => write!(
                f,
                "filters of {keys} keys together do not fit into the {slots} slots of the first: build it with more room"
            ),
            Self::Parts { parts, most } => write!(
                f,
                "growing filters of {parts} parts together: they have no more than {most}; insert the keys of one into the \
                 other, or build Bloom filters of one size, which unite without end"
            ),
            Self::Rates { ours, theirs } => write!(
                f,
                "growing filters with rates {ours} and {theirs}: the rates of a union add up, to less than 1; build both with \
                 smaller ones"
            ),
            Self::NoMemory => f.write_str("there is no memory for both filters and the result"),
        }
    }
}

impl std::error::Error for Mismatch {}

/// The error that there is not enough memory for `count` items, which are `what`.
pub(super) fn no_memory(count: usize, what: &'static str) -> ConfigError {
    ConfigError::NoMemory { count, what }
}

/// What the bits of a filter mean: two filters can be combined if their values of this type are equal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meaning<const N: usize> {
    /// Sizes and parameters, with what they count.
    pub(super) sizes: [(&'static str, u64); N],
    pub(super) hash: HashSpec,
}

impl<const N: usize> Meaning<N> {
    /// Checks that `other` is equal; the error names what differs.
    pub(super) fn check(self, other: Self) -> Result<(), Mismatch> {
        for ((what, ours), (_, theirs)) in self.sizes.into_iter().zip(other.sizes) {
            if ours != theirs {
                return Err(Mismatch::Size { what, ours, theirs });
            }
        }
        if self.hash != other.hash {
            return Err(Mismatch::Hash { ours: self.hash, theirs: other.hash });
        }
        Ok(())
    }
}
