use std::fmt;

use furui_net::http::PublishSums;
use furui_search::limits;

use crate::Error;
use crate::program::Program;
use indicatif::HumanCount;

/// The number of documents that were published, and for each [`Reason`] the number of those that were not.
pub(super) struct Sums<'a> {
    program: &'a dyn Program,
    strict: bool,
    documents: u64,
    /// The number of documents that the node published in this run.
    sent: u64,
    /// The number of published documents that replaced earlier ones under the same URL.
    changed: u64,
    /// The number of published documents that fewer nodes have stored than should keep them.
    scarce: u64,
    left_out: [u64; REASONS.len()],
}

/// The reason that a document was not published.
#[derive(Clone, Copy)]
pub(super) enum Reason {
    /// The document is invalid, or cannot be read.
    Bad,
    /// Another document of the same `furui publish` command has the same URL.
    Repeated,
    /// The page asks search engines to leave it out.
    NoIndex,
    /// The page is in a language that was not requested.
    Language,
    /// The page is of a kind that contains no text for people.
    Kind,
}

/// The phrases after the number of documents in the summary, in the order of [`Reason`].
const REASONS: [&str; 5] = ["left out", "repeated", "that ask not to be found", "in other languages", "of other kinds"];

impl<'a> Sums<'a> {
    pub(super) fn new(strict: bool, program: &'a dyn Program) -> Self {
        Self { program, strict, documents: 0, sent: 0, changed: 0, scarce: 0, left_out: [0; REASONS.len()] }
    }

    pub(super) fn add(&mut self, sent: PublishSums) {
        self.documents += sent.documents;
        self.sent += sent.new;
        self.changed += sent.changed;
        self.scarce += sent.scarce;
    }

    /// True if no document was published or left out with a message.
    pub(super) fn is_nothing(&self) -> bool {
        self.sent == 0 && self.left_out[Reason::Bad as usize] == 0
    }

    /// Counts a document that is not published, without printing a message.
    pub(super) fn pass(&mut self, reason: Reason) {
        self.left_out[reason as usize] += 1;
    }

    /// Counts an invalid document and prints a message, or returns an error if the run is strict.
    pub(super) fn leave_out(&mut self, place: &str, why: &str) -> Result<(), Error> {
        if self.strict {
            return Err(Error::Message(format!("{place}: {why}")));
        }
        self.pass(Reason::Bad);
        self.program.complain(&format!("{place}: {why}; left out"));
        Ok(())
    }
}

impl fmt::Display for Sums<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { documents, sent, changed, scarce, .. } = *self;
        let (new, known) = (sent.saturating_sub(changed), documents.saturating_sub(sent));
        write!(f, "{} documents: {} new, ", HumanCount(documents), HumanCount(new))?;
        if changed > 0 {
            write!(f, "{} changed, ", HumanCount(changed))?;
        }
        write!(f, "{} known", HumanCount(known))?;
        let mut separator = "; ";
        if scarce > 0 {
            write!(f, "; {} at fewer than {} nodes", HumanCount(scarce), limits::REPLICAS)?;
        }
        for (what, count) in REASONS.iter().zip(self.left_out).filter(|(_, count)| *count > 0) {
            write!(f, "{separator}{} {what}", HumanCount(count))?;
            separator = ", ";
        }
        Ok(())
    }
}
