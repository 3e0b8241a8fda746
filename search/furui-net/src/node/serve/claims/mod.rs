//! Checks the postings that other nodes send. A posting claims how often a word occurs in a document, and the
//! document's length; only the document's record proves it.
//!
//! ```text
//!   Store ─▶ Additions ─▶ sample ─▶ Checker: cache, own shelf, keepers of records ─▶ Truths ─▶ all true: stored
//!                                                                                       └─▶ one false: Sources
//! ```

mod budget;
mod checker;
mod sample;
mod truth;
mod truths;

use std::collections::HashMap;
use std::sync::Arc;

use furui_search::ContentId;

pub(in crate::node) use budget::Budget;
pub(in crate::node) use checker::Checker;
pub(in crate::node) use sample::sample;
pub(in crate::node) use truth::Truth;

use crate::shelf::Shelf;

/// The true postings of documents. Documents whose records are unavailable are left out.
pub(in crate::node) type TruePostings = HashMap<ContentId, Arc<Truth>>;

/// Encoded records, by the ids of their documents.
pub(in crate::node) type EncodedRecords = HashMap<ContentId, Vec<u8>>;

/// Reads the records of these documents that this node keeps itself. Returns these records, and the documents whose
/// records it does not keep.
///
/// # Errors
/// If the storage fails.
pub(in crate::node) fn own_records(
    shelf: &mut Shelf,
    ids: Vec<ContentId>,
) -> furui::Result<(EncodedRecords, Vec<ContentId>)> {
    let (mut own, mut missing) = (HashMap::new(), vec![]);
    for id in ids {
        match shelf.document(id)? {
            Some(record) => drop(own.insert(id, record)),
            None => missing.push(id),
        }
    }
    Ok((own, missing))
}
