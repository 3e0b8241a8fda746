use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use furui_search::{
    Clause, KnownWord, Peer, Place, Querier, QueryEvent, QueryOptions, Response, Showings, Wants, limits, list_of,
};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::meters::make_room;
use crate::node::filling::Filling;
use crate::node::{Hit, Languages, Node, SearchError, SearchEvent, doubts, showing, word_key};

/// The time for which the size of a word's list and the nodes known to keep it are reused. The value is a choice, not a
/// measurement.
const KNOWN_LIFE: Duration = Duration::from_secs(60);
/// The maximum number of words for which the size of the list, and the nodes that keep it, are remembered. The value is
/// a choice, not a measurement.
const KNOWN_WORDS: usize = 1 << 14;

/// The options of a search in the network.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// The number of documents to find, those that rank best; at most [`limits::PAGE`].
    pub limit: u64,
    /// True if several publishers share the limit, so that nobody fills a page alone: of one whom the owner does not
    /// trust, two documents count. When as many documents are found as the limit says, others of his are [passed
    /// over](crate::node::PassedOver); the search finds and passes over at most [`FURTHER`](crate::node::FURTHER) that
    /// do not count.
    pub shared: bool,
    /// The place after which the search continues: the cursor of an earlier search.
    pub after: Option<Place>,
    /// The encoding in which nodes send each other sets of documents.
    pub wants: Wants,
    /// True if the report describes each round of the search.
    pub explain: bool,
    /// True if what people mean is searched for, and not only what they have written: if no document fits, another
    /// query is searched for ([`Instead`](crate::node::Instead)), and of the documents that are found at a time, those
    /// come first in which the words are [near](Hit::nearness) each other. Otherwise the order is that of the scores.
    pub relaxed: bool,
    /// The languages of whoever searches. Of the documents that a relaxed search finds at a time, those in other
    /// languages come last.
    pub languages: Languages,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            limit: 20,
            shared: false,
            after: None,
            wants: Wants::Best,
            explain: false,
            relaxed: false,
            languages: Languages::default(),
        }
    }
}

/// A cache of the sizes of words' lists and of the nodes that keep them, filled by earlier searches.
#[derive(Default)]
pub(in crate::node) struct KnownTerms {
    terms: Mutex<HashMap<String, (Instant, KnownWord)>>,
}

impl KnownTerms {
    fn of(&self, clauses: &[Clause]) -> Vec<KnownWord> {
        let terms = self.terms.lock().unwrap_or_else(PoisonError::into_inner);
        let words = clauses.iter().flat_map(|clause| clause.must.iter().chain(&clause.without));
        let words: HashSet<&String> = words.collect();
        let known = words.into_iter().filter_map(|word| terms.get(word));
        known.filter(|(at, _)| at.elapsed() < KNOWN_LIFE).map(|(_, word)| word.clone()).collect()
    }

    fn learn(&self, learnt: impl Iterator<Item = KnownWord>) {
        let mut terms = self.terms.lock().unwrap_or_else(PoisonError::into_inner);
        // An empty list is not remembered, because the next document may change it.
        for word in learnt.filter(|word| word.term.size > 0) {
            // A word whose figures and keepers have not changed keeps its age. The order of the keepers does not
            // matter.
            let name = word.term.word.clone();
            let kept = terms.get(&name).filter(|(at, known)| at.elapsed() < KNOWN_LIFE && is_same(known, &word));
            let at = kept.map_or_else(Instant::now, |(at, _)| *at);
            make_room(&mut terms, &name, KNOWN_WORDS, |(at, _)| *at);
            terms.insert(name, (at, word));
        }
    }

    /// Removes these words from the cache, because their lists contain false postings that will soon be removed, so
    /// that the cached sizes become wrong.
    fn doubt<'a>(&self, words: impl Iterator<Item = &'a String>) {
        let mut terms = self.terms.lock().unwrap_or_else(PoisonError::into_inner);
        words.for_each(|word| {
            terms.remove(word);
        });
    }

    /// Empties the cache, because lists, or the nodes that keep them, have changed.
    pub(in crate::node) fn forget(&self) {
        self.terms.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// True if the two words have lists of the same size and mean length, kept by the same nodes.
fn is_same(one: &KnownWord, other: &KnownWord) -> bool {
    let (holders, others) = (&one.term.holders, &other.term.holders);
    let are_kept_alike = holders.len() == others.len() && holders.iter().all(|it| others.contains(it));
    (one.term.size, one.log_length) == (other.term.size, other.log_length) && are_kept_alike
}

/// A message for the querier, the state machine of a search.
enum Outcome {
    Holders { word: String, holders: Vec<Peer> },
    Answer { from: Peer, call: u64, response: Option<Response> },
}

impl Node {
    /// Searches once for documents that fit the clauses, and sends those found to `events`. Returns the last event of
    /// the answer; `None` if the receiver was dropped, and the search stopped.
    ///
    /// # Errors
    /// Those of [`search`](Self::search).
    pub(in crate::node) async fn search_once(
        &self,
        clauses: &[Clause],
        options: &SearchOptions,
        events: &mpsc::Sender<SearchEvent>,
    ) -> Result<Option<SearchEvent>, SearchError> {
        let inner = &*self.0;
        let started = Instant::now();
        let showings = Showings::new(clauses).expect("a query has half as many phrases as words at most");
        let has_phrases = clauses.iter().any(Clause::has_phrases);
        let mut filling = Filling::new(inner, clauses, &showings, options);
        let asked = QueryOptions {
            page: filling.page(),
            // The number of candidates that a query with phrases needs is unknown before some were examined.
            limit: if has_phrases { limits::PAGE as u64 } else { options.limit },
            after: options.after,
            wants: options.wants,
            hosts: if inner.net.is_private() { 1 } else { limits::HOSTS },
            trusting: inner.net.is_private(),
            salt: furui::HashSpec::random().seed,
            explain: options.explain,
        };
        let querier = Querier::new(clauses, inner.known.of(clauses), asked);
        let mut querier = querier.map_err(SearchError::Refused)?;
        querier.ask_last(inner.reputation.to_ask_last());
        // Dropping the set at the end of this function ends all tasks of the search.
        let mut tasks = JoinSet::new();
        let mut shown = HashSet::new();
        loop {
            while let Some(event) = querier.poll(started.elapsed()) {
                match event {
                    QueryEvent::Lookup { word } => {
                        let reputation = inner.reputation.clone();
                        // One keeper could name its accomplices as the other keepers, so all keepers are looked up
                        // independently.
                        tasks.spawn(async move {
                            let holders = reputation.keepers(&word_key(&list_of(&word)), limits::REPLICAS).await;
                            Outcome::Holders { word, holders }
                        });
                    }
                    QueryEvent::Send { to, call: number, request } => {
                        let reputation = inner.reputation.clone();
                        tasks.spawn(async move {
                            let response = reputation.ask(&to, request).await;
                            Outcome::Answer { from: to, call: number, response }
                        });
                    }
                    QueryEvent::Prove { word, ids } => {
                        let proof = showing::prove(inner, list_of(&word).into_owned(), &ids).await;
                        querier.on_proof(&word, &proof.holds);
                        filling.gathering.spent.add(proof.spent);
                        filling.doubts.extend(proof.doubts);
                    }
                    QueryEvent::Shun { peer } => inner.reputation.shun(peer).await,
                    QueryEvent::Page { mut places } => {
                        // If keepers state different scores for a document, the document occurs several times.
                        places.retain(|place| shown.insert(place.id));
                        let mut hits = filling.sift(&mut querier, places).await;
                        if options.relaxed {
                            let score = |hit: &Hit| hit.score * hit.nearness;
                            hits.sort_by(|one, other| score(other).total_cmp(&score(one)));
                            hits.sort_by_cached_key(|hit| options.languages.lack(hit));
                        }
                        if events.is_closed() || !hits.is_empty() && events.send(SearchEvent::Hits(hits)).await.is_err()
                        {
                            return Ok(None);
                        }
                        if filling.is_done() {
                            return Ok(Some(self.end(&mut filling, &querier, true, events).await));
                        }
                    }
                    QueryEvent::Done { more, .. } => {
                        let Some(missing) = filling.missing().filter(|_| more) else {
                            return Ok(Some(self.end(&mut filling, &querier, more, events).await));
                        };
                        querier.resume(missing.clamp(1, limits::PAGE as u64));
                    }
                    QueryEvent::Failed { word } => return Err(SearchError::Unreachable { word }),
                }
            }
            let deadline = querier.deadline().unwrap_or(Duration::MAX).min(started.elapsed() + KNOWN_LIFE);
            tokio::select! {
                Some(Ok(outcome)) = tasks.join_next() => match outcome {
                    Outcome::Holders { word, holders } => querier.on_holders(&word, holders, started.elapsed()),
                    Outcome::Answer { from, call, response: Some(response) } => {
                        // The querier may have reported this peer as slow before.
                        inner.reputation.forgive(&from);
                        querier.on_response(call, response, started.elapsed());
                    }
                    Outcome::Answer { call, response: None, .. } => querier.on_failure(call, started.elapsed()),
                },
                () = tokio::time::sleep_until(started + deadline) => {}
                () = events.closed() => return Ok(None),
            }
        }
    }

    /// Sends the last documents of an answer, reports false postings to the nodes that keep the lists, and returns the
    /// last event.
    async fn end(
        &self,
        filling: &mut Filling<'_>,
        querier: &Querier,
        more: bool,
        events: &mpsc::Sender<SearchEvent>,
    ) -> SearchEvent {
        self.0.known.learn(querier.known());
        let doubts = std::mem::take(&mut filling.doubts);
        if !doubts.is_empty() {
            self.0.known.doubt(doubts.iter().map(|(word, _)| word));
            doubts::tell(self.0.net.clone(), doubts);
        }
        let rest = if more { vec![] } else { filling.release(None) };
        filling.continue_before_passed();
        if !rest.is_empty() {
            // Sending fails if the receiver was dropped.
            let _ = events.send(SearchEvent::Hits(rest)).await;
        }
        filling.done(querier, more)
    }
}

#[cfg(test)]
mod tests {
    use furui_search::Term;

    use super::*;

    #[test]
    fn many_new_words_displace_the_oldest_and_no_others() {
        let known = KnownTerms::default();
        let name = |number: usize| format!("word{number}");
        let word = |number| {
            let term = Term { word: name(number), size: 1, holders: vec![] };
            KnownWord { term, log_length: 8 }
        };
        (0..KNOWN_WORDS + 100).for_each(|number| known.learn([word(number)].into_iter()));
        let must = (0..KNOWN_WORDS + 100).map(name).collect();
        let mut words: Vec<String> =
            known.of(&[Clause { must, ..Clause::default() }]).into_iter().map(|known| known.term.word).collect();
        let mut newest: Vec<String> = (100..KNOWN_WORDS + 100).map(name).collect();
        words.sort();
        newest.sort();
        assert!(words == newest);
    }
}
