use std::sync::Arc;

use super::{ContentId, IdRange, Weight};
use furui::Result;

/// A word, and postings of its list: documents, and how much the word counts in each.
pub type WordPostings = (String, Vec<(ContentId, Weight)>);

/// What the answering side needs of a node's own lists: for each word the ids of the documents that hold it, in order.
///
/// The memory one call may take is bounded: a list is handed out slice by slice.
pub trait Index {
    /// How many ids the word's list has, and whether the list is known to be whole: a node that has just joined answers
    /// `false` until others have handed over what it should hold.
    ///
    /// # Errors
    /// If the storage fails.
    fn size(&mut self, word: &str) -> Result<Listing>;

    /// The ids of `word` in `range`, ascending: all of them, or the first `most`.
    ///
    /// # Errors
    /// If the storage fails.
    fn slice(&mut self, word: &str, range: IdRange, most: usize) -> Result<Arc<[ContentId]>>;

    /// The weights of the postings that [`slice`](Self::slice) tells for the same.
    ///
    /// # Errors
    /// If the storage fails.
    fn weights(&mut self, word: &str, range: IdRange, most: usize) -> Result<Arc<[Weight]>>;

    /// The record of a document, as it was published, if this node keeps it.
    ///
    /// # Errors
    /// If the storage fails.
    fn document(&mut self, id: ContentId) -> Result<Option<Vec<u8>>>;
}

/// The size of a word's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listing {
    /// How many ids.
    pub ids: u64,
    /// Whether the node has been given everything that it should hold.
    pub whole: bool,
}
