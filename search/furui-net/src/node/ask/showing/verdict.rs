use furui_search::{ContentId, Place, Showing};

/// The result of examining a candidate of a search.
#[derive(Debug)]
pub(in crate::node) enum Verdict {
    /// The document is part of the answer.
    Shown {
        /// The document's place according to its true score.
        place: Place,
        showing: Box<Showing>,
        /// The other documents of the URL that the nodes which keep it have named.
        others: Vec<ContentId>,
        /// The postings about the document that may be false, each as its word and the document's id.
        doubts: Vec<(String, ContentId)>,
    },
    /// The document has the words of the query, but not its phrases.
    Unfit,
    /// The document was withdrawn, or no node has it.
    Gone {
        /// True if a node has shown a withdrawal of it.
        is_withdrawn: bool,
        /// The postings of a withdrawn document in the lists of the query's words, each as its word and the document's
        /// id.
        doubts: Vec<(String, ContentId)>,
    },
    /// The document does not fit the query, although the lists claim that it does.
    False { doubts: Vec<(String, ContentId)> },
    /// The answers do not suffice to decide whether the document exists and fits.
    Uncertain,
    /// None of the nodes that should keep the document has answered usefully.
    Missing,
}

impl Verdict {
    /// True if the document belongs at the place that the lists claim, false if not; `None` if that is unknown.
    pub(in crate::node) fn holds(&self, claimed: Place) -> Option<bool> {
        match self {
            Self::Shown { place, .. } => Some(*place == claimed),
            // The lists make no claim about phrases, so they are not wrong.
            Self::Unfit => Some(true),
            Self::False { .. } => Some(false),
            Self::Gone { .. } | Self::Uncertain | Self::Missing => None,
        }
    }
}
