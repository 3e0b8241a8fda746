use std::sync::Arc;

use super::{ContentId, IdRange, Weight};
use furui::Result;

/// A word, and postings of its list. A posting is a document, with the weight of the word in this document.
pub type WordPostings = (String, Vec<(ContentId, Weight)>);

/// A node's own lists, as the answering side needs them: for each word the ids of the documents that hold it, in order.
///
/// A list is read slice by slice, so the memory of a call is bounded.
pub trait Index {
    /// The number of ids in the word's list, and whether the list is whole: a node that has just joined answers `false`
    /// until other nodes have handed over the lists it should hold.
    ///
    /// # Errors
    /// If the storage fails.
    fn size(&mut self, word: &str) -> Result<Listing>;

    /// The ascending ids of `word` in `range`: all of them, or the first `most`.
    ///
    /// # Errors
    /// If the storage fails.
    fn slice(&mut self, word: &str, range: IdRange, most: usize) -> Result<Arc<[ContentId]>>;

    /// The weights of the postings whose ids [`slice`](Self::slice) returns for the same arguments.
    ///
    /// # Errors
    /// If the storage fails.
    fn weights(&mut self, word: &str, range: IdRange, most: usize) -> Result<Arc<[Weight]>>;

    /// The record of a document as it was published, if this node keeps it.
    ///
    /// # Errors
    /// If the storage fails.
    fn document(&mut self, id: ContentId) -> Result<Option<Vec<u8>>>;
}

/// The size of a word's list, and whether the list is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The number of ids.
    pub ids: u64,
    /// True if the node has been given everything that it should hold.
    pub whole: bool,
}
