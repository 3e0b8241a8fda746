use thiserror::Error;

/// The version of the record format that this program writes, and the only one that it reads.
pub(super) const VERSION: u8 = 4;

/// The reason that a document cannot be encoded as a record, or that bytes are not a record.
///
/// ```
/// use furui_search::{PublisherKey, Record, RecordError};
///
/// let record = Record { url: String::new(), title: "A title".into(), text: String::new(), publisher: PublisherKey::new([7; 32]) };
/// assert_eq!(record.encode(), Err(RecordError::NoUrl));
/// assert_eq!(Record::decode(b"short"), Err(RecordError::Length));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RecordError {
    /// A part of the document is too long.
    #[error("a {part} of {bytes} bytes; at most {most} are allowed: publish the document in parts")]
    TooLong {
        /// The name of the part: `url`, `title` or `text`.
        part: &'static str,
        /// The length of the part in bytes.
        bytes: usize,
        /// The maximum length of the part in bytes.
        most: usize,
    },
    /// The URL is empty.
    #[error("a document without a url; say where it can be found")]
    NoUrl,
    /// The bytes have an unknown version.
    #[error("a record of version {0}; this furui knows version {VERSION}")]
    Version(u8),
    /// The number of bytes is not that which the lengths in the header add up to.
    #[error("a record with a different length than it states; it was cut, or is not a record")]
    Length,
    /// A part is not valid UTF-8.
    #[error("a record whose parts are not UTF-8; it was damaged, or is not a record")]
    Text,
}
