use thiserror::Error;

use super::super::limits;

/// The reason that bytes cannot be decoded as a message, or that a message cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MessageError {
    /// The bytes end within a field.
    #[error("message: {what} begins at byte {at} and is cut short")]
    Short {
        /// The name of the field.
        what: &'static str,
        /// The byte offset in the message at which the field begins.
        at: usize,
    },
    /// A limit is exceeded.
    #[error("message: {count} {what}, at most {most} are allowed")]
    TooMany {
        /// The name of the items whose number is too large.
        what: &'static str,
        /// The number of these items in the message.
        count: u64,
        /// The maximum number of these items.
        most: usize,
    },
    /// A field has an invalid value.
    #[error("message: {what} at byte {at} has an invalid value")]
    Invalid {
        /// The name of the field.
        what: &'static str,
        /// The byte offset in the message at which the field begins.
        at: usize,
    },
    /// The message has an unsupported version of the protocol.
    #[error("message: version {0} of the protocol, but this node speaks version 1: update the older node")]
    Version(u8),
    /// Bytes follow the end of the message.
    #[error("message: bytes after its end at byte {at}")]
    Trailing {
        /// The byte offset at which the message ends.
        at: usize,
    },
}

impl MessageError {
    /// Returns an error if a message of `bytes` bytes is too long.
    pub(super) fn if_too_long(bytes: usize) -> Result<(), Self> {
        if bytes > limits::MESSAGE_BYTES {
            return Err(Self::TooMany { what: "bytes of a message", count: bytes as u64, most: limits::MESSAGE_BYTES });
        }
        Ok(())
    }
}
