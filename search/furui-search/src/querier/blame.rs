use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use super::super::Peer;

/// The nodes that failed in this query or before it. Other nodes are asked first.
#[derive(Debug, Default)]
pub(super) struct Blame {
    /// The number of failures of each node. Failures before the query count as one.
    failures: HashMap<Peer, u32>,
    in_query: u64,
    /// The nodes that have not answered yet what others have answered, each with the time at which it was asked.
    unheard: HashMap<Peer, Duration>,
    shunned: HashSet<Peer>,
    /// The nodes that later queries should be told about.
    to_shun: VecDeque<Peer>,
}

impl Blame {
    /// Notes that the node failed before the query.
    pub(super) fn remember(&mut self, peer: Peer) {
        self.failures.insert(peer, 1);
    }

    /// Notes a failure that may not be the node's fault, because the node refused the request, or waited for other
    /// nodes.
    pub(super) fn excuse(&mut self, peer: Peer) {
        *self.failures.entry(peer).or_default() += 1;
        self.in_query += 1;
    }

    /// Notes that the node did not answer in time, or broke the protocol.
    pub(super) fn shun(&mut self, peer: Peer) {
        if self.shunned.insert(peer.clone()) {
            self.to_shun.push_back(peer.clone());
        }
        self.excuse(peer);
    }

    /// Takes the next node that later queries should be told about ([`QueryEvent::Shun`](super::QueryEvent::Shun)).
    pub(super) fn next_to_shun(&mut self) -> Option<Peer> {
        self.to_shun.pop_front()
    }

    /// Notes that the node has not answered a request from the time `since` that others have answered.
    pub(super) fn miss(&mut self, peer: Peer, since: Duration) {
        self.unheard.entry(peer).or_insert(since);
    }

    /// Notes that the node has answered a request.
    pub(super) fn hear(&mut self, peer: &Peer) {
        self.unheard.remove(peer);
    }

    /// The time of a request that others have answered, and this node has not; `None` if it has answered all.
    pub(super) fn unheard_since(&self, peer: &Peer) -> Option<Duration> {
        self.unheard.get(peer).copied()
    }

    /// The number of failures of the node.
    pub(super) fn of(&self, peer: &Peer) -> u32 {
        self.failures.get(peer).copied().unwrap_or_default()
    }

    /// The number of failures in this query.
    pub(super) fn in_query(&self) -> u64 {
        self.in_query
    }
}
