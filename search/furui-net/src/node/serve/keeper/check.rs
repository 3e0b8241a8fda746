//! Checks postings that another node brings against the records of their documents.

use std::collections::{HashMap, HashSet};

use furui_search::{ContentId, Peer, WordPostings};

use crate::net::{Prefix, Reply};
use crate::node::claims::{Checker, TruePostings};

/// The number of records that are sought first. Chosen.
const FIRST: usize = 8;

/// A message that waits for the check of its postings.
pub(super) struct Check {
    pub(super) from: Peer,
    pub(super) prefix: Prefix,
    /// The size of the message, in bytes.
    pub(super) bytes: usize,
    pub(super) postings: Vec<WordPostings>,
    /// The documents to check.
    pub(super) drawn: Vec<ContentId>,
    /// The documents that are proven if the check finds nothing false, because all of their postings are checked.
    pub(super) strange: HashSet<ContentId>,
    /// The true postings of documents that were checked lately.
    pub(super) known: TruePostings,
    /// The records of documents to check that this node keeps itself.
    pub(super) own: HashMap<ContentId, Vec<u8>>,
    /// The documents to check whose records other nodes keep.
    pub(super) missing: Vec<ContentId>,
}

/// The result of a [`Check`].
pub(super) struct Checked {
    pub(super) check: Check,
    pub(super) reply: Reply,
    pub(super) verdict: Verdict,
    /// The bytes of the records for the check.
    pub(super) bytes: u64,
}

/// What a check has shown.
pub(super) enum Verdict {
    /// All postings that were checked are true.
    True,
    /// These postings are false.
    False(Vec<(String, ContentId)>),
    /// Some of the records could not be had.
    Unproven,
}

impl Check {
    /// Waits for the records, and compares.
    pub(super) async fn carry_out(mut self, checker: &Checker, reply: Reply) -> Checked {
        // Nothing is stored if one record cannot be had, so a few are sought first.
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
        Checked { check: self, reply, verdict, bytes }
    }
}
