use std::ops::Range;

use furui_search::{ContentId, Place, PublisherKey, QueryRefused, Report, Showing, Snippet};
use serde::{Deserialize, Serialize};
use thiserror::Error;

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
        /// True if every list was whole, as far as its keeper knows, and no document is missing because nobody could
        /// show it, or because something false took its place.
        whole: bool,
        /// The cost of the search.
        report: Box<Report>,
    },
}

/// A document that was found. In JSON, it is a line of the answer to `GET /search`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// The id of the document.
    pub id: ContentId,
    /// The URL; empty if no node that keeps the record answers.
    pub url: String,
    /// The title.
    pub title: String,
    /// A piece of the text with words of the query, see [`Snippet`].
    pub snippet: String,
    /// The marks in `title`: for each, the positions of its first byte and of the byte after its last one.
    pub title_marks: Vec<[usize; 2]>,
    /// The marks in `snippet`, as in `title_marks`.
    pub marks: Vec<[usize; 2]>,
    /// The BM25 score: higher is better. A multiple of 1/[`Place::ONE`].
    pub score: f64,
    /// Who has published the document. Known only if other documents with its URL were found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub publishers: Vec<PublisherKey>,
    /// Other documents with its URL that fit the query and are not shown. The rule by which one is shown is stated in
    /// docs/search.md, "Several publishers of one page".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Version>,
}

/// A document that is not shown, because another one with its URL is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// The id of the document.
    pub id: ContentId,
    /// Who has published it; empty if nobody is known.
    pub publishers: Vec<PublisherKey>,
}

impl Hit {
    /// Makes a hit whose publishers are unknown. `showing` is what a node that keeps the record says about it; `None`
    /// if none answers.
    pub fn new(place: Place, showing: Option<Showing>) -> Self {
        let (url, title, snippet) = showing.map(|it| (it.head.url, it.head.title, it.snippet)).unwrap_or_default();
        let Snippet { title_marks, text, marks } = snippet;
        let pairs = |marks: Vec<Range<usize>>| marks.into_iter().map(|mark| [mark.start, mark.end]).collect();
        Self {
            id: place.id,
            url,
            title,
            snippet: text,
            title_marks: pairs(title_marks),
            marks: pairs(marks),
            score: f64::from(place.score) / f64::from(Place::ONE),
            publishers: vec![],
            also: vec![],
        }
    }
}

/// Why an answer is missing or incomplete.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SearchError {
    /// The query cannot be asked.
    #[error(transparent)]
    Refused(QueryRefused),
    /// None of the nodes that keep the list of a word answers.
    #[error("none of the nodes that keep the list of `{word}` answers; try again in a minute")]
    Unreachable {
        /// The word.
        word: String,
    },
}
