use std::fmt;

use super::Full;
use crate::format::Kind;
use crate::hash::{HashSpec, Hashes, KeyHash};

/// A parameter is invalid, or there is not enough memory.
///
/// ```
/// use furui::filter::{Bloom, ConfigError};
///
/// assert!(matches!(Bloom::with_rate(1000, 1.5), Err(ConfigError::Rate { given: 1.5, .. })));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConfigError {
    /// A number is outside its range.
    OutOfRange {
        /// The name of the things whose number is out of range, in the plural.
        what: &'static str,
        /// The number that was given.
        given: u64,
        /// The smallest number that is valid.
        least: u64,
        /// The largest number that is valid.
        most: u64,
    },
    /// A false-positive rate is not between 0 and 1, or is finer than a filter of this kind can have for its number of
    /// keys.
    Rate {
        /// The rate that was given.
        given: f64,
        /// The exclusive lower bound of the rates that are valid.
        finest: f64,
    },
    /// A set with a window cannot have a stable filter as its cache, because such a filter does not forget by time.
    WindowOfStable,
    /// A filter for this many keys at this rate would exceed the maximum size of its kind.
    TooLarge {
        /// The number of keys that the filter was to hold.
        keys: u64,
        /// The false-positive rate that the filter was to have with these keys.
        rate: f64,
        /// The maximum size of a filter of this kind, in the unit `what`.
        most: u64,
        /// The unit of the size, in the plural.
        what: &'static str,
    },
    /// With fingerprints of this length, the keys would have a higher false-positive rate than is allowed.
    RateExceeded {
        /// The number of keys that the filter was to hold.
        keys: u64,
        /// The false-positive rate that is expected with these keys.
        expected: f64,
        /// The maximum false-positive rate that was allowed.
        allowed: f64,
    },
    /// Counters cannot have this many bits.
    CounterBits {
        /// The number of bits a counter that was given.
        given: u32,
        /// The numbers of bits that a counter may have.
        valid: &'static [u32],
    },
    /// With this many probes a key has bits in two lines, so the number of lines must be even.
    OddLines {
        /// The number of cache lines that was given.
        lines: u64,
        /// The number of probes a key that was given.
        probes: u32,
    },
    /// A bit is set after the last bit of a table.
    BitBeyond {
        /// The number of bits of the table.
        bits: u64,
    },
    /// Keys cannot be removed from filters of this kind.
    NotRemovable(Kind),
    /// Keys cannot be removed from a quotient filter that keeps one copy of keys with equal fingerprints.
    OneCopy,
    /// No table of a fuse filter fits the keys, because too many of their hashes are near each other. That does not
    /// happen with a uniform hash.
    Unbuildable {
        /// The number of keys of the part that could not be built.
        keys: u64,
    },
    /// There is no filter to merge.
    NothingToMerge,
    /// The filters to merge are incompatible.
    Mismatch(Mismatch),
    /// The keys of the filters to merge do not fit into one filter.
    Full(Full),
    /// Parts of fixed sizes take more memory than is allowed.
    BeyondMemory {
        /// The name of the parts that take the memory, in the plural.
        what: &'static str,
        /// The number of bytes that the parts take.
        bytes: u64,
        /// The maximum number of bytes that the parts may take.
        most: u64,
    },
    /// There is not enough memory.
    NoMemory {
        /// The number of items for which there is no memory.
        count: usize,
        /// The name of the items for which there is no memory, in the plural.
        what: &'static str,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BitBeyond { bits } => write!(f, "a table of {bits} bits has a bit set after the last: it must be 0"),
            Self::WindowOfStable => f.write_str(
                "a stable filter cannot be the cache of a set with a window, because it does not forget by time: \
                 choose another cache",
            ),
            Self::OutOfRange { what, given, least, most } => {
                write!(f, "{given} {what}: from {least} to {most} are valid")
            }
            Self::Rate { given, finest: 0.0 } => {
                write!(f, "a false-positive rate of {given}: it must be more than 0 and less than 1")
            }
            Self::Rate { given, finest } => write!(
                f,
                "a false-positive rate of {given:e}: for this kind of filter and number of keys it must be more than \
                 {finest:.1e} and less than 1; ask for a larger rate, fewer keys, or another kind of filter"
            ),
            Self::TooLarge { keys, rate, most, what } => {
                write!(
                    f,
                    "{keys} keys at a rate of {rate} need more than {most} {what}: ask for fewer keys or a larger rate"
                )
            }
            Self::RateExceeded { keys, expected, allowed } => write!(
                f,
                "{keys} keys with such short fingerprints give a false-positive rate of {expected:e}, over \
                 {allowed:e}: only a filter built again from the keys can have longer fingerprints"
            ),
            Self::CounterBits { given, valid } => write!(f, "counters cannot have {given} bits: use one of {valid:?}"),
            Self::OddLines { lines, probes } => {
                write!(
                    f,
                    "{lines} lines: a key with {probes} probes has bits in two lines, so their number must be even"
                )
            }
            Self::NotRemovable(kind) => write!(
                f,
                "nothing can be removed from {kind}: its bits may belong to other keys as well; counting and quotient \
                 filters can remove"
            ),
            Self::OneCopy => f.write_str(
                "nothing can be removed from a quotient filter that keeps one copy of keys with equal fingerprints, \
                 because the other keys of that copy would be removed too: build one that keeps a copy of each key",
            ),
            Self::Unbuildable { keys } => write!(
                f,
                "no fuse filter of {keys} keys was found, because too many hashes are near each other: if others choose \
                 the keys, hash them with a secret seed"
            ),
            Self::NothingToMerge => f.write_str("there is no filter to merge: name at least one"),
            Self::Mismatch(mismatch) => mismatch.fmt(f),
            Self::Full(full) => write!(f, "the filters together do not fit: {full}"),
            Self::BeyondMemory { what, bytes, most } => write!(
                f,
                "{what} take {bytes} bytes of memory, and may take at most {most}: allow more memory, or choose \
                 smaller sizes"
            ),
            Self::NoMemory { count, what } => {
                write!(f, "there is not enough memory for {count} {what}: ask for fewer")
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

/// The reason why two filters cannot be combined or compared, or why a filter does not accept a batch of hashes.
///
/// ```
/// use furui::filter::{Bloom, Mismatch};
///
/// let (mut small, large) = (Bloom::from_parts(1 << 10, 7)?, Bloom::from_parts(1 << 20, 7)?);
/// match small.union_with(&large) {
///     Err(Mismatch::Size { ours, theirs, .. }) => assert_eq!((ours, theirs), (1 << 10, 1 << 20)),
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), furui::Error>(())
/// ```
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
        /// The name of the things whose numbers differ, in the plural.
        what: &'static str,
        /// The number of these things, which `what` names, in the first filter.
        ours: u64,
        /// The number of these things, which `what` names, in the second filter.
        theirs: u64,
    },
    /// The keys are hashed in different ways.
    Hash {
        /// The spec by which the first filter, or the structure that was called, hashes keys.
        ours: HashSpec,
        /// The spec by which the keys of the second filter, or of the batch, were hashed.
        theirs: HashSpec,
    },
    /// The union has more keys than the first filter has room for.
    NoRoom {
        /// The number of keys of both filters together.
        keys: u64,
        /// The number of slots of the first filter.
        slots: u64,
    },
    /// The union of two growing filters would have too many parts.
    Parts {
        /// The number of parts of both filters together.
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
                write!(f, "{kind} does not support this operation: Bloom, blocked and quotient filters do")
            }
            Self::Size { what, ours, theirs } => {
                write!(f, "one filter has {ours} {what} and the other {theirs}: build both with the same number")
            }
            Self::Hash { ours, theirs } => {
                write!(f, "keys are hashed by {ours} on one side and by {theirs} on the other: hash both in one way")
            }
            Self::NoRoom { keys, slots } => write!(
                f,
                "the filters have {keys} keys together, and the first has {slots} slots: build it with more room"
            ),
            Self::Parts { parts, most } => write!(
                f,
                "the growing filters have {parts} parts together, and a filter has at most {most}: insert the keys of \
                 one into the other, or build Bloom filters of equal size, of which any number can be united"
            ),
            Self::Rates { ours, theirs } => write!(
                f,
                "the growing filters have rates {ours} and {theirs}: the rates of a union add up, and the sum must be \
                 less than 1; build both with smaller rates"
            ),
            Self::NoMemory => f.write_str("there is no memory for both filters and the result"),
        }
    }
}

impl std::error::Error for Mismatch {}

impl Mismatch {
    /// Returns the hashes of a batch if they were made by `spec`; otherwise an error.
    pub(crate) fn check(spec: HashSpec, hashes: &Hashes) -> Result<&[KeyHash], Self> {
        if hashes.spec() == spec {
            Ok(hashes.as_slice())
        } else {
            Err(Self::Hash { ours: spec, theirs: hashes.spec() })
        }
    }
}

/// The reason why a batch of hashes was not inserted into a filter that may be full.
///
/// ```
/// use furui::HashSpec;
/// use furui::filter::{InsertError, QuotientFilter};
///
/// let mut seen = QuotientFilter::new(1, 8)?;
/// let two = seen.hash_spec().hasher().hash_all(["a", "b"]);
/// assert!(matches!(seen.insert_hashes(&two), Err(InsertError::Full(_))));
/// let foreign = HashSpec::random().hasher().hash_all(["a"]);
/// assert!(matches!(seen.insert_hashes(&foreign), Err(InsertError::Mismatch(_))));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InsertError {
    /// The filter has no room for all keys. Some of them may have been inserted.
    Full(Full),
    /// The hashes were made by another spec than the filter's. Nothing was inserted.
    Mismatch(Mismatch),
}

impl fmt::Display for InsertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(full) => full.fmt(f),
            Self::Mismatch(mismatch) => mismatch.fmt(f),
        }
    }
}

impl std::error::Error for InsertError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Full(full) => Some(full),
            Self::Mismatch(mismatch) => Some(mismatch),
        }
    }
}

impl From<Full> for InsertError {
    fn from(full: Full) -> Self {
        Self::Full(full)
    }
}

impl From<Mismatch> for InsertError {
    fn from(mismatch: Mismatch) -> Self {
        Self::Mismatch(mismatch)
    }
}

/// The error that there is not enough memory for `count` items; `what` is their name in the plural.
pub(super) fn no_memory(count: usize, what: &'static str) -> ConfigError {
    ConfigError::NoMemory { count, what }
}

/// The properties of a filter that give its bits their meaning. Two filters can be combined if these are equal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meaning<const N: usize> {
    /// The sizes and parameters of the filter, each with its name.
    pub(super) sizes: [(&'static str, u64); N],
    pub(super) hash: HashSpec,
}

impl<const N: usize> Meaning<N> {
    /// Returns an error that names the difference if `other` is not equal.
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
