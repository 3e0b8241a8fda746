//! Collects the answer to a search.

use std::collections::BTreeSet;

use furui_net::node::{Hit, Node, SearchError, SearchEvent, SearchOptions};
use furui_search::{ContentId, Place, Query, Report, limits};
use tokio::sync::mpsc;

/// The answer to a search.
pub struct Answer {
    pub hits: Vec<Hit>,
    /// Where the answer goes on, if there are more documents.
    pub cursor: Option<Place>,
    pub whole: bool,
    pub report: Report,
}

impl Answer {
    pub fn ids(&self) -> BTreeSet<ContentId> {
        self.hits.iter().map(|hit| hit.id).collect()
    }

    /// The places of the documents.
    pub fn places(&self) -> Vec<Place> {
        let score = |hit: &Hit| (hit.score * f64::from(Place::ONE)) as u32;
        self.hits.iter().map(|hit| Place { score: score(hit), id: hit.id }).collect()
    }

    /// The URLs of the documents, in their order. Fails if some could not be shown.
    pub fn urls(&self) -> Vec<String> {
        let urls = self.hits.iter().map(|hit| hit.url.clone());
        urls.inspect(|url| assert_ne!(url, "")).collect()
    }

    /// The titles of the documents, in their order; empty for those that could not be shown.
    pub fn titles(&self) -> Vec<&str> {
        self.hits.iter().map(|hit| &*hit.title).collect()
    }
}

/// Searches, and checks that no document comes twice and that the documents are counted.
pub async fn search(node: &Node, query: &str, options: SearchOptions) -> Result<Answer, SearchError> {
    let (events, mut came) = mpsc::channel(16);
    let query = Query::parse(query).unwrap();
    let collect = async {
        let (mut hits, mut end) = (Vec::new(), None);
        while let Some(event) = came.recv().await {
            match event {
                SearchEvent::Hits(more) => hits.extend(more),
                SearchEvent::Instead(instead) => panic!("{instead}"),
                SearchEvent::Done { found, cursor, whole, report, .. } => end = Some((found, cursor, whole, *report)),
            }
        }
        (hits, end)
    };
    let (done, (hits, end)) = tokio::join!(node.search(&query, options, events), collect);
    done?;
    let (found, cursor, whole, report) = end.unwrap();
    let answer = Answer { hits, cursor, whole, report };
    assert_eq!((answer.hits.len() as u64, answer.ids().len() as u64), (found, found));
    Ok(answer)
}

/// Searches for the best documents, at most `limit`.
pub async fn best(node: &Node, query: &str, limit: u64) -> Answer {
    let options = SearchOptions { limit, ..SearchOptions::default() };
    let answer = search(node, query, options).await.unwrap();
    assert!(answer.places().is_sorted());
    answer
}

/// Options for all documents of an answer that has no more than one search can find.
pub fn all() -> SearchOptions {
    SearchOptions { limit: limits::PAGE as u64, ..SearchOptions::default() }
}
