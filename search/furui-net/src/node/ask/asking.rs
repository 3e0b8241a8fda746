use std::time::Duration;

use furui_search::{Peer, Request, Response};
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use tokio::time::{Instant, sleep_until};

use crate::node::HEDGE_AFTER;
use crate::node::reputation::Reputation;
use crate::node::spent::Spent;

/// Requests to keepers, each about something of the caller's. A keeper that has not answered one after [`HEDGE_AFTER`] is
/// slow: later searches ask it last, and the caller need not wait for it, but its answer still counts.
pub(in crate::node) struct Asking<T> {
    reputation: Reputation,
    /// The time after which no answer is waited for.
    until: Instant,
    in_flight: FuturesUnordered<BoxFuture<'static, Answered<T>>>,
    /// For each request to a keeper that is not slow yet, the time after which the keeper is.
    awaited: Vec<(Instant, Peer)>,
    /// The cost so far. Requests to this node itself cost nothing.
    pub(in crate::node) spent: Spent,
}

/// A keeper, what it was asked about, and its answer with the length in bytes; `None` if it failed to answer.
type Answered<T> = (Peer, T, Option<(Response, u64)>);

/// An event of the requests in flight.
pub(in crate::node) enum Came<T> {
    /// A keeper has answered, or has failed to.
    Answer { from: Peer, about: T, response: Option<Response> },
    /// These keepers are slow.
    Slow(Vec<Peer>),
}

impl<T: Send + 'static> Asking<T> {
    /// Makes the state in which nobody is asked. Answers are waited for no longer than `patience` from now on.
    pub(in crate::node) fn new(reputation: &Reputation, patience: Duration) -> Self {
        let (in_flight, awaited) = (FuturesUnordered::new(), vec![]);
        let until = Instant::now() + patience;
        Self { reputation: reputation.clone(), until, in_flight, awaited, spent: Spent::default() }
    }

    /// Asks a keeper. A request that exceeds a limit is sent empty, and is refused.
    pub(in crate::node) fn ask(&mut self, to: Peer, request: &Request, about: T) {
        let request = request.encode().unwrap_or_default();
        if to != self.reputation.me() {
            self.spent.sent += request.len() as u64;
            self.spent.messages += 1;
        }
        self.awaited.push((Instant::now() + HEDGE_AFTER, to.clone()));
        let reputation = self.reputation.clone();
        self.in_flight.push(Box::pin(async move {
            let answer = reputation.ask_counted(&to, request).await;
            (to, about, answer)
        }));
    }

    /// True if an answer is on its way from a keeper that is not slow and that `is_one` chooses.
    pub(in crate::node) fn waits_for(&self, is_one: impl Fn(&Peer) -> bool) -> bool {
        self.awaited.iter().any(|(_, peer)| is_one(peer))
    }

    /// The next thing that happens. `None` if nothing is in flight, or the time is over.
    pub(in crate::node) async fn next(&mut self) -> Option<Came<T>> {
        let slow_at = self.awaited.iter().map(|(at, _)| *at).min().unwrap_or(self.until);
        tokio::select! {
            answered = self.in_flight.next() => {
                let (from, about, answer) = answered?;
                self.awaited.iter().position(|(_, peer)| *peer == from).map(|at| self.awaited.swap_remove(at));
                if from != self.reputation.me() {
                    self.spent.received += answer.as_ref().map_or(0, |(_, bytes)| *bytes);
                }
                Some(Came::Answer { from, about, response: answer.map(|(response, _)| response) })
            }
            () = sleep_until(slow_at.min(self.until)) => {
                let now = Instant::now();
                let slow: Vec<Peer> =
                    self.awaited.extract_if(.., |(at, _)| *at <= now).map(|(_, peer)| peer).collect();
                for peer in &slow {
                    self.reputation.shun(peer.clone()).await;
                }
                (!slow.is_empty() || now < self.until).then_some(Came::Slow(slow))
            }
        }
    }
}
