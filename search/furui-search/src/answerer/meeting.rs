use std::convert::Infallible;
use std::time::Duration;

use super::super::message::{Cost, Ranked, Refusal, Response, Search, Term, Wants};
use super::super::{ContentId, Grade, Index, Listing, Peer, Shunned};
use super::exchange::{Answer, Exchange, Question, Then};
use super::lists;
use super::scoring::Scoring;
use furui::Result;

/// The time limit for the answer to a message of an exchange. The node that runs a search for a peer waits no longer
/// for another node.
const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(2);
/// The time without an answer after which the next node that keeps the list is asked too. The first valid answer is
/// used. Chosen: several round trips.
const HEDGE_AFTER: Duration = Duration::from_millis(300);
/// The extension of [`HEDGE_AFTER`] for each byte sent: the transmission time at 8 Mbit/s.
const HEDGE_A_BYTE: Duration = Duration::from_micros(1);

/// A search that this node hosts for a peer. It begins with the ids of a slice of this node's own list. The nodes that
/// keep the lists of the other words are asked, one word after the other, and each answer leaves fewer ids.
#[derive(Debug)]
pub(super) struct Meeting {
    /// The peer that requested the search.
    pub(super) from: Peer,
    /// The number that identifies the peer's request, to which the answer is sent.
    pub(super) call: u64,
    /// The time at which the meeting times out.
    end: Duration,
    wants: Wants,
    salt: u64,
    /// The words after the first one. The first `must` of these are required, and the rest are excluded.
    others: Vec<Term>,
    must: usize,
    ids: Vec<ContentId>,
    scoring: Scoring,
    seen: u64,
    whole: bool,
    /// The index in `others` of the current word, whose list is being compared.
    at: usize,
    /// The exchanges in flight for the current word: at most one with each node that keeps its list.
    waiting: Vec<Waiting>,
    /// The exchange whose next message is to be sent, if there is one.
    ready: Option<Exchange>,
    /// The time at which another node that keeps the current word's list is asked if none has answered by then.
    hedge_at: Duration,
    /// The nodes that were asked about the current word.
    asked: Vec<Peer>,
    /// The matches reported by nodes with incomplete lists, each as an index into the ids and a grade; `None` if no
    /// such node has answered.
    partial: Option<Vec<(u32, Grade)>>,
    costs: Vec<Cost>,
}

/// An exchange of a meeting that waits for an answer.
#[derive(Debug)]
struct Waiting {
    call: u64,
    exchange: Exchange,
    since: Duration,
    until: Duration,
}

/// The next step of a meeting (a search that this node hosts).
pub(super) enum Next {
    /// The request is to be sent, and then [`Meeting::sent`] to be called.
    Send {
        exchange: Exchange,
        request: Vec<u8>,
    },
    Wait,
    Respond(Response),
}

impl Meeting {
    /// Starts a meeting for the search that the node `from` has requested, with a slice of this node's list of the
    /// first word.
    pub(super) fn new(from: Peer, call: u64, search: Search, end: Duration, index: &mut impl Index) -> Result<Self> {
        let Search { must, without, most, wants, salt, ranking } = search;
        let mut others = must;
        let first = others.remove(0);
        let must = others.len();
        others.extend(without);
        let listing = lists::size(index, &first.word)?;
        let (scoring, ids) = Scoring::begin(ranking, index, &first.word, most as usize)?;
        Ok(Self {
            from,
            call,
            end,
            wants,
            salt,
            others,
            must,
            seen: ids.len() as u64,
            ids,
            scoring,
            // If the search states that the word's list has ids, but this node has none, then this node's list is
            // incomplete.
            whole: listing.whole && (listing.ids > 0 || first.size == 0),
            at: 0,
            waiting: Vec::new(),
            ready: None,
            hedge_at: Duration::ZERO,
            asked: Vec::new(),
            partial: None,
            costs: Vec::new(),
        })
    }

    pub(super) fn ids_held(&self) -> usize {
        self.ids.len()
    }

    /// Returns the next message to send, or the answer of the meeting.
    pub(super) fn next(&mut self, me: &Peer, shunned: &Shunned, now: Duration, index: &mut impl Index) -> Next {
        let refused = |why| Next::Respond(Response::Refused(why));
        while self.at < self.others.len() && !self.ids.is_empty() {
            if now >= self.end {
                return refused(Refusal::Unreachable);
            }
            if let Some(exchange) = self.ready.take() {
                return self.ask(exchange).unwrap_or_else(|| refused(Refusal::Invalid));
            }
            if self.waiting.is_empty() {
                if self.asked.is_empty() {
                    match self.meet_here(me, index) {
                        Ok(true) => continue,
                        Ok(false) => {}
                        Err(_) => return refused(Refusal::Failed),
                    }
                }
            } else if now < self.hedge_at {
                return Next::Wait;
            }
            let untried = self.others[self.at].holders.iter().filter(|&peer| peer != me && !self.asked.contains(peer));
            if let Some(peer) = untried.min_by_key(|peer| shunned.has(peer, now)).cloned() {
                self.asked.push(peer.clone());
                self.ready = Some(Exchange::new(peer));
            } else if !self.waiting.is_empty() {
                self.hedge_at = Duration::MAX;
                return Next::Wait;
            } else if let Some(both) = self.partial.take() {
                // An answer from a part of a list, marked as incomplete, is better than no answer.
                self.whole = false;
                self.narrow(&both);
            } else {
                return refused(Refusal::Unreachable);
            }
        }
        let (ids, costs) = (std::mem::take(&mut self.ids), std::mem::take(&mut self.costs));
        let (places, next) = (self.scoring.best(&ids), self.scoring.next);
        let Self { seen, whole, .. } = *self;
        Next::Respond(Response::Ranked(Ranked { places, next, seen, found: ids.len() as u64, whole, costs }))
    }

    /// Records that a message of the exchange, of `bytes` bytes, was sent as the call with the number `call`.
    pub(super) fn sent(&mut self, call: u64, exchange: Exchange, bytes: usize, now: Duration) {
        let slack = HEDGE_AFTER + HEDGE_A_BYTE * u32::try_from(bytes).unwrap_or(u32::MAX);
        self.hedge_at = now + slack;
        self.waiting.push(Waiting { call, exchange, since: now, until: self.end.min(now + EXCHANGE_TIMEOUT) });
    }

    /// The time at which [`Meeting::next`] must be called even if nothing arrives before.
    pub(super) fn deadline(&self) -> Duration {
        self.waiting.iter().map(|waiting| waiting.until).fold(self.end.min(self.hedge_at), Duration::min)
    }

    pub(super) fn waits_for(&self, call: u64) -> bool {
        self.waiting.iter().any(|waiting| waiting.call == call)
    }

    /// The numbers of the calls of this meeting that have timed out.
    pub(super) fn late(&self, now: Duration) -> impl Iterator<Item = u64> {
        self.waiting.iter().filter(move |waiting| waiting.until <= now).map(|waiting| waiting.call)
    }

    /// Handles an answer. Returns the peers to shun: the sender if its answer violates the protocol; or, if the answer
    /// comes from a complete list, the peers that were asked at least [`HEDGE_AFTER`] ago and have not answered.
    pub(super) fn on_response(&mut self, call: u64, response: Response, now: Duration) -> Vec<Peer> {
        let Some(Waiting { mut exchange, .. }) = self.take(call) else { return Vec::new() };
        let bytes = response.encode().map_or(0, |bytes| bytes.len() as u64);
        let mut cost = self.costs.pop().unwrap_or_default();
        cost.back_bytes += bytes;
        let then = exchange.on_response(response, self.question(), &mut cost);
        self.costs.push(cost);
        match then {
            Then::Ask => self.ready = Some(exchange),
            Then::Answered(Answer { both, whole: true }) => {
                let is_slow = |waiting: &&Waiting| now >= waiting.since + HEDGE_AFTER;
                let slow = self.waiting.iter().filter(is_slow).map(|waiting| waiting.exchange.with.clone()).collect();
                let both = self.with_partial(both);
                self.narrow(&both);
                return slow;
            }
            Then::Answered(Answer { both, whole: false }) => {
                let partial = self.partial.get_or_insert_default();
                partial.extend(both);
                partial.sort_unstable();
                partial.dedup_by_key(|(place, _)| *place);
            }
            Then::Refused => {}
            Then::Lied => return vec![exchange.with],
        }
        Vec::new()
    }

    /// Ends the exchange whose call has failed. Returns the peer that did not answer; `None` if the call is unknown.
    pub(super) fn on_failure(&mut self, call: u64) -> Option<Peer> {
        self.take(call).map(|waiting| waiting.exchange.with)
    }

    fn take(&mut self, call: u64) -> Option<Waiting> {
        let place = self.waiting.iter().position(|waiting| waiting.call == call)?;
        Some(self.waiting.swap_remove(place))
    }

    /// Intersects the ids with this node's own list of the current word if this node is one of those that keep it.
    /// Returns true if this completes the word. The matches of an incomplete list are recorded, and the other nodes
    /// must be asked too.
    fn meet_here(&mut self, me: &Peer, index: &mut impl Index) -> Result<bool> {
        let term = &self.others[self.at];
        if !term.holders.contains(me) {
            return Ok(false);
        }
        let Listing { ids, whole, .. } = lists::size(index, &term.word)?;
        if !whole && ids == 0 {
            return Ok(false);
        }
        let (mut both, mut next) = (Vec::new(), 0);
        let streamed = lists::stream(index, &term.word, |list, matches| {
            let mut place = 0;
            while let (Some(own), Some(other)) = (self.ids.get(next), list.get(place)) {
                match own.cmp(other) {
                    std::cmp::Ordering::Less => next += 1,
                    std::cmp::Ordering::Greater => place += 1,
                    std::cmp::Ordering::Equal => {
                        both.push((next as u32, matches[place].0));
                        next += 1;
                    }
                }
            }
            Ok::<(), Infallible>(())
        })?;
        let Ok(()) = streamed;
        if whole {
            self.narrow(&both);
        } else {
            self.partial = Some(both);
        }
        Ok(whole)
    }

    /// Makes the next message of the exchange. `None` if the set cannot be coded as the query requests, or does not fit
    /// into a message.
    fn ask(&mut self, mut exchange: Exchange) -> Option<Next> {
        let (request, bits) = exchange.request(&self.others[self.at], self.question()).ok()?;
        let request = request.encode().ok()?;
        let term = self.at as u32;
        if self.costs.last().is_none_or(|cost| cost.term != term) {
            self.costs.push(Cost { term, ..Cost::default() });
        }
        let cost = self.costs.last_mut()?;
        (cost.coding, cost.in_three) = exchange.coding();
        cost.sent_bits += bits;
        cost.sent_bytes += request.len() as u64;
        Some(Next::Send { exchange, request })
    }

    fn question(&self) -> Question<'_> {
        let Self { ref ids, wants, salt, at, .. } = *self;
        Question { ids, wants, salt, narrowed: at > 0, weighted: self.is_weighted() }
    }

    /// True if the score depends on the number of occurrences of the current word.
    fn is_weighted(&self) -> bool {
        self.at < self.must
    }

    /// For a required word, adds to the matches in the complete list those in incomplete lists: the node with the
    /// complete list may hide documents, and records show whether they contain the word. A match is the index of a
    /// document among the ids, and how well it answers the word; if nodes state
    /// different grades, that from the complete list is used. The result ascends by index.
    fn with_partial(&mut self, mut both: Vec<(u32, Grade)>) -> Vec<(u32, Grade)> {
        let partial = self.partial.take().filter(|_| self.at < self.must).unwrap_or_default();
        // The stable sort keeps the entry from the complete list first among equal indices.
        both.extend(partial);
        both.sort_by_key(|(place, _)| *place);
        both.dedup_by_key(|(place, _)| *place);
        both
    }

    /// Keeps the ids at the ascending indices in `both` or, if the word is excluded, all other ids. Then continues with
    /// the next word.
    fn narrow(&mut self, both: &[(u32, Grade)]) {
        if self.at < self.must {
            self.scoring.add(self.at + 1, both);
            self.ids = both.iter().map(|&(place, _)| self.ids[place as usize]).collect();
        } else {
            let is_left = |place: &usize| both.binary_search_by_key(place, |(gone, _)| *gone as usize).is_err();
            let left: Vec<usize> = (0..self.ids.len()).filter(is_left).collect();
            self.scoring.keep(&left);
            self.ids = left.into_iter().map(|place| self.ids[place]).collect();
        }
        self.at += 1;
        self.waiting.clear();
        self.asked.clear();
        self.partial = None;
    }
}
