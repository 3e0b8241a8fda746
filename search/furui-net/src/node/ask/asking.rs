use std::time::Duration;

use furui_search::{Peer, Request, Response};
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use tokio::time::{Instant, sleep_until};

use crate::node::reputation::Reputation;
use crate::node::spent::Spent;

/// The time after which further nodes are asked if the first ones have not answered. Chosen: several round trips.
pub(in crate::node) const HEDGE_AFTER: Duration = Duration::from_millis(500);

/// The requests in flight to nodes that keep lists or records, each with data of type `T` that the caller attaches to
/// recognize the answer. A node that has not answered after [`HEDGE_AFTER`] is slow: later searches ask it last, and
/// the caller need not wait for it, but its answer is still used if it comes.
pub(in crate::node) struct Asking<T> {
    reputation: Reputation,
    /// The deadline after which answers are discarded.
    until: Instant,
    in_flight: FuturesUnordered<BoxFuture<'static, Answered<T>>>,
    /// The nodes that were asked and are not slow yet, each with the time at which it becomes slow.
    awaited: Vec<(Instant, Peer)>,
    /// The traffic of these requests so far. Requests from this node to itself are not counted.
    pub(in crate::node) spent: Spent,
}

/// The answer to a request: the node that was asked, the caller's data of the request, and the answer with its length
/// in bytes; `None` if the node failed to answer.
type Answered<T> = (Peer, T, Option<(Response, u64)>);

/// An event of the requests in flight: an answer, or the end of the time for some of them.
pub(in crate::node) enum KeeperEvent<T> {
    /// A node has answered; `response` is `None` if its answer is invalid or did not come.
    Answer { from: Peer, about: T, response: Option<Response> },
    /// These nodes have not answered for [`HEDGE_AFTER`], and count as slow.
    Slow(Vec<Peer>),
}

impl<T: Send + 'static> Asking<T> {
    /// Makes an empty set of requests. Answers that arrive later than `patience` from this call on are discarded.
    pub(in crate::node) fn new(reputation: &Reputation, patience: Duration) -> Self {
        let (in_flight, awaited) = (FuturesUnordered::new(), vec![]);
        let until = Instant::now() + patience;
        Self { reputation: reputation.clone(), until, in_flight, awaited, spent: Spent::default() }
    }

    /// Sends a request to a node. A request that exceeds a limit is sent empty, so the node refuses it.
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

    /// True if a request is in flight to a node that is not slow and for which `is_one` returns true.
    pub(in crate::node) fn waits_for(&self, is_one: impl Fn(&Peer) -> bool) -> bool {
        self.awaited.iter().any(|(_, peer)| is_one(peer))
    }

    /// Waits for the next event. `None` if no request is in flight, or the deadline has passed.
    pub(in crate::node) async fn next(&mut self) -> Option<KeeperEvent<T>> {
        let slow_at = self.awaited.iter().map(|(at, _)| *at).min().unwrap_or(self.until);
        tokio::select! {
            answered = self.in_flight.next() => {
                let (from, about, answer) = answered?;
                self.awaited.iter().position(|(_, peer)| *peer == from).map(|at| self.awaited.swap_remove(at));
                if from != self.reputation.me() {
                    self.spent.received += answer.as_ref().map_or(0, |(_, bytes)| *bytes);
                }
                Some(KeeperEvent::Answer { from, about, response: answer.map(|(response, _)| response) })
            }
            () = sleep_until(slow_at.min(self.until)) => {
                let now = Instant::now();
                let slow: Vec<Peer> =
                    self.awaited.extract_if(.., |(at, _)| *at <= now).map(|(_, peer)| peer).collect();
                for peer in &slow {
                    self.reputation.shun(peer.clone()).await;
                }
                (!slow.is_empty() || now < self.until).then_some(KeeperEvent::Slow(slow))
            }
        }
    }
}
