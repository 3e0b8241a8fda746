use std::collections::HashMap;
use std::sync::atomic::Ordering;

use furui_search::{Query, list_of};
use tokio::sync::mpsc;

use crate::node::{Hit, Instead, Node, SearchError, SearchEvent, SearchOptions};

/// The number of events that a search for another query may send before they are read.
const WAITING: usize = 16;
/// The maximum number of queries with two words written as one that are tried. Chosen: few people write more words.
const JOINED: usize = 4;

impl Node {
    /// Searches for documents. Sends the events of the answer to `events`; the last one is [`SearchEvent::Done`]. Stops
    /// early if the receiver is dropped.
    ///
    /// If no document fits, [`relaxed`](SearchOptions::relaxed) is true and the query consists of words only, another
    /// query is searched for, which [`SearchEvent::Instead`] names before its documents: one with words that the
    /// network has in the places of those that it does not have, then, if it has all, one with two neighbouring words
    /// written as one, and then those for documents with most of the words.
    ///
    /// # Errors
    /// If the query is invalid, or none of the nodes that keep the list of a word answers.
    pub async fn search(
        &self,
        query: &Query,
        options: SearchOptions,
        events: mpsc::Sender<SearchEvent>,
    ) -> Result<(), SearchError> {
        self.0.searches.fetch_add(1, Ordering::Relaxed);
        let clauses = if options.relaxed { query.clauses_with_names() } else { query.clauses().to_vec() };
        let Some(mut done) = self.search_once(&clauses, &options, &events).await? else { return Ok(()) };
        if options.relaxed && options.after.is_none() && is_empty(&done) {
            let Some(other) = self.search_instead(query, &options, &done).await? else {
                let _ = events.send(done).await;
                return Ok(());
            };
            let (instead, hits, mut its_end) = other;
            // That nothing has all words is not known if a list was not whole.
            if let (SearchEvent::Done { whole: false, .. }, SearchEvent::Done { whole, .. }) = (&done, &mut its_end) {
                *whole = false;
            }
            // Sending fails if the receiver was dropped.
            let _ = events.send(SearchEvent::Instead(instead)).await;
            let _ = events.send(SearchEvent::Hits(hits)).await;
            done = its_end;
        }
        let _ = events.send(done).await;
        Ok(())
    }

    /// Searches for other queries than this one, whose search has ended so. Returns the first that finds something,
    /// with what it finds. `None` if none does.
    async fn search_instead(
        &self,
        query: &Query,
        options: &SearchOptions,
        end: &SearchEvent,
    ) -> Result<Option<(Instead, Vec<Hit>, SearchEvent)>, SearchError> {
        let (Some(words), SearchEvent::Done { report, .. }) = (query.plain_words(), end) else { return Ok(None) };
        let mut sizes: HashMap<&str, u64> = report.words.iter().map(|it| (&*it.word, it.size)).collect();
        let unknown = words.iter().filter(|word| sizes.get(&***word) == Some(&0)).cloned().collect();
        let nearest = self.nearest(unknown).await;
        let corrected = query.corrected(&nearest).filter(|_| !nearest.is_empty());
        if let Some(corrected) = &corrected
            && let Some((hits, done)) = self.collect(corrected, options).await?
        {
            let text = corrected.plain_words().unwrap_or_default().join(" ");
            return Ok(Some((Instead::Corrected { query: text }, hits, done)));
        }
        let mut joined = query.joined();
        joined.retain(|_| nearest.is_empty());
        for joined in joined.into_iter().take(JOINED) {
            if let Some((hits, done)) = self.collect(&joined, options).await? {
                let text = joined.plain_words().unwrap_or_default().join(" ");
                return Ok(Some((Instead::Corrected { query: text }, hits, done)));
            }
        }
        // The sizes of the lists of corrected words are not known here, but they are not empty.
        nearest.values().flat_map(|words| words.split(' ')).for_each(|word| {
            sizes.insert(word, 1);
        });
        for relaxed in corrected.as_ref().unwrap_or(query).relaxed(&sizes) {
            if let Some((hits, done)) = self.collect(&relaxed, options).await? {
                let asked = words.iter().filter(|word| !nearest.contains_key(*word));
                let missing = asked.filter(|word| sizes.get(&***word) == Some(&0));
                let missing = missing.map(|word| list_of(word).into_owned()).collect();
                return Ok(Some((Instead::Most { missing }, hits, done)));
            }
        }
        Ok(None)
    }

    /// The documents that a query finds, and the last event of its search; `None` if there are none. A further search
    /// cannot continue after them, because it would be one for another query.
    async fn collect(
        &self,
        query: &Query,
        options: &SearchOptions,
    ) -> Result<Option<(Vec<Hit>, SearchEvent)>, SearchError> {
        let (sender, mut receiver) = mpsc::channel(WAITING);
        let search = async {
            let done = self.search_once(query.clauses(), options, &sender).await;
            drop(sender);
            done
        };
        let receive = async {
            let mut hits = Vec::new();
            while let Some(event) = receiver.recv().await {
                if let SearchEvent::Hits(more) = event {
                    hits.extend(more);
                }
            }
            hits
        };
        let (done, hits) = tokio::join!(search, receive);
        let done = done?.filter(|_| !hits.is_empty());
        Ok(done.map(|done| match done {
            SearchEvent::Done { found, passed_over, whole, report, .. } => {
                (hits, SearchEvent::Done { found, passed_over, cursor: None, whole, report })
            }
            other => (hits, other),
        }))
    }
}

/// True if a search has found nothing, and nothing is left to look at.
fn is_empty(done: &SearchEvent) -> bool {
    matches!(done, SearchEvent::Done { found: 0, cursor: None, .. })
}
