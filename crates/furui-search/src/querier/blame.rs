use std::collections::{HashMap, VecDeque};

use super::super::Peer;

/// Which nodes have failed in a query, or did so before it: others are asked before them.
#[derive(Debug, Default)]
pub(super) struct Blame {
    /// How often; what was before the query counts as once.
    failures: HashMap<Peer, u32>,
    in_query: u64,
    /// Of whom later queries are to know.
    to_shun: VecDeque<Peer>,
}

impl Blame {
    /// The node failed before the query.
    pub(super) fn remember(&mut self, peer: Peer) {
        self.failures.insert(peer, 1);
    }

    /// The node failed, and it may not be its fault: it refused, or waits for others.
    pub(super) fn excuse(&mut self, peer: Peer) {
        *self.failures.entry(peer).or_default() += 1;
        self.in_query += 1;
    }

    /// The node did not answer in time, or not as the protocol says.
    pub(super) fn shun(&mut self, peer: Peer) {
        self.to_shun.push_back(peer.clone());
        self.excuse(peer);
    }

    /// Of whom later queries are to know.
    pub(super) fn next_to_shun(&mut self) -> Option<Peer> {
        self.to_shun.pop_front()
    }

    /// How much there is to say against the node.
    pub(super) fn of(&self, peer: &Peer) -> u32 {
        self.failures.get(peer).copied().unwrap_or_default()
    }

    /// How many failures there were in the query.
    pub(super) fn in_query(&self) -> u64 {
        self.in_query
    }
}
