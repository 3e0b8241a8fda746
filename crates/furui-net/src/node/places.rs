use std::collections::HashSet;

use furui_search::{Peer, limits};
use sha2::{Digest, Sha256};

use crate::net::Net;

/// Who keeps what, as far as this node knows others: each node and each key has a place, and the nodes whose places are
/// closest to that of a key, by the XOR of the two, keep what belongs to it.
#[derive(Clone)]
pub(super) struct Places {
    nodes: Vec<(Place, Peer)>,
}

type Place = [u8; 32];

impl Places {
    /// The places of this node and of all in its routing table.
    pub(super) async fn of(net: &Net) -> Self {
        let mut peers = net.peers().await;
        peers.push(net.me());
        Self::new(peers)
    }

    pub(super) fn new(peers: Vec<Peer>) -> Self {
        Self { nodes: peers.into_iter().map(|peer| (place(peer.identity()), peer)).collect() }
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Adds those of the others that are not among these.
    pub(super) fn join(&mut self, others: &Self) {
        let known: HashSet<Place> = self.nodes.iter().map(|(place, _)| *place).collect();
        self.nodes.extend(others.nodes.iter().filter(|(place, _)| !known.contains(place)).cloned());
    }

    /// Whether `peer` is one of those that are to keep what belongs to `key`.
    pub(super) fn keeps(&self, peer: &Peer, key: &[u8]) -> bool {
        self.is_among(limits::REPLICAS, peer, key)
    }

    /// Whether `peer` may well be one of those that are to keep what belongs to `key`: for others, who know of other nodes
    /// than this one, or know better who is gone.
    pub(super) fn may_keep(&self, peer: &Peer, key: &[u8]) -> bool {
        self.is_among(limits::HOLDERS, peer, key)
    }

    /// Whether fewer than `most` known nodes are closer to `key`.
    fn is_among(&self, most: usize, peer: &Peer, key: &[u8]) -> bool {
        if self.nodes.len() <= most {
            return true;
        }
        let at = place(key);
        let to = distance(&at, &place(peer.identity()));
        let closer = self.nodes.iter().filter(|(node, other)| distance(&at, node) < to && other != peer);
        closer.take(most).count() < most
    }

    /// The other nodes, nearest to `me` first, at most `most`.
    pub(super) fn neighbours(&self, me: &Peer, most: usize) -> Vec<Peer> {
        let at = place(me.identity());
        let mut others: Vec<_> = self.nodes.iter().filter(|(_, peer)| peer != me).collect();
        others.sort_by_key(|(node, _)| distance(&at, node));
        others.into_iter().take(most).map(|(_, peer)| peer.clone()).collect()
    }
}

/// Where Kademlia puts a key, and a node by its identity.
fn place(key: &[u8]) -> Place {
    Sha256::digest(key).into()
}

fn distance(a: &Place, b: &Place) -> Place {
    std::array::from_fn(|i| a[i] ^ b[i])
}
