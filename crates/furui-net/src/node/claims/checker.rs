use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use furui_search::ContentId;
use tokio::task::spawn_blocking;

use super::truths::Truths;
use super::{Known, records};
use crate::net::Net;
use crate::node::manners::Manners;

/// What was found out about documents. Of documents that are in none of the fields, no keeper
/// answered.
pub(in crate::node) struct Found {
    /// The true postings.
    pub(in crate::node) known: Known,
    /// The documents whose records nobody has, as keepers say.
    pub(in crate::node) gone: HashSet<ContentId>,
    /// The number of bytes of all records.
    pub(in crate::node) bytes: u64,
}

/// Finds out what is true of documents, from their records. Clones share what they remember.
#[derive(Clone)]
pub(in crate::node) struct Checker {
    net: Net,
    manners: Manners,
    truths: Arc<Truths>,
}

impl Checker {
    pub(in crate::node) fn new(net: Net, manners: Manners) -> Self {
        Self { net, manners, truths: Arc::new(Truths::new()) }
    }

    /// The hash of a word, for [`Truth::weight`](super::Truth::weight).
    pub(in crate::node) fn word(&self, word: &str) -> u64 {
        self.truths.word(word)
    }

    /// Divides documents into those whose true postings are remembered, and the others.
    pub(in crate::node) fn remembered(&self, ids: impl IntoIterator<Item = ContentId>) -> (Known, Vec<ContentId>) {
        let (mut known, mut unknown) = (Known::new(), Vec::new());
        for id in ids {
            match self.truths.get(id) {
                Some(truth) => {
                    known.insert(id, truth);
                }
                None => unknown.push(id),
            }
        }
        (known, unknown)
    }

    /// The true postings of documents, from `own` records, and for the documents of `missing` from the nodes that keep
    /// their records.
    pub(in crate::node) async fn find_out(&self, mut own: HashMap<ContentId, Vec<u8>>, missing: &[ContentId]) -> Found {
        let mut gone = HashSet::new();
        if !missing.is_empty() {
            let records = records::records(&self.manners, &self.net.me(), missing).await;
            own.extend(records.found);
            gone = records.gone;
        }
        if own.is_empty() {
            return Found { known: Known::new(), gone, bytes: 0 };
        }
        let bytes = own.values().map(|record| record.len() as u64).sum();
        let truths = Arc::clone(&self.truths);
        // Counting words takes a tenth of a millisecond for a short document, and much more for a long one.
        let count = move || own.iter().filter_map(|(id, record)| Some((*id, truths.learn(*id, record)?))).collect();
        // The task fails only if the runtime is shut down.
        Found { known: spawn_blocking(count).await.unwrap_or_default(), gone, bytes }
    }
}
