use axum::extract::rejection::QueryRejection;
use axum::extract::{Query as Parameters, State};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use furui::filter::sizing;
use furui_search::{Place, Query, QueryError, Wants};
use serde::Deserialize;

use super::{ApiError, Backend, DEFAULT_LIMIT, Face, MAX_LIMIT, search_json, search_lines};
use crate::node::{Languages, SearchOptions};

/// The form of the answer to `GET /search`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    /// A line of JSON for each result, as soon as it is found.
    #[default]
    Lines,
    /// One JSON document at the end of the search, as clients of SearXNG read it.
    Json,
}

/// The query parameters of `GET /search`. Others are ignored: clients of SearXNG also send a language and categories.
#[derive(Deserialize)]
pub(super) struct Asked {
    q: String,
    #[serde(default)]
    format: Format,
    limit: Option<u32>,
    /// The number of the page, from 1 on. Only pages of one JSON document are numbered.
    pageno: Option<u32>,
    cursor: Option<String>,
    coding: Option<String>,
    /// The false-positive rate of the filters between nodes, as a number or a percentage.
    rate: Option<String>,
    #[serde(default)]
    explain: bool,
    /// True if the query must be understood, and only documents that fit it are wanted, all in the order of their
    /// scores, whoever has published them.
    #[serde(default)]
    exact: bool,
}

/// Handles `GET /search`.
pub(super) async fn search<N: Backend>(
    State(face): State<Face<N>>,
    headers: HeaderMap,
    asked: Result<Parameters<Asked>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Parameters(asked) = asked.map_err(|error| ApiError::parameters(error.body_text()))?;
    let (limit, page) = asked.page()?;
    let (format, text) = (asked.format, asked.q.clone());
    let (query, literally, mut options) = asked.read(limit, face.wants)?;
    options.languages = languages(&headers);
    let notes: Vec<String> = literally.iter().map(note).collect();
    match format {
        Format::Lines => search_lines::answer(&face, query, options, &notes),
        Format::Json => search_json::answer(&face, (&query, &text, notes), options, page).await,
    }
}

impl Asked {
    /// The number of results on a page, and the number of the wanted page, from 1 on.
    fn page(&self) -> Result<(u32, u32), ApiError> {
        let limit = self.limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(ApiError::invalid(format_args!(
                "a limit is a number from 1 to {MAX_LIMIT}; use the cursor of the answer to get more"
            )));
        }
        if self.explain && self.format == Format::Json {
            return Err(ApiError::parameters("explain is for the answer in lines, without format=json"));
        }
        let Some(pageno) = self.pageno else { return Ok((limit, 1)) };
        if self.format == Format::Lines || self.cursor.is_some() {
            return Err(ApiError::parameters("pageno is for format=json without a cursor, which continues anywhere"));
        }
        let last = MAX_LIMIT / limit;
        if !(1..=last).contains(&pageno) {
            return Err(ApiError::invalid(format_args!(
                "pageno is a number from 1 to {last} for pages of {limit}; use the cursor of the answer to get more"
            )));
        }
        Ok((limit, pageno))
    }

    /// Parses the query and the options of a search for at most `limit` documents. If the query cannot be understood
    /// and need not be exact, it is taken literally, and the reason is returned, too. `usual` is the coding of sets if
    /// the request does not state one.
    fn read(self, limit: u32, usual: Wants) -> Result<(Query, Option<QueryError>, SearchOptions), ApiError> {
        let after = self.cursor.as_deref().map(cursor).transpose()?;
        let (query, literally) = if self.exact { (Query::parse(&self.q)?, None) } else { Query::read(&self.q)? };
        let rate = self.rate.as_deref().map(|text| {
            sizing::parse_rate(text)
                .ok_or_else(|| ApiError::parameters(format_args!("rate={text:?} is no rate: 0.01 is one, or 1%25")))
        });
        let wants = Wants::named(self.coding.as_deref(), rate.transpose()?).map_err(ApiError::invalid)?;
        let (limit, wants) = (limit.into(), wants.unwrap_or(usual));
        let (explain, relaxed) = (self.explain, !self.exact);
        let options =
            SearchOptions { limit, shared: relaxed, after, wants, explain, relaxed, ..SearchOptions::default() };
        Ok((query, literally, options))
    }
}

/// The languages that a request accepts.
pub(super) fn languages(headers: &HeaderMap) -> Languages {
    let accepted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    accepted.map(Languages::accepted).unwrap_or_default()
}

/// Says that a query was taken literally, and why.
pub(super) fn note(why: &QueryError) -> String {
    format!("searched for as it is written: {why}")
}

/// Parses a cursor that an earlier answer contained.
pub(super) fn cursor(text: &str) -> Result<Place, ApiError> {
    let no_cursor = "this is not a cursor; copy it from the last line of an answer: it has 48 hexadecimal digits";
    text.parse().map_err(|_| ApiError::invalid(no_cursor))
}
