//! The crate's error: what happened, where, and what to do about it.

use std::fmt;
use std::io;

use crate::filter::{ConfigError, Full, Mismatch};
use crate::format::{FormatError, ReadError, WriteError};

/// The result of everything that can fail here.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong in this crate.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused: what was being done to which file, and its answer.
    Io {
        /// What was being done, as in "cannot write".
        action: &'static str,
        /// The file or directory.
        file: String,
        /// The operating system's answer.
        source: io::Error,
    },
    /// A file's bytes are damaged, foreign or of a later version.
    Format(FormatError),
    /// A structure of fixed size has no room.
    Full(Full),
    /// Two filters that do not go together were combined or compared.
    Mismatch(Mismatch),
    /// Parameters that cannot be; the message says what could be.
    Config(String),
    /// Another process has the store open for writing.
    Locked(String),
}

impl Error {
    /// Wraps an operating system error with what was being done to which file.
    pub fn io(action: &'static str, file: impl Into<String>, source: io::Error) -> Self {
        Self::Io { action, file: file.into(), source }
    }

    /// Whether the operating system says that there is no such file.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { action, file, source } => write!(f, "{action} {file}: {source}"),
            Self::Format(error) => error.fmt(f),
            Self::Full(error) => error.fmt(f),
            Self::Mismatch(error) => error.fmt(f),
            Self::Config(what) => f.write_str(what),
            Self::Locked(store) => {
                write!(f, "{store}: in use by another process; wait for it to end, or use another directory")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Format(error) => Some(error),
            Self::Full(error) => Some(error),
            _ => None,
        }
    }
}

impl From<FormatError> for Error {
    fn from(error: FormatError) -> Self {
        Self::Format(error)
    }
}

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

impl From<Mismatch> for Error {
    fn from(error: Mismatch) -> Self {
        Self::Mismatch(error)
    }
}

impl From<Full> for Error {
    fn from(error: Full) -> Self {
        Self::Full(error)
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Self::Config(error.0)
    }
}
