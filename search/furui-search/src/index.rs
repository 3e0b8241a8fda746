use std::sync::Arc;

use super::{ContentId, IdRange, Weight};
use furui::Result;

/// A word with postings of its list. A posting is the id of a document, with the weight of the word in this document.
pub type WordPostings = (String, Vec<(ContentId, Weight)>);

/// Part of a word's list: ascending ids, and the weight of the word in each of these documents.
pub type ListPart = (Arc<[ContentId]>, Arc<[Weight]>);

/// The lists of a node, as the answering side reads them: for each word the ids of the documents that contain it, in
/// ascending order.
///
/// A list is read in slices, so the memory of a call is bounded.
pub trait Index {
    /// The number of ids in the word's list, and whether the list is complete. On a node that has just joined, lists
    /// are incomplete until other nodes have transferred those that it should hold.
    ///
    /// # Errors
    /// If the storage fails.
    fn size(&mut self, word: &str) -> Result<Listing>;

    /// The postings of `word` in `range`: all of them, or the first `most`.
    ///
    /// # Errors
    /// If the storage fails.
    fn slice(&mut self, word: &str, range: IdRange, most: usize) -> Result<ListPart>;
}

/// The size of a word's list, and whether the list is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The number of ids in the list, one for each document that contains the word.
    pub ids: u64,
    /// The mean of the base-2 logarithms of the lengths of these documents, rounded; in
    /// [`Scale::LENGTHS`](crate::Scale::LENGTHS).
    pub log_length: u8,
    /// True if the list is complete: the node has been given everything that it should hold.
    pub whole: bool,
}
