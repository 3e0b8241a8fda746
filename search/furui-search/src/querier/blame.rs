use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use super::super::Peer;

/// The nodes that have failed during this query or before it. Other nodes are asked first.
#[derive(Debug, Default)]
pub(super) struct Blame {
    /// The number of failures of each node. All failures before the query count as one.
    failures: HashMap<Peer, u32>,
    /// The total number of failures during this query.
    pub(super) in_query: u64,
    /// The nodes that have not answered a request yet that other nodes have answered, each with the time of the
    /// request.
    unheard: HashMap<Peer, Duration>,
    shunned: HashSet<Peer>,
    /// The nodes that are still to be reported to the caller as [`QueryEvent::Shun`](super::QueryEvent::Shun), so that
    /// later queries ask them last.
    pub(super) to_shun: VecDeque<Peer>,
}

impl Blame {
    /// Records that the node failed before the query.
    pub(super) fn remember(&mut self, peer: Peer) {
        self.failures.insert(peer, 1);
    }

    /// Counts a failure that may not be the node's fault, because the node refused the request or waited for other
    /// nodes. It is not reported.
    pub(super) fn excuse(&mut self, peer: Peer) {
        *self.failures.entry(peer).or_default() += 1;
        self.in_query += 1;
    }

    /// Counts a failure to answer in time or a protocol violation, which is reported.
    pub(super) fn shun(&mut self, peer: Peer) {
        if self.shunned.insert(peer.clone()) {
            self.to_shun.push_back(peer.clone());
        }
        self.excuse(peer);
    }

    /// Records that the node has not answered a request sent at the time `since` that other nodes have answered.
    pub(super) fn miss(&mut self, peer: Peer, since: Duration) {
        self.unheard.entry(peer).or_insert(since);
    }

    /// Records that the node has answered a request.
    pub(super) fn hear(&mut self, peer: &Peer) {
        self.unheard.remove(peer);
    }

    /// The time of a request that other nodes have answered and this node has not; `None` if there is none.
    pub(super) fn unheard_since(&self, peer: &Peer) -> Option<Duration> {
        self.unheard.get(peer).copied()
    }

    /// The number of failures of the node, which decides when it is asked.
    pub(super) fn of(&self, peer: &Peer) -> u32 {
        self.failures.get(peer).copied().unwrap_or_default()
    }
}
