use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use furui_search::{Place, Query, Report};
use futures::stream::{self, StreamExt};
use serde::{Deserialize, Serialize};

use super::answer::RunningSearch;
use super::arranged::Arranged;
use super::lines::{LINES, line};
use super::{ApiError, Backend, Face, Step};
use crate::node::{Hit, PassedOver, SearchEvent, SearchOptions};

/// A line of the answer to `GET /search`. The last line is an [`End`](Self::End), or `{"error":…}` if the search was
/// not completed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SearchLine {
    /// A document that was found.
    Hit(Hit),
    /// What the user should know of the results that follow.
    Note {
        /// A sentence.
        note: String,
    },
    /// A step of the search, sent only if the request asked for an explanation.
    Step(Step),
    /// The end of a complete answer.
    End(Summary),
}

/// The summary at the end of a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// The number of documents that this search found and sent. The search stopped at the cursor or, without a cursor,
    /// after the last document.
    pub total: u64,
    /// The total size of all messages of the search, in bytes.
    pub bytes: u64,
    /// The place of the last examined document in the ranking, where a further search continues; `None` if there are no
    /// more results.
    pub cursor: Option<Place>,
    /// True if the answer is complete: every list was complete as far as the node that keeps it knows, and no document
    /// is missing because no node could show it or because false postings displaced it.
    pub whole: bool,
    /// True if the search stopped before it had found as many documents as it could, because it had examined so many:
    /// there may be more after the cursor.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bounded: bool,
    /// Further results that are not sent, because their publishers have their places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<PassedOver>,
}

impl Summary {
    /// Makes the summary of a search with this report, which found `total` documents.
    pub(super) fn new(total: u64, more: Vec<PassedOver>, cursor: Option<Place>, whole: bool, report: &Report) -> Self {
        let Report { sent_bytes, back_bytes, exchanged, show_sent_bytes, show_back_bytes, .. } = report;
        let bytes =
            sent_bytes + back_bytes + exchanged.sent_bytes + exchanged.back_bytes + show_sent_bytes + show_back_bytes;
        Self { total, bytes, cursor, whole, bounded: report.bounded, more }
    }
}

/// Runs a search, and makes the response that streams its results in lines.
pub(super) fn answer<N: Backend>(
    face: &Face<N>,
    query: Query,
    options: SearchOptions,
    notes: &[String],
) -> Result<Response, ApiError> {
    let (explain, mut arranged) = (options.explain, Arranged::of(&options));
    let answer = RunningSearch::begin(face, query, options)?;
    let notes: String = notes.iter().map(|note| line(&SearchLine::Note { note: note.clone() })).collect();
    let notes = stream::iter((!notes.is_empty()).then_some(Ok(notes)));
    let body = Body::from_stream(notes.chain(answer.stream(move |event| lines(event, &mut arranged, explain))));
    Ok(([(header::CONTENT_TYPE, LINES)], body).into_response())
}

/// Converts an event of a search to lines of the answer, each with one JSON object; the steps of the search are
/// included if `explain` is true.
fn lines(event: Result<SearchEvent, ApiError>, arranged: &mut Arranged, explain: bool) -> String {
    match event {
        Ok(SearchEvent::Hits(hits)) => arranged.add(hits).iter().map(line).collect(),
        Ok(SearchEvent::Instead(instead)) => line(&SearchLine::Note { note: instead.to_string() }),
        Ok(SearchEvent::Done { passed_over: mut more, cursor, whole, report, .. }) => {
            let rest: String = arranged.end(&mut more).iter().map(line).collect();
            let steps: String = if explain { Step::all(&report).iter().map(line).collect() } else { String::new() };
            rest + &steps + &line(&Summary::new(arranged.sent(), more, cursor, whole, &report))
        }
        Err(error) => line(&error),
    }
}
