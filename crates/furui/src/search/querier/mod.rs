//! The asking side of a search.

mod branch;
mod honest;
mod options;
mod report;
mod top;
mod words;

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use super::message::{Cost, Ranking, Refusal, Request, Response, Search, Term};
use super::site::is_site;
use super::{Clause, ContentId, IdRange, Peer, Place, Survey, limits};
use branch::{Branch, slice_at_first};
use honest::{is_honest, is_ranked};
use top::Top;
use words::{Word, Words};

pub use options::{QueryOptions, QueryRefused};
pub use report::{Report, Round, WordReport};

/// How long the network may look for the keepers of a word.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(20);
/// How long a node may take to say how long a list is.
const SIZE_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a node may take for one slice; it gives up itself a little earlier.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(10);
/// Failures one after the other for which another replica is asked, before the words are looked up anew.
const FAILURES_A_PASS: u32 = 3;
/// How often a word's keepers are looked up.
const PASSES: u32 = 2;

/// What a [`Querier`] wants done, or has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryEvent {
    /// Find the nodes closest to this word, and tell them to [`Querier::on_holders`].
    Lookup {
        /// The word.
        word: String,
    },
    /// Send this, and tell the answer to [`Querier::on_response`], or its absence to [`Querier::on_failure`].
    Send {
        /// To whom.
        to: Peer,
        /// The number to name with the answer.
        call: u64,
        /// What.
        request: Request,
    },
    /// The next documents of the answer.
    Page {
        /// In the order of the answer; none has been in a page before. With the last one a later query goes on
        /// ([`QueryOptions::after`]).
        places: Vec<Place>,
    },
    /// The end: nothing comes after it.
    Done {
        /// How many ids the pages had.
        found: u64,
        /// Whether there may be more after the last page, because no more were asked for.
        more: bool,
        /// Whether every list came from a node that says it has been given all that it should hold.
        whole: bool,
    },
    /// The end, before the answer was: what the pages had is true, and complete up to their last document.
    Failed {
        /// The word whose keepers do not answer.
        word: String,
    },
}

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
/// has three messages, as those of large sets have, and of a page's only those of very large ones. Slices begin small and grow fourfold, so that the first page comes early and a rare intersection
/// of long lists takes few rounds. A union's conjunctions are asked side by side, each held back until the others are as far.
///
/// A node that fails, refuses, is too slow or breaks the protocol is asked no more while there is another replica; after
/// some of these, the words are looked up anew; then the query fails. So it always ends.
///
/// Memory: at most [`limits::IDS`] ids that wait for their turn, whatever the number of conjunctions, and as many and a page
/// more that can be taken: until [`poll`](Self::poll) has handed them out, no others are asked for.
///
/// **Source.** The paper's section 2.1 (TFA) and 6.2 (chaining); there, the order is that of the words, the answer comes
/// in one piece, and every list is sent whole.
#[derive(Debug)]
pub struct Querier {
    options: QueryOptions,
    words: Words,
    branches: Vec<Branch>,
    calls: HashMap<u64, Call>,
    next_call: u64,
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

/// A request that waits for its answer.
#[derive(Debug)]
struct Call {
    to: Peer,
    until: Duration,
    of: Of,
    sent_bytes: u64,
}

#[derive(Debug)]
enum Of {
    /// The size of the word of this number.
    Size(usize),
    /// A slice of the conjunction of this number.
    Search { branch: usize, order: Vec<usize>, search: Box<Search> },
}

impl Querier {
    /// A query for the documents of any of `clauses`.
    ///
    /// Words in `known`, with their sizes and keepers from an earlier query ([`terms`](Self::terms)), are not looked up
    /// unless their keepers fail.
    ///
    /// # Errors
    /// If there is no clause, one without a word that must occur, or more than the [limits](limits) allow.
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
            calls: HashMap::new(),
            next_call: 0,
            events: VecDeque::new(),
            top: Top::default(),
            ready: VecDeque::new(),
            found: 0,
            whole: true,
            over: false,
            report,
        })
    }

    /// What is to be done next; `None` if there is nothing until an answer comes or the [`deadline`](Self::deadline).
    pub fn poll(&mut self, now: Duration) -> Option<QueryEvent> {
        if self.events.is_empty() && !self.over {
            self.advance(now);
        }
        self.events.pop_front()
    }

    /// Until when the querier can wait; then [`poll`](Self::poll) is to be called, whatever has come.
    pub fn deadline(&self) -> Option<Duration> {
        if self.over {
            return None;
        }
        let needed = |word| self.branches.iter().any(|branch| !branch.is_done() && branch.needs(word));
        let hedges = self.branches.iter().filter_map(Branch::hedge_at);
        self.calls.values().map(|call| call.until).chain(hedges).chain(self.words.deadline(needed)).min()
    }

    /// The network's answer to a [`QueryEvent::Lookup`]: the nodes closest to the word, closest first; none if it failed.
    pub fn on_holders(&mut self, word: &str, holders: Vec<Peer>, now: Duration) {
        self.words.on_holders(word, holders, now);
    }

    /// The answer to a [`QueryEvent::Send`]. Answers that nobody waits for are ignored.
    pub fn on_response(&mut self, call: u64, response: Response, now: Duration) {
        let Some(Call { to, of, sent_bytes, .. }) = self.calls.remove(&call) else { return };
        let back_bytes = response.encode().map_or(0, |bytes| bytes.len() as u64);
        self.report.back_bytes += back_bytes;
        match (of, response) {
            (Of::Size(word), Response::Sizes(sizes)) => match <[_; 1]>::try_from(sizes) {
                Ok([size]) => self.words.on_size(word, to, size),
                Err(_) => self.words.on_failure(word, to),
            },
            (Of::Size(word), _) => self.words.on_failure(word, to),
            (Of::Search { branch, order, search }, Response::Found(found)) if is_honest(&found, &search) => {
                let told = Told { found: found.ids.len() as u64, seen: found.seen, whole: found.whole };
                if self.accepts(branch, &order, to, &told, &found.costs, (sent_bytes, back_bytes), &search, now) {
                    self.branches[branch].on_found(found, search.most, self.options.after.map(|after| after.id));
                }
            }
            (Of::Search { branch, order, search }, Response::Ranked(ranked)) if is_ranked(&ranked, &search) => {
                let told = Told { found: ranked.found, seen: ranked.seen, whole: ranked.whole };
                if self.accepts(branch, &order, to, &told, &ranked.costs, (sent_bytes, back_bytes), &search, now) {
                    let most = self.depth();
                    self.top.add(ranked.places, most);
                    self.branches[branch].on_ranked(ranked.next, search.most);
                }
            }
            (Of::Search { branch, order, .. }, response) => {
                // Keepers of other words may have moved: whoever says so may be right.
                let moved = response == Response::Refused(Refusal::Unreachable);
                self.search_failed(branch, &order, to, moved, now);
            }
        }
    }

    /// Tells that a [`QueryEvent::Send`] could not be sent, or that what came back was no message.
    pub fn on_failure(&mut self, call: u64, now: Duration) {
        match self.calls.remove(&call) {
            Some(Call { to, of: Of::Size(word), .. }) => self.words.on_failure(word, to),
            Some(Call { to, of: Of::Search { branch, order, .. }, .. }) => {
                self.search_failed(branch, &order, to, false, now);
            }
            None => {}
        }
    }

    /// What was learnt of the words: for the next query with one of them.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        self.words.iter().filter_map(Word::term)
    }

    /// What the query took so far, and with [`QueryOptions::explain`] round by round.
    pub fn report(&self) -> Report {
        let words = self.words.iter().filter_map(Word::report).collect();
        Report { words, failures: self.words.failures(), ..self.report.clone() }
    }

    /// Whether every list so far came from a node that says it has been given all that it should hold.
    pub fn is_whole(&self) -> bool {
        self.whole && self.words.iter().all(Word::is_whole)
    }

    /// How many ids it holds.
    pub fn ids_held(&self) -> usize {
        self.ready.len() + self.top.len() + self.branches.iter().map(Branch::ids_held).sum::<usize>()
    }

    /// Whether a slice's answer is good enough; if it is, it is noted what it took, and nobody else is waited for.
    #[expect(clippy::too_many_arguments, reason = "all that is told of a round")]
    fn accepts(
        &mut self,
        branch: usize,
        order: &[usize],
        host: Peer,
        told: &Told,
        costs: &[Cost],
        (sent_bytes, back_bytes): (u64, u64),
        search: &Search,
        now: Duration,
    ) -> bool {
        if self.options.explain && self.report.rounds.len() < limits::ROUNDS {
            self.report.rounds.push(Round {
                clause: branch,
                words: order.iter().map(|&word| self.words[word].name.clone()).collect(),
                host: host.clone(),
                most: search.most,
                seen: told.seen,
                found: told.found,
                sent_bytes,
                back_bytes,
                costs: costs.to_vec(),
                at: now,
            });
        }
        costs.iter().for_each(|cost| self.report.add(cost));
        // A keeper that was whole when it was last heard of, and no longer is: look for another, once.
        let was_whole = order.iter().all(|&word| self.words[word].is_whole());
        if !told.whole && was_whole && self.branches[branch].insists() {
            self.search_failed(branch, order, host, true, now);
            return false;
        }
        self.whole &= told.whole;
        // Others that were asked for the same were too slow.
        self.calls.retain(|_, call| !matches!(call.of, Of::Search { branch: other, .. } if other == branch));
        true
    }

    fn search_failed(&mut self, branch: usize, order: &[usize], host: Peer, moved: bool, now: Duration) {
        self.words.blame(host);
        let branch = &mut self.branches[branch];
        branch.on_failure();
        if moved || branch.failures().is_multiple_of(FAILURES_A_PASS) {
            order.iter().for_each(|&word| self.words.forget(word, now));
        }
    }

    /// Does all that can be done at `now`.
    fn advance(&mut self, now: Duration) {
        let late: Vec<u64> = self.calls.iter().filter(|(_, call)| call.until <= now).map(|(&call, _)| call).collect();
        late.into_iter().for_each(|call| self.on_failure(call, now));
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

    /// Looks words up and asks for the sizes of their lists.
    fn learn(&mut self, now: Duration) {
        for word in 0..self.words.len() {
            if self.branches.iter().all(|branch| branch.is_done() || !branch.needs(word)) {
                continue;
            }
            if self.words.wants_lookup(word, now) {
                let word = self.words[word].name.clone();
                self.report.lookups += 1;
                self.events.push_back(QueryEvent::Lookup { word });
            }
            if let Some(to) = self.words.next_to_ask(word, now) {
                let request = Request::Size { words: vec![self.words[word].name.clone()] };
                self.send(to, request, now + SIZE_TIMEOUT, Of::Size(word));
            }
        }
        for branch in &mut self.branches {
            branch.end_if_empty(&self.words);
        }
    }

    /// How many more ids are wanted after those that are ready.
    fn wanted(&self) -> u64 {
        self.options.limit.map_or(u64::MAX, |limit| limit.saturating_sub(self.found))
    }

    /// Moves what no branch can add anything before to `ready`.
    fn merge(&mut self) {
        if self.options.ranked.is_some() {
            let ahead = self.branches.iter().filter_map(Branch::ahead).min();
            while let Some(place) = self.top.take_before(ahead) {
                if self.options.after.is_none_or(|after| place > after) {
                    self.ready.push_back(place);
                }
            }
            return;
        }
        let Some(floor) = self.branches.iter().map(Branch::through).min().flatten() else { return };
        let mut ids: Vec<ContentId> = self.branches.iter_mut().flat_map(|branch| branch.take_through(floor)).collect();
        ids.sort_unstable();
        ids.dedup();
        self.ready.extend(ids.into_iter().map(Place::by_id));
    }

    /// Hands out a full page; the last ones may have less.
    fn hand_out_page(&mut self, last: bool) -> bool {
        let page = (self.options.page as u64).min(self.wanted()) as usize;
        let count = page.min(self.ready.len());
        if count == 0 || count < page && !last {
            return false;
        }
        let places: Vec<Place> = self.ready.drain(..count).collect();
        self.found += count as u64;
        self.events.push_back(QueryEvent::Page { places });
        true
    }

    /// Asks for the branch's next slice, if it is its turn.
    fn ask(&mut self, number: usize, now: Duration) {
        let silent = if self.branches[number].hedges(now) { self.silent_host(number) } else { None };
        if let Some(silent) = &silent {
            self.words.blame(silent.clone());
        }
        let branch = &self.branches[number];
        if silent.is_none() && !branch.may_ask() {
            return;
        }
        let Some(plan) = self.words.plan(branch) else { return };
        let host = plan.must[0].holders[0].clone();
        // There is no other.
        if silent.is_some_and(|silent| silent == host) {
            return;
        }
        let exchanges = plan.must.len() + plan.without.len() - 1;
        let page = self.options.page.min(self.wanted() as usize).saturating_sub(self.ready.len()).max(1);
        let first = slice_at_first(page, plan.must.len(), exchanges, plan.must[0].size);
        let ranking = self.options.ranked.map(|survey| self.ranking(survey, &plan.must, branch.next_place()));
        let limited = self.options.limit.is_some() && ranking.is_none();
        let most = branch.slice(first, limited.then_some(page), limits::IDS / self.branches.len());
        let range = IdRange { first: if ranking.is_some() { 0 } else { branch.next_head() }, last: u64::MAX };
        let search = Search {
            must: plan.must,
            without: plan.without,
            range,
            most,
            wants: self.options.wants,
            salt: self.options.salt,
            ranking,
        };
        let of = Of::Search { branch: number, order: plan.order, search: Box::new(search.clone()) };
        self.report.planned.get_or_insert(now);
        self.send(host, Request::Search(search), now + SEARCH_TIMEOUT, of);
        self.branches[number].asked(now);
    }

    fn ranking(&self, survey: Survey, must: &[Term], from: Option<Place>) -> Ranking {
        let wanted = self.depth().saturating_sub(self.ready.len()).max(1);
        Ranking {
            mean_length: survey.mean_length,
            // Where a document is says nothing about how well it fits.
            idfs: must.iter().map(|term| if is_site(&term.word) { 0 } else { survey.idf(term.size) }).collect(),
            best: wanted as u32,
            floor: self.top.floor(wanted),
            after: self.options.after.filter(|_| self.branches.len() == 1),
            from,
        }
    }

    /// How many of the best are asked for: one more than are wanted, to know whether there are more. What comes after a place
    /// in a union is known only with all that comes before it, as a document may have come there for another conjunction.
    fn depth(&self) -> usize {
        match self.options.after {
            Some(_) if self.branches.len() > 1 => limits::PAGE + 1,
            _ => self.wanted() as usize + 1,
        }
    }

    /// Who was asked for the branch's next slice.
    fn silent_host(&self, number: usize) -> Option<Peer> {
        let asked = |call: &&Call| matches!(call.of, Of::Search { branch, .. } if branch == number);
        self.calls.values().find(asked).map(|call| call.to.clone())
    }

    fn send(&mut self, to: Peer, request: Request, until: Duration, of: Of) {
        let call = self.next_call;
        self.next_call += 1;
        let sent_bytes = request.encode().map_or(0, |bytes| bytes.len() as u64);
        self.report.messages += 1;
        self.report.sent_bytes += sent_bytes;
        self.calls.insert(call, Call { to: to.clone(), until, of, sent_bytes });
        self.events.push_back(QueryEvent::Send { to, call, request });
    }
}

/// What an answer says of a slice.
struct Told {
    found: u64,
    seen: u64,
    whole: bool,
}
