//! Checks what other nodes claim of documents. A posting says that a document holds a word this often, in so many
//! words; only the document's record proves it.
//!
//! ```text
//!   Store ─▶ Additions ─▶ sample ─▶ Checker: cache, own shelf, keepers of records ─▶ Truths ─▶ all true: stored
//!                                                                                       └─▶ one false: Sources
//! ```

mod budget;
mod checker;
mod sample;
mod sources;
mod truth;
mod truths;

use std::collections::HashMap;
use std::sync::Arc;

use furui_search::{ContentId, Index, WordPostings};

pub(in crate::node) use budget::Budget;
pub(in crate::node) use checker::{Checker, Found};
pub(in crate::node) use sample::sample;
pub(in crate::node) use sources::{REFUSED_FOR, Sources};
pub(in crate::node) use truth::Truth;

use crate::shelf::Shelf;

/// The true postings of documents. A document is missing if its record could not be had.
pub(in crate::node) type TruePostings = HashMap<ContentId, Arc<Truth>>;

/// The records of these documents that this node keeps itself, and the documents whose records it does not keep.
///
/// # Errors
/// If the storage fails.
pub(in crate::node) fn own_records(
    shelf: &mut Shelf,
    ids: Vec<ContentId>,
) -> furui::Result<(HashMap<ContentId, Vec<u8>>, Vec<ContentId>)> {
    let (mut own, mut missing) = (HashMap::new(), vec![]);
    for id in ids {
        match shelf.document(id)? {
            Some(record) => drop(own.insert(id, record)),
            None => missing.push(id),
        }
    }
    Ok((own, missing))
}

/// Says which postings of the documents in `known` are false.
pub(in crate::node) fn lies(
    checker: &Checker,
    known: &TruePostings,
    postings: &[WordPostings],
) -> Vec<(String, ContentId)> {
    let mut lies = Vec::new();
    for (word, ids) in postings {
        let word_hash = checker.word(word);
        for (id, weight) in ids {
            if known.get(id).is_some_and(|truth| truth.weight(word_hash) != Some(*weight)) {
                lies.push((word.clone(), *id));
            }
        }
    }
    lies
}
