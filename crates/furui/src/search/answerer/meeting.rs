use std::convert::Infallible;
use std::time::Duration;

use super::super::message::{Cost, Found, Refusal, Request, Response, Search, Term, Wants};
use super::super::{ContentId, IdRange, Index, Peer};
use super::exchange::{Answer, Exchange, Question, Then};
use super::lists;
use super::shunned::Shunned;
use crate::error::Result;

/// A search that this node hosts: what is left of a slice of its list, on the way from word to word.
#[derive(Debug)]
pub(super) struct Meeting {
    /// Who asked for it, and the number of the answer.
    pub(super) from: Peer,
    pub(super) call: u64,
    /// When it is given up, and when the call that it waits for.
    pub(super) end: Duration,
    pub(super) until: Duration,
    wants: Wants,
    salt: u64,
    /// The words after the first; the first `must` of them must occur, the others not.
    others: Vec<Term>,
    must: usize,
    range: IdRange,
    ids: Vec<ContentId>,
    seen: u64,
    whole: bool,
    /// Which of the others is met.
    at: usize,
    exchange: Option<Exchange>,
    /// Its keepers that were asked.
    asked: Vec<Peer>,
    /// What keepers said whose lists are not whole: the places that were in one of them.
    partial: Option<Vec<u32>>,
    costs: Vec<Cost>,
}

/// What a meeting does next.
pub(super) enum Next {
    Send { to: Peer, request: Request },
    Respond(Response),
}

impl Meeting {
    /// Begins with the slice that is asked for.
    pub(super) fn new(from: Peer, call: u64, search: Search, end: Duration, index: &mut impl Index) -> Result<Self> {
        let Search { must, without, range, most, wants, salt } = search;
        let mut others = must;
        let first = others.remove(0);
        let must = others.len();
        others.extend(without);
        let listing = index.size(&first.word)?;
        let slice = lists::slice(index, &first.word, range, most as usize)?;
        Ok(Self {
            from,
            call,
            end,
            until: end,
            wants,
            salt,
            others,
            must,
            range: slice.range,
            ids: slice.to_vec(),
            seen: slice.len() as u64,
            // A list that others know of and this node does not is not all of it.
            whole: listing.whole && (listing.ids > 0 || first.size == 0),
            at: 0,
            exchange: None,
            asked: Vec::new(),
            partial: None,
            costs: Vec::new(),
        })
    }

    pub(super) fn ids_held(&self) -> usize {
        self.ids.len()
    }

    /// The next message to send, or the answer.
    pub(super) fn next(&mut self, me: &Peer, shunned: &Shunned, now: Duration, index: &mut impl Index) -> Next {
        let refused = |why| Next::Respond(Response::Refused(why));
        while self.at < self.others.len() && !self.ids.is_empty() {
            if now >= self.end {
                return refused(Refusal::Unreachable);
            }
            if self.exchange.is_none() {
                match self.meet_here(me, index) {
                    Ok(true) => continue,
                    Ok(false) => {}
                    Err(_) => return refused(Refusal::Failed),
                }
                let untried =
                    self.others[self.at].holders.iter().filter(|&peer| peer != me && !self.asked.contains(peer));
                if let Some(peer) = untried.min_by_key(|peer| shunned.has(peer, now)).cloned() {
                    self.asked.push(peer.clone());
                    self.exchange = Some(Exchange::new(peer));
                } else if let Some(both) = self.partial.take() {
                    self.whole = false;
                    self.narrow(&both);
                    continue;
                } else {
                    return refused(Refusal::Unreachable);
                }
            }
            return self.ask().unwrap_or_else(|| refused(Refusal::Invalid));
        }
        let Self { range, seen, whole, .. } = *self;
        let (ids, costs) = (std::mem::take(&mut self.ids), std::mem::take(&mut self.costs));
        Next::Respond(Response::Found(Found { ids, through: range.last, seen, whole, costs }))
    }

    /// Takes an answer.
    ///
    /// # Errors
    /// The peer that gave it, if it is none of this protocol.
    pub(super) fn on_response(&mut self, response: Response) -> std::result::Result<(), Peer> {
        let Some(mut exchange) = self.exchange.take() else { return Ok(()) };
        let bytes = response.encode().map_or(0, |bytes| bytes.len() as u64);
        let mut cost = self.costs.pop().unwrap_or_default();
        cost.back_bytes += bytes;
        let then = exchange.on_response(response, self.question(), &mut cost);
        self.costs.push(cost);
        match then {
            Then::Ask => self.exchange = Some(exchange),
            Then::Answered(Answer { both, whole: true }) => self.narrow(&both),
            Then::Answered(Answer { both, whole: false }) => {
                let partial = self.partial.get_or_insert_default();
                partial.extend(both);
                partial.sort_unstable();
                partial.dedup();
            }
            Then::Refused => {}
            Then::Lied => return Err(exchange.with),
        }
        Ok(())
    }

    /// Leaves the peer that does not answer; returns it.
    pub(super) fn on_failure(&mut self) -> Option<Peer> {
        self.exchange.take().map(|exchange| exchange.with)
    }

    /// Meets a list that this node keeps itself, if it does.
    fn meet_here(&mut self, me: &Peer, index: &mut impl Index) -> Result<bool> {
        let term = &self.others[self.at];
        if !term.holders.contains(me) || !index.size(&term.word)?.whole {
            return Ok(false);
        }
        let (mut both, mut next) = (Vec::new(), 0);
        let streamed = lists::stream(index, &term.word, self.range, |list| {
            let mut list = list;
            while let (Some(own), Some(other)) = (self.ids.get(next), list.first()) {
                match own.cmp(other) {
                    std::cmp::Ordering::Less => next += 1,
                    std::cmp::Ordering::Greater => list = &list[1..],
                    std::cmp::Ordering::Equal => {
                        both.push(next as u32);
                        next += 1;
                    }
                }
            }
            Ok::<(), Infallible>(())
        })?;
        let Ok(()) = streamed;
        self.narrow(&both);
        Ok(true)
    }

    /// The next message of the exchange; none if the set cannot be coded as is wanted, or takes more than a message.
    fn ask(&mut self) -> Option<Next> {
        let mut exchange = self.exchange.take()?;
        let (request, bits) = exchange.request(&self.others[self.at], self.question()).ok()?;
        let bytes = request.encode().ok()?.len() as u64;
        let term = self.at as u32;
        if self.costs.last().is_none_or(|cost| cost.term != term) {
            self.costs.push(Cost { term, ..Cost::default() });
        }
        let cost = self.costs.last_mut()?;
        cost.coding = exchange.coding();
        cost.sent_bits += bits;
        cost.sent_bytes += bytes;
        let to = exchange.with.clone();
        self.exchange = Some(exchange);
        Some(Next::Send { to, request })
    }

    fn question(&self) -> Question<'_> {
        let Self { ref ids, range, wants, salt, at, .. } = *self;
        Question { ids, range, wants, salt, narrowed: at > 0 }
    }

    /// Keeps the ids at these places, ascending; of a word that must not occur, the others. Then the next word comes.
    fn narrow(&mut self, both: &[u32]) {
        let keeps = self.at < self.must;
        let (mut both, mut place) = (both.iter().peekable(), 0);
        self.ids.retain(|_| {
            let is_in_both = both.next_if_eq(&&place).is_some();
            place += 1;
            is_in_both == keeps
        });
        self.at += 1;
        self.exchange = None;
        self.asked.clear();
        self.partial = None;
    }
}
