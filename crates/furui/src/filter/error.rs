use std::fmt;

use crate::format::Kind;
use crate::hash::HashSpec;

/// Parameters that cannot be; the message says what could be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(pub String);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

/// Two filters were to be combined or compared that do not go together, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Mismatch {
    /// The filters are of different kinds.
    Kind {
        /// The kind of the first.
        ours: Kind,
        /// The kind of the second.
        theirs: Kind,
    },
    /// Filters of this kind cannot be combined or compared so.
    Unsupported(Kind),
    /// A size or parameter differs.
    Size {
        /// What is counted, in the plural.
        what: &'static str,
        /// The number of the first filter.
        ours: u64,
        /// The number of the second.
        theirs: u64,
    },
    /// The keys are hashed in different ways.
    Hash {
        /// The hash of the first filter.
        ours: HashSpec,
        /// The hash of the second.
        theirs: HashSpec,
    },
    /// The union has more keys than the first filter has room for.
    NoRoom {
        /// How many keys both have.
        keys: u64,
        /// How many slots the first has.
        slots: u64,
    },
    /// The union of two growing filters would have too many parts.
    Parts {
        /// How many parts both have.
        parts: usize,
        /// The most parts that a filter has.
        most: usize,
    },
    /// The rates of two growing filters add up to 1 or more.
    Rates {
        /// The rate of the first.
        ours: f64,
        /// The rate of the second.
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

/// There is not enough memory for so many of something.
pub(super) fn no_memory(count: usize, what: &str) -> ConfigError {
    ConfigError(format!("{count} {what}: more than there is memory for; ask for less than that"))
}

/// How the bits of a filter are to be understood. Two filters go together if this is equal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meaning<const N: usize> {
    /// Sizes and parameters, with what they count.
    pub(super) sizes: [(&'static str, u64); N],
    pub(super) hash: HashSpec,
}

impl<const N: usize> Meaning<N> {
    /// Refuses a filter whose bits are to be understood in another way.
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
