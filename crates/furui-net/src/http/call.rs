use std::ops::Range;
use std::time::Duration;

use furui_search::{ContentId, Place, Query, Record, Snippet, Snippets};
use serde::{Serialize, Serializer};
use tokio::sync::{mpsc, oneshot};

use super::{SNIPPET, Status};
use crate::node::{Document, Published};

/// What the face asks of its node. Whoever asked has gone away when the other end of `answer` or `events` is closed:
/// then there is no need to go on.
#[derive(Debug)]
pub enum Call {
    /// Publish these documents.
    Publish {
        /// At most [`BATCH_DOCUMENTS`](super::BATCH_DOCUMENTS), all different.
        documents: Vec<Document>,
        /// Whether those are to be published that were so lately, too.
        again: bool,
        /// To be sent when all of them are with the nodes that keep them.
        answer: oneshot::Sender<Result<Published, Refused>>,
    },
    /// Which of these documents would be published?
    Wanted {
        /// At most [`MAX_IDS`](super::MAX_IDS).
        ids: Vec<ContentId>,
        /// For each whether it was not published lately.
        answer: oneshot::Sender<Result<Vec<bool>, Refused>>,
    },
    /// Withdraw what was published under these URLs.
    Unpublish {
        /// At most [`MAX_IDS`](super::MAX_IDS).
        urls: Vec<String>,
        /// For each whether there was something; to be sent when keepers of all were told.
        answer: oneshot::Sender<Result<Vec<bool>, Refused>>,
    },
    /// Withdraw a part of all that was published.
    UnpublishSome {
        /// How much it was: nothing if that was all.
        answer: oneshot::Sender<Result<usize, Refused>>,
    },
    /// Search.
    Search {
        /// For what.
        asked: Asked,
        /// To be sent as they come; the last is [`Event::End`] or [`Event::Refused`].
        events: mpsc::Sender<Event>,
    },
    /// How are you?
    Status {
        /// The figures of this moment.
        answer: oneshot::Sender<Status>,
    },
}

/// What is to be searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The query.
    pub query: Query,
    /// How many results; at most [`MAX_LIMIT`](super::MAX_LIMIT).
    pub limit: u32,
    /// [`Summary::cursor`] of the answer that is to be continued.
    pub cursor: Option<Place>,
    /// Whether [`Event::Step`]s are wanted.
    pub explain: bool,
}

/// A part of a search's answer: a line of the HTTP answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Event {
    /// A document was found.
    Hit(Hit),
    /// Something was done for it.
    Step(Step),
    /// That is all.
    End(Summary),
    /// It cannot be done, or not to its end.
    Refused(Refused),
}

/// A document that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    /// Its id, in hexadecimal.
    #[serde(serialize_with = "displayed")]
    pub id: ContentId,
    /// Where it is; empty if no node that keeps its record answers.
    pub url: String,
    /// Its title.
    pub title: String,
    /// A piece of its text that shows what was asked for, see [`Snippet`].
    pub snippet: String,
    /// First byte of each mark in `title`, and the one after its last.
    pub title_marks: Vec<[usize; 2]>,
    /// The same in `snippet`.
    pub marks: Vec<[usize; 2]>,
    /// How well it fits: more is better.
    pub score: f64,
}

impl Hit {
    /// A document that was found, with what is shown of its record; without a record there is no URL either.
    pub fn new(id: ContentId, record: Option<Record>, score: f64, snippets: &Snippets<'_>) -> Self {
        let snippet = record.as_ref().map(|record| snippets.of(record, SNIPPET));
        let (url, title) = record.map(|record| (record.url, record.title)).unwrap_or_default();
        let Snippet { title_marks, text, marks } = snippet.unwrap_or_default();
        let pairs = |marks: Vec<Range<usize>>| marks.into_iter().map(|mark| [mark.start, mark.end]).collect();
        Self { id, url, title, snippet: text, title_marks: pairs(title_marks), marks: pairs(marks), score }
    }
}

/// Something done for a search: a line of its plan, or an exchange of messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// What was done, for people.
    pub step: String,
    /// Bytes sent for it.
    pub sent: u64,
    /// Bytes that came back.
    pub received: u64,
    /// How long after the beginning of the search it was done, if that is known: in lines, `ms`.
    #[serde(rename = "ms", serialize_with = "milliseconds", skip_serializing_if = "Option::is_none")]
    pub done: Option<Duration>,
}

/// The end of a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// How many documents were found in the part of all documents that was looked at: up to the cursor, or to the end.
    pub total: u64,
    /// Bytes of all messages that the search took.
    pub bytes: u64,
    /// Where to go on, if there may be more: the place of the last document, in hexadecimal.
    #[serde(serialize_with = "hexadecimal")]
    pub cursor: Option<Place>,
    /// Whether every list that was read was whole, as far as its keepers know.
    pub whole: bool,
}

/// Why a node does not do it: a sentence that says what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// The sentence.
    pub error: String,
}

fn displayed<S: Serializer>(id: &ContentId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
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
