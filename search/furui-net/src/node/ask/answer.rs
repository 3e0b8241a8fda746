use std::fmt;
use std::ops::Range;

use furui_search::{ContentId, Place, PublisherKey, QueryRefused, Report, Showing, SimHash, Snippet};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::node::PassedOver;

/// An event of the answer stream of a search: found documents, or the end of the answer.
#[derive(Clone, Debug)]
pub enum SearchEvent {
    /// Found documents in rank order. All of them fit the query, including its phrases.
    Hits(Vec<Hit>),
    /// No document fits the query, or only few, and what follows was found for another one.
    Instead(Instead),
    /// The last event of the answer.
    Done {
        /// The number of documents that the search found and sent as [`SearchEvent::Hits`].
        found: u64,
        /// The documents of a [shared](crate::node::SearchOptions::shared) search that were not read, by publishers.
        passed_over: Vec<PassedOver>,
        /// The place after which a further search continues; `None` if there are no more documents. A query with
        /// phrases can end with a cursor although fewer documents than the limit were found, or none.
        cursor: Option<Place>,
        /// True if the answer is complete: every list was complete as far as the node that keeps it knows, and no
        /// document is missing because no node could show it or because false postings displaced it.
        whole: bool,
        /// The traffic and the work that the search has cost.
        report: Box<Report>,
    },
}

/// The query that was searched for instead of one that finds nothing. It is not a query for the same documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instead {
    /// The query has words that are spelled like words that no document has.
    Corrected {
        /// The words of the query.
        query: String,
    },
    /// The documents have the words of the query, but not as they are quoted in it.
    Unquoted,
    /// The documents have other forms of some words.
    Forms {
        /// The forms.
        forms: Vec<String>,
        /// The number of documents that come before these, because they have all words of the query.
        found: u64,
    },
    /// The documents have most of the words, and not all of them.
    Most {
        /// The words that no document has, as the names of their lists.
        missing: Vec<String>,
    },
}

impl fmt::Display for Instead {
    /// Writes a sentence for the user.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Corrected { query } => {
                write!(f, "nothing has all of these words; these are the results for: {query}")
            }
            Self::Unquoted => {
                write!(f, "nothing has what is in quotes as it is written; these are the results without quotes")
            }
            Self::Forms { forms, found: 0 } => {
                write!(f, "nothing has all of these words; these have other forms of them: {}", forms.join(", "))
            }
            Self::Forms { forms, found } => {
                let count = if *found == 1 { "one has".to_owned() } else { format!("{found} have") };
                write!(f, "{count} all of these words; the others have other forms of them: {}", forms.join(", "))
            }
            Self::Most { missing } if missing.is_empty() => {
                write!(f, "nothing has all of these words; these have most of them")
            }
            Self::Most { missing } => {
                write!(f, "nothing has the words: {}; these have most of the others", missing.join(", "))
            }
        }
    }
}

/// A document that was found. In JSON, it is a line of the answer to `GET /search`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// The id of the document: the hash of its record.
    pub id: ContentId,
    /// The document's URL; empty if no node that keeps its record answers.
    pub url: String,
    /// The document's title; empty if no node that keeps its record answers.
    pub title: String,
    /// An excerpt of the text that contains words of the query, see [`Snippet`].
    pub snippet: String,
    /// The words of the query in `title`, each as a pair of byte offsets: its start and its end (exclusive).
    pub title_marks: Vec<[usize; 2]>,
    /// The words of the query in `snippet`, as byte offsets like in `title_marks`.
    pub marks: Vec<[usize; 2]>,
    /// The BM25 score, a multiple of 1/[`Place::ONE`]. A higher score is better.
    pub score: f64,
    /// The factor by which the score of a [relaxed](crate::node::SearchOptions::relaxed) search is multiplied within a
    /// page, because the words of the query are near each other: from 1 to 1.5.
    #[serde(skip)]
    pub nearness: f64,
    /// The SHA-256 of the document's text; `None` if it has no text, as a bookmark, or if no node that keeps its record
    /// answers.
    #[serde(skip)]
    pub text_hash: Option<[u8; 32]>,
    /// The SimHash of the text, if it has one.
    #[serde(skip)]
    pub simhash: Option<SimHash>,
    /// The keys of those who have published this text under this URL, those first whom the node's owner trusts, then in
    /// the order in which they came; empty if the URL is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub publishers: Vec<PublisherKey>,
    /// True if the owner of this node trusts the first of the publishers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trusted: bool,
    /// Other texts under the same URL that fit the query and are not shown. The rule that chooses the shown one
    /// is stated in docs/search.md, "Several publishers of one page".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Version>,
}

/// A text that is not shown because another one under the same URL is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// The id of a document with the text.
    pub id: ContentId,
    /// The keys of those who have published it.
    pub publishers: Vec<PublisherKey>,
}

impl Hit {
    /// Makes a hit without its publishers. `showing` has the URL, title and snippet from a node that keeps the
    /// record; `None` if no such node answers, which leaves these fields empty.
    pub fn new(place: Place, showing: Option<Showing>) -> Self {
        let nearness = showing.as_ref().map_or(1.0, nearness);
        let text_hash = showing.as_ref().map(|showing| &showing.head);
        let simhash = showing.as_ref().and_then(|showing| showing.simhash);
        let text_hash = text_hash.filter(|head| head.text_bytes > 0).map(|head| head.text_hash);
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
            nearness,
            text_hash,
            simhash,
            publishers: vec![],
            trusted: false,
            also: vec![],
        }
    }
}

/// The factor for the words of a query that are together in the document. Measured on manuals: twice as much brings
/// less.
fn nearness(showing: &Showing) -> f64 {
    let words = showing.grades.iter().flatten().count() as f64;
    match showing.window {
        0 => 1.0,
        window => 1.0 + 0.5 * (words / f64::from(window)).min(1.0),
    }
}

/// The reason that an answer is missing or incomplete.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SearchError {
    /// The query is invalid and was not sent to any node.
    #[error(transparent)]
    Refused(QueryRefused),
    /// For one of the query's words, none of the nodes that keep its list answered.
    #[error("none of the nodes that keep the list of `{word}` answers; try again in a minute")]
    Unreachable {
        /// The word whose list is unreachable.
        word: String,
    },
}
