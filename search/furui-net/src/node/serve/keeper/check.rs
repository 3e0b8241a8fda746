//! Checks postings that another node brings against the records of their documents.

use std::collections::{HashMap, HashSet};

use furui_search::{ContentId, Peer, WordPostings};

use crate::net::Prefix;
use crate::node::claims::{Checker, TruePostings};

/// The number of records that are fetched first to check a message. If one of them is unavailable, nothing is stored,
/// and the others are not fetched. The value is a choice, not a measurement.
const FIRST: usize = 8;

/// A message whose postings are to be checked before they are stored.
pub(super) struct Check {
    /// The number under which its sender waits for an answer.
    pub(super) call: u64,
    pub(super) from: Peer,
    pub(super) prefix: Prefix,
    /// The size of the message, in bytes.
    pub(super) bytes: usize,
    pub(super) postings: Vec<WordPostings>,
    /// The sampled documents whose postings are checked.
    pub(super) drawn: Vec<ContentId>,
    /// The documents all of whose postings are checked, because the message adds to other peers' documents. They are
    /// proven if the check finds nothing false.
    pub(super) strange: HashSet<ContentId>,
    /// The true postings of the documents that were checked recently.
    pub(super) known: TruePostings,
    /// The records of sampled documents that this node keeps itself.
    pub(super) own: HashMap<ContentId, Vec<u8>>,
    /// The sampled documents whose records other nodes keep.
    pub(super) missing: Vec<ContentId>,
}

/// The verdict of a check on the postings of a message.
pub(super) enum Verdict {
    /// All postings that were checked are true.
    True,
    /// These postings, each as its word and its document, are false.
    False(Vec<(String, ContentId)>),
    /// Some of the records were unavailable, so the message is not proven.
    Unproven,
}

impl Check {
    /// Fetches the records, and compares the postings with them. Returns the verdict, and the number of bytes of the
    /// records that were fetched.
    pub(super) async fn carry_out(&mut self, checker: &Checker) -> (Verdict, u64) {
        // If one record is unavailable, nothing is stored, so a few records are fetched first.
        let (first, rest) = self.missing.split_at(self.missing.len().min(FIRST));
        let (mut own, mut bytes) = (std::mem::take(&mut self.own), 0);
        for missing in [first, rest] {
            let found = checker.find_out(std::mem::take(&mut own), missing).await;
            self.known.extend(found.known);
            bytes += found.bytes;
            if missing.iter().any(|id| !self.known.contains_key(id)) {
                break;
            }
        }
        let lies = checker.lies(&self.known, &self.postings);
        let verdict = match () {
            () if !lies.is_empty() => Verdict::False(lies),
            () if self.drawn.iter().any(|id| !self.known.contains_key(id)) => Verdict::Unproven,
            () => Verdict::True,
        };
        (verdict, bytes)
    }
}
