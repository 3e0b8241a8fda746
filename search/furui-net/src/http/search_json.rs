//! The answer to `GET /search?format=json`: one JSON document with the fields that clients of SearXNG and Searx read,
//! and some of our own.

use axum::response::Response;
use furui_search::{ContentId, Place, PublisherKey, Query};
use serde::Serialize;
use url::Url;

use super::answer::RunningSearch;
use super::arranged::Arranged;
use super::estimate::estimate;
use super::lines::json;
use super::shown_url::link;
use super::{ApiError, Backend, Face, Shown, Summary};
use crate::node::{Hit, Instead, PassedOver, SearchEvent, SearchOptions};

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
    /// The results that are left out because their publishers have their places.
    more: Vec<PassedOver>,
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

/// Searches for the `number`-th page, from 1 on, of the documents that fit a query, and makes the response. Each page
/// before it is searched for, too, because which results are on it depends on theirs. `text` is the query as it was
/// sent, and `notes` is what the user should know of it.
///
/// # Errors
/// If a search is not completed; its first results are not sent then.
pub(super) async fn answer<N: Backend>(
    face: &Face<N>,
    (query, text, notes): (&Query, &str, Vec<String>),
    options: SearchOptions,
    number: u32,
) -> Result<Response, ApiError> {
    let is_first = options.after.is_none();
    let mut page = Page::search(face, query.clone(), options.clone()).await?;
    let (mut earlier, mut earlier_all, mut bytes) = (0, 0, page.summary.bytes);
    for _ in 1..number {
        (earlier, earlier_all) = (earlier + page.summary.total, earlier_all + page.all());
        page.hits.clear();
        (page.summary.total, page.summary.more) = (0, vec![]);
        let after = page.summary.cursor;
        if after.is_none() {
            break;
        }
        page = Page::search(face, query.clone(), SearchOptions { after, ..options.clone() }).await?;
        bytes += page.summary.bytes;
    }
    let all = earlier_all + page.all();
    let Page { hits, summary, about, instead } = page;
    let number_of_results = match summary.cursor {
        None if is_first => all,
        cursor => about.unwrap_or(0).max(all + u64::from(cursor.is_some())),
    };
    let notes = notes.into_iter().chain(instead.iter().map(Instead::to_string));
    let corrected = |instead| match instead {
        Instead::Corrected { query } => Some(query),
        Instead::Unquoted | Instead::Forms { .. } | Instead::Most { .. } => None,
    };
    Ok(json(&Answer {
        query: text,
        number_of_results,
        results: hits.iter().zip(earlier + 1..).filter_map(|(hit, rank)| result(hit, rank)).collect(),
        answers: [],
        notes: notes.collect(),
        corrections: instead.and_then(corrected).into_iter().collect(),
        infoboxes: [],
        suggestions: [],
        unresponsive_engines: [],
        cursor: summary.cursor,
        whole: summary.whole,
        bounded: summary.bounded,
        bytes,
        more: summary.more,
    }))
}

/// A page of results.
struct Page {
    hits: Vec<Hit>,
    summary: Summary,
    /// About how many documents fit.
    about: Option<u64>,
    /// The query that was searched for instead.
    instead: Option<Instead>,
}

impl Page {
    async fn search<N: Backend>(face: &Face<N>, query: Query, options: SearchOptions) -> Result<Self, ApiError> {
        // The number of all results is estimated from what the report says of each round.
        let options = SearchOptions { explain: true, ..options };
        let (mut arranged, mut hits, mut instead) = (Arranged::of(&options), vec![], None);
        let mut search = RunningSearch::begin(face, query, options)?;
        loop {
            match search.next().await? {
                SearchEvent::Hits(more) => hits.extend(arranged.add(more)),
                SearchEvent::Instead(other) => instead = Some(other),
                SearchEvent::Done { passed_over: mut more, cursor, whole, report, .. } => {
                    hits.extend(arranged.end(&mut more));
                    let summary = Summary::new(arranged.sent(), more, cursor, whole, &report);
                    return Ok(Self { hits, summary, about: estimate(&report), instead });
                }
            }
        }
    }

    /// The number of its results, those included that are left out.
    fn all(&self) -> u64 {
        self.summary.total + self.summary.more.iter().map(|it| it.documents).sum::<u64>()
    }
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
