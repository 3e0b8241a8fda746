//! The querying side of a search.

mod asking;
mod blame;
mod branch;
mod calls;
mod disputes;
mod event;
mod honest;
mod options;
mod pages;
mod panel;
mod report;
mod resuming;
mod sizing;
mod slices;
mod top;
mod weighing;
mod word;
mod words;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::message::Response;
use super::{Clause, ContentId, Peer, Place};
use branch::Branch;
use calls::{Call, Calls, Of};
use disputes::Disputes;
use panel::Panel;
use slices::Traffic;
use top::Top;
use word::Word;
use words::{Measure, Words};

pub use event::QueryEvent;
pub use options::{QueryOptions, QueryRefused};
pub use report::{Report, Round, WordReport};
pub use word::KnownWord;

/// After this number of consecutive failures, the words' nodes are looked up again. After each earlier failure, another
/// node that keeps the list is asked.
const FAILURES_A_PASS: u32 = 3;
/// The maximum number of look-ups, for each word, of the nodes that keep its list.
const PASSES: u32 = 2;

/// Runs a query: determines the sizes of its words' lists and the nodes that keep them (the keepers), and returns pages
/// of document ids in rank order. The keeper of the shortest list finds the documents, in one part (a slice) of its
/// list after the other.
///
/// ```text
///  new ─▶ Lookup ─▶ on_holders ─▶ Send Size ─▶ on_response ─▶ Send Search ─▶ on_response ─▶ Page … Done
///                └─── a word known from an earlier query skips these ───┘      ▲        │
///                                                                              └─ slice ┘
/// ```
///
/// A query of two known words needs one search with one exchange: together two round trips, or three if the exchange
/// has a third message. Only exchanges of large sets have a third message; if a page is requested, the sets must be
/// very large. Slices begin small and grow fourfold, so that the first page arrives early, and a small intersection of
/// long lists needs few rounds. The conjunctions of a union are processed concurrently.
///
/// Several replicas are asked for each slice at once ([`QueryOptions::hosts`]). If their answers differ, all replicas
/// are asked, and the documents that any of them found are returned: the record of a document shows whether it contains
/// the words, but no record shows that a document is missing. Thus a document is hidden only if all replicas hide it,
/// and the caller must check the records and report the results to [`judge`](Self::judge).
///
/// If a node fails, refuses, is too slow or violates the protocol, another replica is asked. After some failures, the
/// words are looked up again; after more failures, the query fails. Thus a query always ends. A node that was too slow
/// or lied is reported ([`QueryEvent::Shun`]), so that later queries can ask other nodes first.
///
/// Memory: for each path of an answer, at most [`limits::PAGE`](super::limits::PAGE) + 1 documents are kept until no
/// better ones can be found. Then they are kept until [`poll`](Self::poll) returns them.
///
/// **Source.** Sei, Matsuzaki and Honiden, sections 2.1 (TFA) and 6.2 (chaining). In the paper, the lists meet in the
/// order of the query, the answer comes in one piece, and every list is sent whole.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::time::Duration;
/// use furui_search::{
///     AnswerEvent, Answerer, ContentId, IdRange, Index, ListPart, Listing, Peer, Querier, Query, QueryEvent,
///     PublisherKey, QueryOptions, Record, Request, Response, Weight, WordSize,
/// };
///
/// /// The lists of the only node of this network.
/// #[derive(Default)]
/// struct Lists(BTreeMap<String, BTreeMap<ContentId, Weight>>);
///
/// impl Index for Lists {
///     fn size(&mut self, word: &str) -> furui::Result<Listing> {
///         Ok(Listing { ids: self.0.get(word).map_or(0, BTreeMap::len) as u64, log_length: 6, whole: true })
///     }
///
///     fn slice(&mut self, word: &str, range: IdRange, most: usize) -> furui::Result<ListPart> {
///         let list = self.0.get(word).into_iter().flatten().filter(|(id, _)| range.contains(**id)).take(most);
///         let (ids, weights): (Vec<ContentId>, Vec<Weight>) = list.unzip();
///         Ok((ids.into(), weights.into()))
///     }
/// }
///
/// let mut lists = Lists::default();
/// for text in ["a bloom filter", "a coffee filter", "a filter that Bloom described"] {
///     let record = Record {
///         url: "https://example.org/".into(), title: String::new(), text: text.into(), publisher: PublisherKey::new([7; 32]),
///     };
///     let id = ContentId::of(&record.encode()?);
///     for (word, weight) in record.postings() {
///         lists.0.entry(word).or_default().insert(id, weight);
///     }
/// }
///
/// let (me, now) = (Peer::new(b"the only node", b""), Duration::ZERO);
/// let mut answerer = Answerer::new(me.clone());
/// let mut querier = Querier::new(Query::parse("bloom filter")?.clauses(), vec![], QueryOptions::new(1))?;
/// let mut found = 0;
/// while let Some(event) = querier.poll(now) {
///     match event {
///         QueryEvent::Lookup { word } => querier.on_holders(&word, vec![me.clone()], now),
///         QueryEvent::Send { call, request, .. } => {
///             let rest = answerer.on_request(&me, call, Request::decode(&request)?, now, &mut lists);
///             if let Some(Request::Size { words }) = rest {
///                 let size = |word: &String| -> furui::Result<WordSize> {
///                     let Listing { ids, log_length, whole } = lists.size(word)?;
///                     Ok(WordSize { ids, log_length, whole, holders: vec![me.clone()] })
///                 };
///                 let sizes = words.iter().map(size).collect::<furui::Result<_>>()?;
///                 querier.on_response(call, Response::Sizes(sizes), now);
///             }
///             while let Some(AnswerEvent::Respond { call, response }) = answerer.poll() {
///                 querier.on_response(call, response, now);
///             }
///         }
///         QueryEvent::Page { places } => found += places.len(),
///         QueryEvent::Done { .. } => break,
///         QueryEvent::Prove { .. } | QueryEvent::Shun { .. } | QueryEvent::Failed { .. } => {
///             unreachable!("the only node answers, and contradicts nobody")
///         }
///     }
/// }
/// assert_eq!(found, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Querier {
    options: QueryOptions,
    words: Words,
    branches: Vec<Branch>,
    /// For each branch, the nodes that are asked for its next slice, and their answers.
    panels: Vec<Panel>,
    calls: Calls,
    events: VecDeque<QueryEvent>,
    /// Found documents that are kept while better ones may still be found.
    top: Top,
    /// Documents that only some of the asked nodes have named.
    disputes: Disputes,
    /// Found documents in rank order that are yet to be returned in a page.
    ready: VecDeque<Place>,
    found: u64,
    /// The last document of the last page; `None` before the first page.
    last: Option<Place>,
    /// The figures by which documents are ranked; `None` before the sizes of all lists are known.
    measure: Option<Measure>,
    /// True if all found documents come from complete lists.
    whole: bool,
    over: bool,
    report: Report,
}

impl Querier {
    /// Makes a query for the documents that match any of `clauses`.
    ///
    /// For the words in `known`, the sizes of the lists and the nodes that keep them come from an earlier query
    /// ([`known`](Self::known)). They are looked up again only if these nodes fail.
    ///
    /// # Errors
    /// If there is no clause, if a clause has no required word, or if one of the [limits](super::limits) is exceeded.
    pub fn new(clauses: &[Clause], known: Vec<KnownWord>, options: QueryOptions) -> Result<Self, QueryRefused> {
        options::check(clauses, &options)?;
        let mut words = Words::default();
        let branches: Vec<Branch> = {
            let is_only = clauses.len() == 1;
            clauses.iter().map(|clause| Branch::new(clause, is_only, &mut words)).collect()
        };
        known.into_iter().for_each(|word| words.know(word));
        let report = Report { salt: options.salt, ..Report::default() };
        Ok(Self {
            options,
            words,
            panels: branches.iter().map(|_| Panel::default()).collect(),
            branches,
            calls: Calls::default(),
            events: VecDeque::new(),
            top: Top::default(),
            disputes: Disputes::default(),
            ready: VecDeque::new(),
            found: 0,
            last: options.after,
            measure: None,
            whole: true,
            over: false,
            report,
        })
    }

    /// Makes the query ask these nodes after all others, because they failed recently: see [`QueryEvent::Shun`].
    pub fn ask_last(&mut self, peers: impl IntoIterator<Item = Peer>) {
        peers.into_iter().for_each(|peer| self.words.blame.remember(peer));
    }

    /// Returns the next task for the caller or the next part of the answer. `None` if there is nothing to do until an
    /// answer arrives or the [`deadline`](Self::deadline) passes.
    pub fn poll(&mut self, now: Duration) -> Option<QueryEvent> {
        if self.events.is_empty() && !self.over {
            self.advance(now);
        }
        // All failed nodes are reported before the end of the answer, which is the last event.
        let shun = self.words.blame.to_shun.pop_front().map(|peer| QueryEvent::Shun { peer });
        shun.or_else(|| self.events.pop_front())
    }

    /// The time at which [`poll`](Self::poll) must be called even if nothing arrives before; `None` if there is no such
    /// time.
    pub fn deadline(&self) -> Option<Duration> {
        if self.over {
            return None;
        }
        let needed = |word| self.branches.iter().any(|branch| !branch.is_done() && branch.needs(word));
        let late = self.panels.iter().filter_map(Panel::deadline);
        self.calls.deadline().into_iter().chain(late).chain(self.words.deadline(needed)).min()
    }

    /// Handles the result of a [`QueryEvent::Lookup`]: the nodes nearest to the word in ascending distance; none if the
    /// look-up failed.
    pub fn on_holders(&mut self, word: &str, holders: Vec<Peer>, now: Duration) {
        let trusting = self.options.trusting;
        if let Some(word) = self.words.named(word) {
            word.on_holders(holders, trusting, now);
        }
    }

    /// Handles the answer to a [`QueryEvent::Send`]. An answer to an unknown call is ignored.
    pub fn on_response(&mut self, call: u64, response: Response, now: Duration) {
        let Some(Call { to, of, sent_bytes, .. }) = self.calls.waiting.remove(&call) else { return };
        self.words.blame.hear(&to);
        let back_bytes = response.encode().map_or(0, |bytes| bytes.len() as u64);
        self.report.back_bytes += back_bytes;
        match of {
            Of::Size(word) => self.words.on_response(word, to, response),
            Of::Sample(word) => self.words.on_sample(word, &to, response),
            Of::Slice(branch, path) => {
                self.on_slice(branch, path, response, Traffic { sent: sent_bytes, back: back_bytes }, now)
            }
        }
    }

    /// Handles the result of a [`QueryEvent::Prove`]: for each document, true if it contains the word. Documents whose
    /// records were unavailable are left out.
    pub fn on_proof(&mut self, word: &str, proved: &BTreeMap<ContentId, bool>) {
        if let Some(weighing) = self.words.named(word).and_then(Word::weighing) {
            weighing.on_proof(proved);
        }
    }

    /// Handles the failure of a [`QueryEvent::Send`]: the request could not be sent, or no valid answer arrived.
    pub fn on_failure(&mut self, call: u64, now: Duration) {
        match self.calls.waiting.remove(&call) {
            Some(Call { to, of: Of::Size(word), .. }) => self.words.on_failure(word, to),
            Some(Call { to, of: Of::Sample(word), .. }) => self.words.lose_sample(word, &to),
            Some(Call { to, of: Of::Slice(branch, _), .. }) => {
                self.words.blame.shun(to.clone());
                self.host_failed(branch, &to, false, now);
            }
            None => {}
        }
    }

    /// Handles the result of checking a found document against its record: `holds` is true if the document fits the
    /// query and has the score of this place. Returns the nodes that have lied about it, which later queries should ask
    /// last ([`ask_last`](Self::ask_last)). May be called after the end of the answer, too.
    ///
    /// Nodes are blamed only for documents about which they contradicted each other, and only for their statements
    /// about their own lists.
    pub fn judge(&mut self, place: Place, holds: bool) -> Vec<Peer> {
        let (wrong, lied) = self.disputes.judge(&place, holds);
        wrong.iter().for_each(|peer| self.words.blame.excuse(peer.clone()));
        if lied { wrong } else { Vec::new() }
    }

    /// Handles the result that no node has the record of a found document. The document may have been invented or
    /// withdrawn. Nodes that name many such documents which other nodes do not name are ignored from then on.
    pub fn miss(&mut self, place: Place) {
        self.disputes.miss(&place);
    }

    /// True if only some of the asked nodes have named this document.
    pub fn is_disputed(&self, place: &Place) -> bool {
        self.disputes.has(place)
    }

    /// The query's words with the sizes of their lists and the nodes that keep the lists, for later queries with any of
    /// these words. Nodes that failed are at the end. A word of whose list no complete copy answered is left out: the
    /// size of a part would give a later query wrong scores, and nothing would say so.
    pub fn known(&self) -> impl Iterator<Item = KnownWord> {
        self.words.known()
    }

    /// The cost of the query so far. With [`QueryOptions::explain`], it also describes each round.
    pub fn report(&self) -> Report {
        let words = self.words.all.iter().filter_map(Word::report).collect();
        Report { words, failures: self.words.blame.in_query, ..self.report.clone() }
    }

    /// True if all lists so far were [complete](super::WordSize::whole), as the nodes that keep them state.
    pub fn is_whole(&self) -> bool {
        self.whole && self.words.all.iter().all(Word::is_whole)
    }

    /// The number of ids that the query keeps in memory.
    pub fn ids_held(&self) -> usize {
        self.ready.len() + self.top.len() + self.disputes.len()
    }

    /// Performs all steps that are possible at the time `now`.
    fn advance(&mut self, now: Duration) {
        self.calls.late(now).into_iter().for_each(|call| self.on_failure(call, now));
        self.learn(now);
        (0..self.branches.len()).for_each(|branch| self.on_late(branch, now));
        self.merge();
        let failed = self.branches.iter().find_map(|branch| branch.failed_word(&self.words));
        let more = !self.branches.iter().all(Branch::is_done);
        if self.hand_out_page(!more || failed.is_some()) {
            return;
        }
        if let Some(word) = failed {
            return self.end(QueryEvent::Failed { word });
        }
        if self.wanted() == 0 || !more {
            let more = more || !self.ready.is_empty() || self.top.len() + self.disputes.len() > 0;
            return self.end(QueryEvent::Done { found: self.found, more, whole: self.is_whole() });
        }
        for branch in 0..self.branches.len() {
            self.ask(branch, now);
        }
    }

    fn end(&mut self, event: QueryEvent) {
        self.over = true;
        self.calls.waiting.clear();
        self.events.push_back(event);
    }
}
