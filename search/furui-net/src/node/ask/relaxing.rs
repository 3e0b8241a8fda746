use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;

use furui_search::{Clause, ContentId, Query, list_of};
use tokio::sync::mpsc;

use crate::node::{Hit, Instead, Node, SearchError, SearchEvent, SearchOptions};

/// The number of events that a search for another query may send before they are read.
const WAITING: usize = 16;
/// With fewer documents than this, those with other forms of the words are searched for, too. Chosen: a page.
const FEW: usize = 10;
/// The maximum number of queries with two words written as one that are tried. Chosen: few people write more words.
const JOINED: usize = 4;

/// The maximum number of queries with other spellings that are tried. The value is a choice, not a measurement.
const CORRECTED: usize = 3;

impl Node {
    /// Searches for documents. Sends the events of the answer to `events`; the last one is [`SearchEvent::Done`]. Stops
    /// early if the receiver is dropped.
    ///
    /// If no document fits, [`relaxed`](SearchOptions::relaxed) is true and the query consists of words only, another
    /// query is searched for, which [`SearchEvent::Instead`] names before its documents: one with words that the
    /// network has in the places of those that it does not have, then, if it has all, one with two neighbouring words
    /// written as one, one with other forms of the words, and then those for documents with most of the words. If fewer
    /// than ten fit, those with other forms of the words come after them.
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
        let is_relaxed = options.relaxed && options.after.is_none();
        let (done, shown) = self.search_noting(&clauses, &options, &events).await?;
        let Some(mut done) = done else { return Ok(()) };
        if is_relaxed && shown.len() < FEW && is_over(&done) {
            let mut tried = Tried { node: self, options: &options, done };
            let found = match shown.is_empty() {
                true => tried.search_instead(query).await?,
                false => tried.search_forms(query, &tried.sizes(), &shown).await?,
            };
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

    /// Searches as [`search_once`](Self::search_once) does, and returns the documents that were found, too.
    async fn search_noting(
        &self,
        clauses: &[Clause],
        options: &SearchOptions,
        events: &mpsc::Sender<SearchEvent>,
    ) -> Result<(Option<SearchEvent>, HashSet<ContentId>), SearchError> {
        let (sender, mut receiver) = mpsc::channel(WAITING);
        let search = async {
            let done = self.search_once(clauses, options, &sender).await;
            drop(sender);
            done
        };
        let note = async {
            let mut shown = HashSet::new();
            while let Some(event) = tokio::select! { event = receiver.recv() => event, () = events.closed() => None } {
                if let SearchEvent::Hits(hits) = &event {
                    shown.extend(hits.iter().map(|hit| hit.id));
                }
                if events.send(event).await.is_err() {
                    break;
                }
            }
            // A search ends when its events are not received any more.
            receiver.close();
            shown
        };
        let (done, shown) = tokio::join!(search, note);
        Ok((done?, shown))
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
        let Some(words) = query.plain_words() else { return Ok(None) };
        let mut sizes = self.sizes();
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
        if nearest.is_empty()
            && let Some(found) = self.search_forms(query, &sizes, &HashSet::new()).await?
        {
            return Ok(Some(found));
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

    /// The numbers of documents with each word of the last search, as far as they are known.
    fn sizes(&self) -> HashMap<String, u64> {
        let SearchEvent::Done { report, .. } = &self.done else { return HashMap::new() };
        report.words.iter().map(|it| (it.word.clone(), it.size)).collect()
    }

    /// Searches for documents with other forms of the words, without those that are shown already, for a query that has
    /// found fewer than ten, and for whose words these are the numbers of documents. Returns them with the forms;
    /// `None` if there are none.
    async fn search_forms(
        &mut self,
        query: &Query,
        sizes: &HashMap<String, u64>,
        shown: &HashSet<ContentId>,
    ) -> Result<Option<(Instead, Vec<Hit>)>, SearchError> {
        let mut words = query.plain_words().unwrap_or_default().to_vec();
        words.sort_by_key(|word| sizes.get(word));
        let forms = self.node.forms(&words, &self.options.languages).await;
        let Some(others) = query.with_forms(&forms) else { return Ok(None) };
        let mut hits = self.collect(&others).await?.unwrap_or_default();
        hits.retain(|hit| !shown.contains(&hit.id));
        hits.truncate(usize::try_from(self.options.limit).unwrap_or(usize::MAX).saturating_sub(shown.len()));
        let before = shown.len() as u64;
        if let SearchEvent::Done { found, .. } = &mut self.done {
            *found = before + hits.len() as u64;
        }
        let forms = forms.into_iter().flat_map(|(_, forms)| forms).collect();
        Ok((!hits.is_empty()).then_some((Instead::Forms { forms, found: before }, hits)))
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

/// True if nothing is left for the search to look at.
fn is_over(done: &SearchEvent) -> bool {
    matches!(done, SearchEvent::Done { cursor: None, .. })
}
