use std::collections::HashMap;
use std::sync::Arc;

use furui_search::ContentId;
use tokio::task::spawn_blocking;

use super::truths::Truths;
use super::{Known, records};
use crate::net::Net;
use crate::node::manners::Manners;

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
    /// their records. Also returns the number of bytes of all records.
    pub(in crate::node) async fn find_out(
        &self,
        mut own: HashMap<ContentId, Vec<u8>>,
        missing: &[ContentId],
    ) -> (Known, u64) {
        if !missing.is_empty() {
            own.extend(records::records(&self.manners, &self.net.me(), missing).await);
        }
        let bytes = own.values().map(|record| record.len() as u64).sum();
        let truths = Arc::clone(&self.truths);
        // Counting words takes a tenth of a millisecond for a short document, and much more for a long one.
        let count = move || own.iter().filter_map(|(id, record)| Some((*id, truths.learn(*id, record)?))).collect();
        // The task fails only if the runtime is shut down.
        (spawn_blocking(count).await.unwrap_or_default(), bytes)
    }
}
