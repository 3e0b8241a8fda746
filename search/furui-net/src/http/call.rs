use std::ops::Range;
use std::time::Duration;

use furui_search::{ContentId, Place, PublisherKey, Query, Showing, Snippet, Wants};
use serde::{Serialize, Serializer};
use tokio::sync::{mpsc, oneshot};

use super::Status;
use crate::node::{self, Block, Document, Published};

/// A request of the HTTP interface to its node. If the other end of `answer` or `events` is closed, the client has gone
/// and the node can stop.
#[derive(Debug)]
pub enum Call {
    /// Publish these documents.
    Publish {
        /// The documents: at most [`BATCH_DOCUMENTS`](super::BATCH_DOCUMENTS), all different.
        documents: Vec<Document>,
        /// True to publish recently published documents again.
        again: bool,
        /// The channel for the result, sent when the nodes that keep the documents have all of them.
        answer: oneshot::Sender<Result<Published, Refused>>,
    },
    /// Ask which of these documents would be published.
    Wanted {
        /// The ids, at most [`MAX_IDS`](super::MAX_IDS).
        ids: Vec<ContentId>,
        /// The channel for the result: for each id, true unless it was published recently.
        answer: oneshot::Sender<Result<Vec<bool>, Refused>>,
    },
    /// Withdraw the documents that were published under these URLs.
    Unpublish {
        /// The URLs, at most [`MAX_IDS`](super::MAX_IDS).
        urls: Vec<String>,
        /// The channel for the result, sent when each document has been withdrawn by one of the nodes that keep it: for
        /// each URL, true if something was published under it.
        answer: oneshot::Sender<Result<Vec<bool>, Refused>>,
    },
    /// Withdraw a part of all published documents.
    UnpublishSome {
        /// The channel for the number of documents withdrawn: 0 if none were left.
        answer: oneshot::Sender<Result<usize, Refused>>,
    },
    /// Search.
    Search {
        /// The search.
        asked: Asked,
        /// The channel for the events of the answer; the last one is [`Event::End`] or [`Event::Refused`].
        events: mpsc::Sender<Event>,
    },
    /// Block, unblock or purge.
    Block {
        /// What to do.
        what: Blocking,
        /// The peers, networks, sites and words that are meant, at most [`MAX_IDS`](super::MAX_IDS).
        blocks: Vec<Block>,
        /// The channel for the result: the number of changes or, of a purge, of documents and postings removed.
        answer: oneshot::Sender<Result<u64, Refused>>,
    },
    /// Report what is blocked.
    Blocked {
        /// The channel for the result.
        answer: oneshot::Sender<Vec<Block>>,
    },
    /// Report the state of the node.
    Status {
        /// The channel for the current figures.
        answer: oneshot::Sender<Status>,
    },
}

/// What to do with peers, networks, sites and words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocking {
    /// Block them.
    Block,
    /// Unblock them.
    Unblock,
    /// Remove what is stored of them.
    Purge,
}

/// A search that a client requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The query.
    pub query: Query,
    /// The maximum number of results; at most [`MAX_LIMIT`](super::MAX_LIMIT).
    pub limit: u32,
    /// The [`Summary::cursor`] of the answer to continue.
    pub cursor: Option<Place>,
    /// How sets are coded between nodes; `None` for the node's default.
    pub wants: Option<Wants>,
    /// True if [`Event::Step`]s are wanted.
    pub explain: bool,
}

/// A part of the answer to a search: one line of the HTTP answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Event {
    /// A document was found.
    Hit(Hit),
    /// A step of the search was done.
    Step(Step),
    /// The answer is complete.
    End(Summary),
    /// The search cannot be done, or cannot be completed.
    Refused(Refused),
}

/// A document that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    /// The id of the document, in hexadecimal.
    #[serde(serialize_with = "displayed")]
    pub id: ContentId,
    /// The URL; empty if no node that keeps the record answers.
    pub url: String,
    /// The title.
    pub title: String,
    /// A piece of the text with words of the query, see [`Snippet`].
    pub snippet: String,
    /// The marks in `title`: for each, the positions of its first byte and of the byte after its last one.
    pub title_marks: Vec<[usize; 2]>,
    /// The marks in `snippet`: for each, the positions of its first byte and of the byte after its last one.
    pub marks: Vec<[usize; 2]>,
    /// The score: higher is better.
    pub score: f64,
    /// Who has published the document, and the other documents with its URL, if others were found.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub versions: Option<Versions>,
}

/// Of several documents with one URL, who has published the one that is shown, and what the others are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Versions {
    /// Who has published the document that is shown.
    #[serde(serialize_with = "all_displayed")]
    pub publishers: Vec<PublisherKey>,
    /// The other documents.
    pub also: Vec<Version>,
}

/// A document that is not shown, because another one with its URL is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Version {
    /// The id of the document, in hexadecimal.
    #[serde(serialize_with = "displayed")]
    pub id: ContentId,
    /// Who has published it.
    #[serde(serialize_with = "all_displayed")]
    pub publishers: Vec<PublisherKey>,
}

impl Hit {
    /// Makes a result from a document and what is shown of it. If nobody shows it, the URL is unknown.
    pub fn new(id: ContentId, showing: Option<Showing>, score: f64) -> Self {
        let (url, title, snippet) = match showing {
            Some(Showing { head, snippet, .. }) => (head.url, head.title, snippet),
            None => Default::default(),
        };
        let Snippet { title_marks, text, marks } = snippet;
        let pairs = |marks: Vec<Range<usize>>| marks.into_iter().map(|mark| [mark.start, mark.end]).collect();
        Self {
            id,
            url,
            title,
            snippet: text,
            title_marks: pairs(title_marks),
            marks: pairs(marks),
            score,
            versions: None,
        }
    }
}

impl From<node::Hit> for Hit {
    fn from(node::Hit { place, showing, publishers, also }: node::Hit) -> Self {
        let hit = Self::new(place.id, showing, f64::from(place.score) / f64::from(Place::ONE));
        if also.is_empty() {
            return hit;
        }
        let also = also.into_iter().map(|node::Version { id, publishers }| Version { id, publishers });
        Self { versions: Some(Versions { publishers, also: also.collect() }), ..hit }
    }
}

/// A step of a search: a line of its plan, or an exchange of messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// A description for people.
    pub step: String,
    /// The bytes sent.
    pub sent: u64,
    /// The bytes received.
    pub received: u64,
    /// The time from the beginning of the search to the end of the step, if it is known. It is `ms` in JSON.
    #[serde(rename = "ms", serialize_with = "milliseconds", skip_serializing_if = "Option::is_none")]
    pub done: Option<Duration>,
}

/// The end of a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The number of documents that this search found. The search stopped at the cursor or, without a cursor, after the
    /// last document.
    pub total: u64,
    /// The bytes of all messages of the search.
    pub bytes: u64,
    /// The place of the last document, at which the next search continues; `None` if there are no more results. In
    /// JSON, it is hexadecimal.
    #[serde(serialize_with = "hexadecimal")]
    pub cursor: Option<Place>,
    /// True if every list that was read was whole, as far as the node that keeps the list knows, and no document is missing
    /// because nobody could show it, or because something false took its place.
    pub whole: bool,
}

/// Why a node refuses a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// A sentence that tells the user what to do.
    pub error: String,
}

fn displayed<S: Serializer>(id: &ContentId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}

fn all_displayed<S: Serializer>(keys: &[PublisherKey], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(keys.iter().map(PublisherKey::to_string))
}

fn milliseconds<S: Serializer>(done: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    match done {
        Some(done) => serializer.serialize_u128(done.as_millis()),
        None => serializer.serialize_none(),
    }
}

fn hexadecimal<S: Serializer>(cursor: &Option<Place>, serializer: S) -> Result<S::Ok, S::Error> {
    match cursor {
        Some(cursor) => serializer.collect_str(cursor),
        None => serializer.serialize_none(),
    }
}
