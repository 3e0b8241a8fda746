use std::fmt;

use furui_search::{ContentId, Place, PublisherKey, QueryRefused, Report, Showing};

/// A part of the answer to a search.
#[derive(Clone, Debug)]
pub enum SearchEvent {
    /// Found documents in the order of the answer. All of them fit the query, phrases included.
    Hits(Vec<Hit>),
    /// The end of the answer.
    Done {
        /// The number of documents found.
        found: u64,
        /// The place at which to continue, if there may be more documents. A query with phrases can end with fewer
        /// documents than the limit, even with none.
        cursor: Option<Place>,
        /// True if every list was whole, as far as its keeper knows, and no document is missing because nobody could show
        /// it, or because something false took its place.
        whole: bool,
        /// The cost of the search.
        report: Box<Report>,
    },
}

/// A document that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The id of the document, and its score.
    pub place: Place,
    /// What to show of the document; `None` if no node that keeps the record answered.
    pub showing: Option<Showing>,
    /// Who has published the document. Known only if other documents with its URL were found.
    pub publishers: Vec<PublisherKey>,
    /// Other documents with its URL that fit the query and are not shown. The rule by which one is shown is stated in
    /// docs/search.md, "Several publishers of one page".
    pub also: Vec<Version>,
}

/// A document that is not shown, because another one with its URL is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// The id of the document.
    pub id: ContentId,
    /// Who has published it.
    pub publishers: Vec<PublisherKey>,
}

impl Hit {
    /// Makes a hit whose publishers are unknown.
    pub(super) fn new(place: Place, showing: Option<Showing>) -> Self {
        Self { place, showing, publishers: vec![], also: vec![] }
    }
}

/// Why an answer is missing or incomplete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchError {
    /// The query cannot be asked.
    Refused(QueryRefused),
    /// None of the nodes that keep the list of a word answers.
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
