//! Examines postings that other nodes doubt against the records of their documents.

use std::collections::HashMap;

use furui_search::ContentId;

use crate::net::Prefix;
use crate::node::claims::{Checker, Found, TruePostings};
use crate::shelf::{Listed, Origin};

/// Postings whose examination is to be carried out, because other nodes doubt them.
pub(super) struct Doubts {
    /// The address prefix of the peer that doubts them.
    pub(super) prefix: Prefix,
    /// The doubted entries of this node's lists, by word.
    pub(super) lists: Vec<(String, Vec<Listed>)>,
    pub(super) known: TruePostings,
    /// The records of the documents that this node keeps itself.
    pub(super) own: HashMap<ContentId, Vec<u8>>,
    pub(super) missing: Vec<ContentId>,
    /// The origin whose other postings were false, if these are examined for that reason; otherwise `None`.
    pub(super) suspect: Option<Origin>,
}

impl Doubts {
    /// Fetches the records of the doubted documents. Returns `self`, and the size of the fetched records in bytes.
    pub(super) async fn examine(mut self, checker: &Checker) -> (Self, u64) {
        let Found { known, bytes, .. } = checker.find_out(std::mem::take(&mut self.own), &self.missing).await;
        self.known.extend(known);
        (self, bytes)
    }
}
