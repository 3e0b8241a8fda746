//! The answer to `GET /search?format=json`: one JSON document with the fields that clients of SearXNG and Searx read,
//! and some of our own.

use axum::response::Response;
use furui_search::{ContentId, Place, PublisherKey};
use serde::Serialize;
use url::Url;

use super::answer::RunningSearch;
use super::estimate::estimate;
use super::lines::json;
use super::shown_url::link;
use super::{ApiError, Shown, Summary};
use crate::node::{Hit, Instead, SearchEvent};

/// The name of this search engine among those that a client asks.
const ENGINE: &str = "furui";

/// The document. `None` and empty lists are in it, because clients expect all fields.
#[derive(Serialize)]
struct Answer<'a> {
    query: &'a str,
    /// Exact on the last page of a search from the beginning, else estimated.
    number_of_results: u64,
    results: Vec<Found<'a>>,
    answers: [(); 0],
    /// The query that was searched for in place of one that finds nothing, because of its spelling.
    corrections: Vec<String>,
    infoboxes: [(); 0],
    suggestions: [(); 0],
    unresponsive_engines: [(); 0],
    // The rest is our own.
    cursor: Option<Place>,
    whole: bool,
    bounded: bool,
    bytes: u64,
    /// What the user should know of the results.
    notes: Vec<String>,
}

/// A result.
#[derive(Serialize)]
struct Found<'a> {
    url: String,
    title: String,
    content: String,
    score: f64,
    /// Always null: documents have no dates.
    #[serde(rename = "publishedDate")]
    published_date: (),
    engine: &'static str,
    engines: [&'static str; 1],
    category: &'static str,
    /// The rank, from 1 on.
    positions: [u64; 1],
    // The rest is our own.
    id: ContentId,
    publishers: &'a [PublisherKey],
    trusted: bool,
}

/// Waits for the end of a search for `query`, of which the user should know `notes`, and makes the response with its
/// results after the first `skipped` ones. `is_first` is
/// true if the search began with the best document.
///
/// # Errors
/// If the search is not completed; its first results are not sent then.
pub(super) async fn answer(
    mut search: RunningSearch,
    (query, mut notes): (&str, Vec<String>),
    skipped: u64,
    is_first: bool,
) -> Result<Response, ApiError> {
    let (mut hits, mut ranks, mut corrections) = (vec![], 1.., vec![]);
    let (found, cursor, whole, report) = loop {
        match search.next().await? {
            // The results of earlier pages take no memory.
            SearchEvent::Hits(more) => {
                hits.extend(more.into_iter().zip(&mut ranks).filter(|(_, rank)| *rank > skipped))
            }
            SearchEvent::Instead(instead) => {
                notes.push(instead.to_string());
                if let Instead::Corrected { query } = instead {
                    corrections.push(query);
                }
            }
            SearchEvent::Done { found, cursor, whole, report } => break (found, cursor, whole, report),
        }
    };
    let about = estimate(&report).unwrap_or(0).max(found + u64::from(cursor.is_some()));
    let number_of_results = if cursor.is_none() && is_first { found } else { about };
    let results = hits.iter().filter_map(|(hit, rank)| result(hit, *rank));
    let Summary { bytes, cursor, whole, bounded, .. } = Summary::new(found, cursor, whole, &report);
    Ok(json(&Answer {
        query,
        number_of_results,
        results: results.collect(),
        answers: [],
        corrections,
        infoboxes: [],
        suggestions: [],
        unresponsive_engines: [],
        cursor,
        whole,
        bounded,
        bytes,
        notes,
    }))
}

/// A result of the web, or a file. `None` for others, because clients make links of URLs, and for a document of which
/// no node that keeps it answers.
fn result(hit: &Hit, rank: u64) -> Option<Found<'_>> {
    let file = || Url::parse(&hit.url).ok().filter(|url| url.scheme() == "file").map(|_| hit.url.clone());
    let shown = |text| Shown::new(text, &[], usize::MAX).text;
    Some(Found {
        url: link(&hit.url).or_else(file)?,
        title: shown(&hit.title),
        content: shown(&hit.snippet),
        score: hit.score,
        published_date: (),
        engine: ENGINE,
        engines: [ENGINE],
        category: "general",
        positions: [rank],
        id: hit.id,
        publishers: &hit.publishers,
        trusted: hit.trusted,
    })
}
