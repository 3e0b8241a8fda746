//! The asking side of a search.

mod asking;
mod blame;
mod branch;
mod calls;
mod event;
mod honest;
mod options;
mod pages;
mod report;
mod sizing;
mod slices;
mod top;
mod word;
mod words;

use std::collections::VecDeque;
use std::time::Duration;

use super::message::{Response, Term};
use super::{Clause, Peer, Place};
use branch::Branch;
use calls::{Call, Calls, Of};
use slices::Traffic;
use top::Top;
use word::Word;
use words::Words;

pub use event::QueryEvent;
pub use options::{QueryOptions, QueryRefused};
pub use report::{Report, Round, WordReport};

/// Failures one after the other for which another replica is asked, before the words are looked up anew.
const FAILURES_A_PASS: u32 = 3;
/// How often a word's keepers are looked up.
const PASSES: u32 = 2;

/// Asks a query: learns who keeps its words and how long their lists are, has the shortest list's keeper find the
/// documents slice by slice, and hands out pages of their ids in ascending order.
///
/// ```text
///  new ─▶ Lookup ─▶ on_holders ─▶ Send Size ─▶ on_response ─▶ Send Search ─▶ on_response ─▶ Page … Done
///                └──── a word that is known from before skips these ────┘      ▲        │
///                                                                              └─ slice ┘
/// ```
///
/// A query of two known words takes one search, which takes one exchange: two round trips, or three where the exchange
/// has three messages, as those of large sets have, and of a page's only those of very large ones. Slices begin small
/// and grow fourfold, so that the first page comes early and a rare intersection of long lists takes few rounds. A
/// union's conjunctions are asked side by side, each held back until the others are as far.
///
/// A node that fails, refuses, is too slow or breaks the protocol is asked no more while there is another replica;
/// after some of these, the words are looked up anew; then the query fails. So it always ends. Who let it wait, or
/// lied, is named ([`QueryEvent::Shun`]), so that later queries can ask others first.
///
/// Memory: at most [`limits::IDS`](super::limits::IDS) ids that wait for their turn, whatever the number of
/// conjunctions, and as many and a page more that can be taken: until [`poll`](Self::poll) has handed them out, no
/// others are asked for.
///
/// **Source.** The paper's section 2.1 (TFA) and 6.2 (chaining); there, the order is that of the words, the answer comes
/// in one piece, and every list is sent whole.
#[derive(Debug)]
pub struct Querier {
    options: QueryOptions,
    words: Words,
    branches: Vec<Branch>,
    calls: Calls,
    events: VecDeque<QueryEvent>,
    /// Found, but there may be better ones.
    top: Top,
    /// Found, merged, and not yet in a page.
    ready: VecDeque<Place>,
    found: u64,
    /// Whether all that was found comes from whole lists.
    whole: bool,
    over: bool,
    report: Report,
}

impl Querier {
    /// A query for the documents of any of `clauses`.
    ///
    /// Words in `known`, with their sizes and keepers from an earlier query ([`terms`](Self::terms)), are not looked up
    /// unless their keepers fail.
    ///
    /// # Errors
    /// If there is no clause, one without a word that must occur, or more than the [limits](super::limits) allow.
    pub fn new(clauses: &[Clause], known: Vec<Term>, options: QueryOptions) -> Result<Self, QueryRefused> {
        options::check(clauses, &options)?;
        let mut words = Words::default();
        let branches = clauses.iter().map(|clause| {
            Branch::new(clause, &mut words, options.ranked.is_some(), options.after.map(|after| after.id))
        });
        let branches = branches.collect();
        known.into_iter().for_each(|term| words.know(term));
        let report = Report { salt: options.salt, ..Report::default() };
        Ok(Self {
            options,
            words,
            branches,
            calls: Calls::default(),
            events: VecDeque::new(),
            top: Top::default(),
            ready: VecDeque::new(),
            found: 0,
            whole: true,
            over: false,
            report,
        })
    }

    /// Has others asked before these nodes, which did not answer lately: [`QueryEvent::Shun`].
    pub fn ask_last(&mut self, peers: impl IntoIterator<Item = Peer>) {
        peers.into_iter().for_each(|peer| self.words.blame.remember(peer));
    }

    /// What is to be done next; `None` if there is nothing until an answer comes or the [`deadline`](Self::deadline).
    pub fn poll(&mut self, now: Duration) -> Option<QueryEvent> {
        if self.events.is_empty() && !self.over {
            self.advance(now);
        }
        // The end, which is an event as well, is the last one.
        let shun = self.words.blame.next_to_shun().map(|peer| QueryEvent::Shun { peer });
        shun.or_else(|| self.events.pop_front())
    }

    /// Until when the querier can wait; then [`poll`](Self::poll) is to be called, whatever has come.
    pub fn deadline(&self) -> Option<Duration> {
        if self.over {
            return None;
        }
        let needed = |word| self.branches.iter().any(|branch| !branch.is_done() && branch.needs(word));
        let hedges = self.branches.iter().filter_map(Branch::hedge_at);
        self.calls.deadline().into_iter().chain(hedges).chain(self.words.deadline(needed)).min()
    }

    /// The network's answer to a [`QueryEvent::Lookup`]: the nodes closest to the word, closest first; none if it failed.
    pub fn on_holders(&mut self, word: &str, holders: Vec<Peer>, now: Duration) {
        self.words.on_holders(word, holders, now);
    }

    /// The answer to a [`QueryEvent::Send`]. Answers that nobody waits for are ignored.
    pub fn on_response(&mut self, call: u64, response: Response, now: Duration) {
        let Some(Call { to, of, sent_bytes, .. }) = self.calls.take(call) else { return };
        let back_bytes = response.encode().map_or(0, |bytes| bytes.len() as u64);
        self.report.back_bytes += back_bytes;
        match of {
            Of::Size(word) => self.words.on_response(word, to, response),
            Of::Slice(slice) => {
                self.on_slice(&slice, to, response, Traffic { sent: sent_bytes, back: back_bytes }, now)
            }
        }
    }

    /// Tells that a [`QueryEvent::Send`] could not be sent, or that what came back was no message.
    pub fn on_failure(&mut self, call: u64, now: Duration) {
        match self.calls.take(call) {
            Some(Call { to, of: Of::Size(word), .. }) => self.words.on_failure(word, to),
            Some(Call { to, of: Of::Slice(slice), .. }) => {
                self.words.blame.shun(to);
                self.slice_failed(&slice, false, now);
            }
            None => {}
        }
    }

    /// What was learnt of the words, keepers that failed after the others: for the next query with one of them.
    pub fn terms(&self) -> impl Iterator<Item = Term> {
        self.words.terms()
    }

    /// What the query took so far, and with [`QueryOptions::explain`] round by round.
    pub fn report(&self) -> Report {
        let words = self.words.iter().filter_map(Word::report).collect();
        Report { words, failures: self.words.blame.in_query(), ..self.report.clone() }
    }

    /// Whether every list so far came from a node that says it has been given all that it should hold.
    pub fn is_whole(&self) -> bool {
        self.whole && self.words.iter().all(Word::is_whole)
    }

    /// How many ids it holds.
    pub fn ids_held(&self) -> usize {
        self.ready.len() + self.top.len() + self.branches.iter().map(Branch::ids_held).sum::<usize>()
    }

    /// Does all that can be done at `now`.
    fn advance(&mut self, now: Duration) {
        self.calls.late(now).into_iter().for_each(|call| self.on_failure(call, now));
        self.learn(now);
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
            let more = more || !self.ready.is_empty() || self.top.len() > 0;
            return self.end(QueryEvent::Done { found: self.found, more, whole: self.is_whole() });
        }
        for branch in 0..self.branches.len() {
            self.ask(branch, now);
        }
    }

    fn end(&mut self, event: QueryEvent) {
        self.over = true;
        self.calls.clear();
        self.events.push_back(event);
    }
}
