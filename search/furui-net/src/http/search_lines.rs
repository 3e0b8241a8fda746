use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query as Parameters, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use furui::filter::sizing;
use furui_search::{Place, Query, Report, Wants};
use serde::{Deserialize, Serialize};

use super::answer::RunningSearch;
use super::lines::{LINES, line};
use super::{ApiError, Backend, DEFAULT_LIMIT, Face, MAX_LIMIT, Step};
use crate::node::{Hit, SearchEvent, SearchOptions};

/// A line of the answer to `GET /search`. The last line is an [`End`](Self::End), or `{"error":…}` if the search was
/// not completed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SearchLine {
    /// A document that was found.
    Hit(Hit),
    /// A step of the search, sent only if the request asked for an explanation.
    Step(Step),
    /// The end of a complete answer.
    End(Summary),
}

/// The summary at the end of a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// The number of documents that this search found. The search stopped at the cursor or, without a cursor, after the
    /// last document.
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
}

impl Summary {
    /// Makes the summary of a search with this report, which found `total` documents.
    pub(super) fn new(total: u64, cursor: Option<Place>, whole: bool, report: &Report) -> Self {
        let Report { sent_bytes, back_bytes, exchanged, show_sent_bytes, show_back_bytes, .. } = report;
        let bytes =
            sent_bytes + back_bytes + exchanged.sent_bytes + exchanged.back_bytes + show_sent_bytes + show_back_bytes;
        Self { total, bytes, cursor, whole, bounded: report.bounded }
    }
}

#[derive(Deserialize)]
pub(super) struct Asked {
    q: String,
    limit: Option<u32>,
    cursor: Option<String>,
    coding: Option<String>,
    /// The false-positive rate of the filters between nodes, as a number or a percentage.
    rate: Option<String>,
    #[serde(default)]
    explain: bool,
}

pub(super) async fn search<N: Backend>(
    State(face): State<Face<N>>,
    asked: Result<Parameters<Asked>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Parameters(asked) = asked.map_err(|error| ApiError::parameters(error.body_text()))?;
    let (query, options) = asked.read(face.wants)?;
    let explain = options.explain;
    let answer = RunningSearch::begin(&face, query, options)?;
    let body = Body::from_stream(answer.stream(move |event| lines(event, explain)));
    Ok(([(header::CONTENT_TYPE, LINES)], body).into_response())
}

/// Converts an event of a search to lines of the answer, each with one JSON object; the steps of the search are
/// included if `explain` is true.
fn lines(event: Result<SearchEvent, ApiError>, explain: bool) -> String {
    match event {
        Ok(SearchEvent::Hits(hits)) => hits.iter().map(line).collect(),
        Ok(SearchEvent::Done { found, cursor, whole, report }) => {
            let steps: String = if explain { Step::all(&report).iter().map(line).collect() } else { String::new() };
            steps + &line(&Summary::new(found, cursor, whole, &report))
        }
        Err(error) => line(&error),
    }
}

impl Asked {
    /// Parses the query and the options of the search. `usual` is the coding of sets if the request does not state one.
    fn read(self, usual: Wants) -> Result<(Query, SearchOptions), ApiError> {
        let limit = self.limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(ApiError::invalid(format_args!(
                "a limit is a number from 1 to {MAX_LIMIT}; use the cursor of the answer to get more"
            )));
        }
        let after = self.cursor.as_deref().map(cursor).transpose()?;
        let query = Query::parse(&self.q)?;
        let rate = self.rate.as_deref().map(|text| {
            sizing::parse_rate(text)
                .ok_or_else(|| ApiError::parameters(format_args!("rate={text:?} is no rate: 0.01 is one, or 1%25")))
        });
        let wants = Wants::named(self.coding.as_deref(), rate.transpose()?).map_err(ApiError::invalid)?;
        let (limit, wants) = (limit.into(), wants.unwrap_or(usual));
        Ok((query, SearchOptions { limit, shared: false, after, wants, explain: self.explain }))
    }
}

/// Parses a cursor that an earlier answer contained.
pub(super) fn cursor(text: &str) -> Result<Place, ApiError> {
    let no_cursor = "this is not a cursor; copy it from the last line of an answer: it has 48 hexadecimal digits";
    text.parse().map_err(|_| ApiError::invalid(no_cursor))
}
