//! Examines postings that other nodes doubt against the records of their documents.

use std::collections::HashMap;

use furui_search::ContentId;

use crate::net::Prefix;
use crate::node::claims::{Checker, Found, TruePostings};
use crate::shelf::{Listed, Origin};

/// Postings to examine.
pub(super) struct Doubts {
    /// The address of the peer that doubts them.
    pub(super) prefix: Prefix,
    /// By word, what the lists say.
    pub(super) lists: Vec<(String, Vec<Listed>)>,
    pub(super) known: TruePostings,
    /// The records that this node keeps itself.
    pub(super) own: HashMap<ContentId, Vec<u8>>,
    pub(super) missing: Vec<ContentId>,
    /// If these postings are examined because others of this origin were false: the origin.
    pub(super) suspect: Option<Origin>,
}

impl Doubts {
    /// Waits for the records. Returns their bytes, too.
    pub(super) async fn examine(mut self, checker: &Checker) -> (Self, u64) {
        let Found { known, bytes, .. } = checker.find_out(std::mem::take(&mut self.own), &self.missing).await;
        self.known.extend(known);
        (self, bytes)
    }
}
