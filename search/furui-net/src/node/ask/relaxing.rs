use std::collections::HashMap;
use std::sync::atomic::Ordering;

use furui_search::{Query, list_of};
use tokio::sync::mpsc;

use crate::node::{Hit, Instead, Node, SearchError, SearchEvent, SearchOptions};

/// The number of events that a search for another query may send before they are read.
const WAITING: usize = 16;
/// The maximum number of queries with two words written as one that are tried. Chosen: few people write more words.
const JOINED: usize = 4;

/// The maximum number of queries with other spellings that are tried. Measured on manuals: of those whose first spelling
/// finds nothing, most find what is meant with the second.
const CORRECTED: usize = 3;

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
            let mut tried = Tried { node: self, options: &options, done };
            let found = tried.search_instead(query).await?;
            done = tried.done;
            if let Some((instead, hits)) = found {
                // Sending fails if the receiver was dropped.
                let _ = events.send(SearchEvent::Instead(instead)).await;
                let _ = events.send(SearchEvent::Hits(hits)).await;
            }
        }
        let _ = events.send(done).await;
        Ok(())
    }
}

/// Searches for one query after the other until one finds something.
struct Tried<'a> {
    node: &'a Node,
    options: &'a SearchOptions,
    /// The end of the last search, with the messages of all.
    done: SearchEvent,
}

impl Tried<'_> {
    /// Searches for other queries than this one, the last one that was searched for, which has found nothing. Returns
    /// what the first finds that finds something. `None` if none does.
    async fn search_instead(&mut self, query: &Query) -> Result<Option<(Instead, Vec<Hit>)>, SearchError> {
        let unquoted = query.unquoted();
        if let Some(unquoted) = &unquoted
            && let Some(hits) = self.collect(unquoted).await?
        {
            return Ok(Some((Instead::Unquoted, hits)));
        }
        let query = unquoted.as_ref().unwrap_or(query);
        let (Some(words), SearchEvent::Done { report, .. }) = (query.plain_words(), &self.done) else {
            return Ok(None);
        };
        let mut sizes: HashMap<String, u64> = report.words.iter().map(|it| (it.word.clone(), it.size)).collect();
        let unknown = words.iter().filter(|word| sizes.get(*word) == Some(&0)).cloned().collect();
        let nearest = self.node.nearest(unknown).await;
        // The first word may be one that no document has together with the others.
        let others = nearest.values().map(Vec::len).max().unwrap_or_default().min(CORRECTED);
        let chosen = |at: usize| -> HashMap<String, String> {
            let of =
                |(word, meant): (&String, &Vec<String>)| Some((word.clone(), meant.get(at).or(meant.last())?.clone()));
            nearest.iter().filter_map(of).collect()
        };
        for at in 0..others {
            if let Some(corrected) = query.corrected(&chosen(at))
                && let Some(hits) = self.collect(&corrected).await?
            {
                let text = corrected.plain_words().unwrap_or_default().join(" ");
                return Ok(Some((Instead::Corrected { query: text }, hits)));
            }
        }
        let nearest = chosen(0);
        let corrected = query.corrected(&nearest).filter(|_| !nearest.is_empty());
        let mut joined = query.joined();
        joined.retain(|_| nearest.is_empty());
        for joined in joined.into_iter().take(JOINED) {
            if let Some(hits) = self.collect(&joined).await? {
                let text = joined.plain_words().unwrap_or_default().join(" ");
                return Ok(Some((Instead::Corrected { query: text }, hits)));
            }
        }
        // The sizes of the lists of corrected words are not known here, but they are not empty.
        nearest.values().flat_map(|words| words.split(' ')).for_each(|word| {
            sizes.insert(word.to_owned(), 1);
        });
        for relaxed in corrected.as_ref().unwrap_or(query).relaxed(&sizes) {
            if let Some(hits) = self.collect(&relaxed).await? {
                let asked = words.iter().filter(|word| !nearest.contains_key(*word));
                let missing = asked.filter(|word| sizes.get(*word) == Some(&0));
                let missing = missing.map(|word| list_of(word).into_owned()).collect();
                return Ok(Some((Instead::Most { missing }, hits)));
            }
        }
        Ok(None)
    }

    /// The documents that a query finds; `None` if there are none. A further search cannot continue after them, because
    /// it would be one for another query.
    async fn collect(&mut self, query: &Query) -> Result<Option<Vec<Hit>>, SearchError> {
        let (sender, mut receiver) = mpsc::channel(WAITING);
        let search = async {
            let done = self.node.search_once(query.clauses(), self.options, &sender).await;
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
        if let (
            Some(SearchEvent::Done { found, passed_over, whole, mut report, .. }),
            SearchEvent::Done { whole: was_whole, report: earlier, .. },
        ) = (done?, &self.done)
        {
            report.add_messages(earlier);
            // That nothing has all words is not known if a list was not whole.
            let whole = whole && *was_whole;
            self.done = SearchEvent::Done { found, passed_over, cursor: None, whole, report };
        }
        Ok((!hits.is_empty()).then_some(hits))
    }
}

/// True if a search has found nothing, and nothing is left to look at.
fn is_empty(done: &SearchEvent) -> bool {
    matches!(done, SearchEvent::Done { found: 0, cursor: None, .. })
}
