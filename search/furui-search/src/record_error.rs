use std::fmt;

/// The version of the records that this program writes, which is the only one that it reads.
pub(super) const VERSION: u8 = 3;

/// Why a document cannot be encoded as a record, or why bytes are not a record.
///
/// ```
/// use furui_search::{Record, RecordError};
///
/// let record = Record { url: String::new(), title: "A title".into(), text: String::new(), publisher: None };
/// assert_eq!(record.encode(), Err(RecordError::NoUrl));
/// assert_eq!(Record::decode(b"short"), Err(RecordError::Length));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordError {
    /// A part of the document is too long.
    TooLong {
        /// `url`, `title` or `text`.
        part: &'static str,
        /// The length of the part in bytes.
        bytes: usize,
        /// The maximum length of the part in bytes.
        most: usize,
    },
    /// The URL is empty.
    NoUrl,
    /// The bytes have an unknown version.
    Version(u8),
    /// The number of bytes contradicts the lengths in them.
    Length,
    /// A part is not UTF-8.
    Text,
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { part, bytes, most } => {
                write!(f, "a {part} of {bytes} bytes; at most {most} are allowed: publish the document in parts")
            }
            Self::NoUrl => f.write_str("a document without a url; say where it can be found"),
            Self::Version(version) => write!(f, "a record of version {version}; this furui knows version {VERSION}"),
            Self::Length => {
                f.write_str("a record with a different length than it states; it was cut, or is not a record")
            }
            Self::Text => f.write_str("a record whose parts are not UTF-8; it was damaged, or is not a record"),
        }
    }
}

impl std::error::Error for RecordError {}
