use furui_search::{ContentId, Place, Showing};

/// What became of a candidate.
#[derive(Debug)]
pub(in crate::node) enum Verdict {
    /// The document is part of the answer.
    Shown {
        /// Its true place.
        place: Place,
        showing: Box<Showing>,
        /// What lists state falsely about it.
        doubts: Vec<(String, ContentId)>,
    },
    /// The document has the words, but not the phrases.
    Unfit,
    /// The document was withdrawn, or has expired.
    Gone,
    /// The document does not fit the query, although the lists say so.
    False { doubts: Vec<(String, ContentId)> },
    /// It is unknown whether the document exists, and fits.
    Uncertain,
    /// None of the nodes that should keep the document answers.
    Missing,
}

impl Verdict {
    /// Whether the document belongs at the place that lists claim; `None` if that is unknown.
    pub(in crate::node) fn holds(&self, claimed: Place) -> Option<bool> {
        match self {
            Self::Shown { place, .. } => Some(*place == claimed),
            // The lists know nothing about phrases.
            Self::Unfit => Some(true),
            Self::False { .. } => Some(false),
            Self::Gone | Self::Uncertain | Self::Missing => None,
        }
    }
}
