//! The crate's error. It says what happened, where, and what to do.

mod store;
mod trie;

use std::fmt;
use std::io;

use crate::filter::{ConfigError, Full, InsertError, Mismatch};
use crate::format::{FormatError, Printable, ReadError, WriteError};

pub use store::{StoreError, StoreProblem};
pub use trie::{MAX_KEY, TrieError};

/// The result of every operation of this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of this crate.
///
/// The message of an error says what happened, where, and what to do. The variants and their fields are for programs:
///
/// ```
/// use furui::Error;
/// use furui::error::{StoreError, StoreProblem};
/// use furui::seen::Seen;
///
/// fn open(path: &str) -> Result<Option<Seen>, Error> {
///     match Seen::open(path) {
///         Err(Error::Store(StoreError { problem: StoreProblem::Locked, .. })) => Ok(None),
///         opened => opened.map(Some),
///     }
/// }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused an operation on a file.
    Io {
        /// The operation that failed, as in "cannot write".
        action: &'static str,
        /// The path of the file or directory.
        file: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The bytes of a file are damaged, foreign, or of a later version.
    Format(FormatError),
    /// A store could not be opened or changed.
    Store(StoreError),
    /// A filter of fixed size has no room for another key.
    Full(Full),
    /// Two incompatible filters were to be combined or compared, or a structure was given hashes that were not made by
    /// its own [`HashSpec`](crate::HashSpec).
    Mismatch(Mismatch),
    /// An argument or an option is invalid.
    Config(ConfigError),
    /// A trie could not be built.
    Trie(TrieError),
    /// The system has no memory left.
    NoMemory {
        /// The purpose for which the memory was requested.
        what: &'static str,
        /// The number of bytes that were requested.
        bytes: usize,
    },
    /// A dictionary, or a node, has already assigned all 32-bit numbers.
    NoNumberLeft {
        /// The kind of thing that is numbered, in the plural, such as `documents`.
        to: &'static str,
    },
}

impl Error {
    /// Wraps an error of the operating system, with the operation and the file.
    pub fn io(action: &'static str, file: impl Into<String>, source: io::Error) -> Self {
        Self::Io { action, file: file.into(), source }
    }

    /// Wraps a problem with the store at `path`.
    pub fn store(path: impl Into<String>, problem: StoreProblem) -> Self {
        Self::Store(StoreError { path: path.into(), problem })
    }

    /// True if the operating system says that there is no such file.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { action, file, source } => Printable(format_args!("{action} {file}: {source}")).fmt(f),
            Self::NoMemory { what, bytes } => {
                write!(f, "no memory for {bytes} bytes of {what}: ask for less, or give the process more memory")
            }
            Self::NoNumberLeft { to } => {
                write!(f, "all numbers below 2^32 - 1 are already assigned to {to}: begin in a new directory")
            }
            Self::Format(error) => error.fmt(f),
            Self::Store(error) => error.fmt(f),
            Self::Full(error) => error.fmt(f),
            Self::Mismatch(error) => error.fmt(f),
            Self::Config(error) => error.fmt(f),
            Self::Trie(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Format(error) => Some(error),
            Self::Store(error) => Some(error),
            Self::Full(error) => Some(error),
            Self::Mismatch(error) => Some(error),
            Self::Config(error) => Some(error),
            Self::Trie(error) => Some(error),
            Self::NoMemory { .. } | Self::NoNumberLeft { .. } => None,
        }
    }
}

/// Defines how the error of a lower floor becomes an [`Error`], which wraps it.
macro_rules! wraps {
    ($($inner:ident in $variant:ident),*) => {
        $(impl From<$inner> for Error {
            fn from(error: $inner) -> Self {
                Self::$variant(error)
            }
        })*
    };
}

wraps!(FormatError in Format, StoreError in Store, Full in Full);
wraps!(Mismatch in Mismatch, ConfigError in Config, TrieError in Trie);

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Io { file, source } => Self::Io { action: "cannot read", file, source },
            ReadError::Format(error) => Self::Format(error),
        }
    }
}

impl From<WriteError> for Error {
    fn from(WriteError { action, file, source }: WriteError) -> Self {
        Self::Io { action, file, source }
    }
}

impl From<InsertError> for Error {
    fn from(error: InsertError) -> Self {
        match error {
            InsertError::Full(full) => Self::Full(full),
            InsertError::Mismatch(mismatch) => Self::Mismatch(mismatch),
        }
    }
}
