use serde::{Deserialize, Serialize};

use crate::Page;

/// What the next place of a file with several documents holds. The readers of such files are iterators over entries;
/// an error of theirs is one of the disk, and is the last item.
///
/// An entry has a JSON form, for readers in a process of their own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Entry {
    /// A document.
    Document(Document),
    /// Something that is no document, such as a database of another program.
    Other,
    /// A document that cannot be read. The next one can.
    Broken {
        /// The place of the document in the file, such as `message 3`.
        place: String,
        /// The reason that it cannot be read.
        why: String,
    },
}

/// One of the documents of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// The place of the document in the file, such as `message 3`, for messages to the user.
    pub place: String,
    /// The address under which the document can be found.
    pub address: Address,
    /// The title and the text.
    pub page: Page,
}

/// The address of a document in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Address {
    /// The URL that the file states for the document, as written there; it may be invalid.
    Url(String),
    /// The document has no URL but that of the file, with this fragment, whose characters are yet to be escaped.
    Part(String),
}
