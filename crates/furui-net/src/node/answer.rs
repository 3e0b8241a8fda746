use std::fmt;

use furui_search::{Place, QueryRefused, Record, Report};

/// A part of the answer to a search.
#[derive(Clone, Debug)]
pub enum SearchEvent {
    /// Documents that were found, in the order of the answer: those that fit, phrases included.
    Hits(Vec<Hit>),
    /// The end.
    Done {
        /// How many documents were found.
        found: u64,
        /// Where to go on, if there may be more: with phrases, fewer than the limit may have been found by then, and
        /// even none.
        cursor: Option<Place>,
        /// Whether every list was whole, as far as its keeper knows, and every document whose text had to be looked at
        /// was to be had.
        whole: bool,
        /// What it took.
        report: Box<Report>,
    },
}

/// A document that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Its id, and its score if the best were asked for.
    pub place: Place,
    /// Its record; `None` if it was not to be fetched, or no node that keeps it answered.
    pub record: Option<Record>,
}

/// Why there is no answer, or not all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchError {
    /// The query cannot be asked.
    Refused(QueryRefused),
    /// No node that keeps the word answers.
    Unreachable {
        /// The word.
        word: String,
    },
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) => why.fmt(f),
            Self::Unreachable { word } => {
                write!(f, "none of the nodes that keep the list of `{word}` answers; try again in a minute")
            }
        }
    }
}

impl std::error::Error for SearchError {}
