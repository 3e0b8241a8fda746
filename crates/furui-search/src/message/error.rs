use std::fmt;

use super::super::limits;

/// Why bytes are not a message, or a message cannot be put into bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageError {
    /// The bytes end inside something.
    Short {
        /// Inside what.
        what: &'static str,
        /// Where it began.
        at: usize,
    },
    /// More of something than is allowed.
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there are.
        count: u64,
        /// How many there may be.
        most: usize,
    },
    /// A value that means nothing.
    Invalid {
        /// Of what.
        what: &'static str,
        /// Where it is.
        at: usize,
    },
    /// A version of the protocol that is not spoken here.
    Version(u8),
    /// Bytes after the message's end.
    Trailing {
        /// Where it ended.
        at: usize,
    },
}

impl MessageError {
    /// The error for a message of `bytes` bytes, if these are too many.
    pub(super) fn if_too_long(bytes: usize) -> Result<(), Self> {
        if bytes > limits::MESSAGE_BYTES {
            return Err(Self::TooMany { what: "bytes of a message", count: bytes as u64, most: limits::MESSAGE_BYTES });
        }
        Ok(())
    }
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { what, at } => write!(f, "message: {what} begins at byte {at} and is cut short"),
            Self::TooMany { what, count, most } => write!(f, "message: {count} {what}, at most {most} are allowed"),
            Self::Invalid { what, at } => write!(f, "message: {what} at byte {at} has a value without meaning"),
            Self::Version(version) => {
                write!(f, "message: version {version} of the protocol, version 1 is spoken here: update the older node")
            }
            Self::Trailing { at } => write!(f, "message: bytes after its end at byte {at}"),
        }
    }
}

impl std::error::Error for MessageError {}
