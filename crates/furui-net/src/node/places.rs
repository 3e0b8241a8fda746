use std::collections::HashSet;

use furui_search::{Peer, limits};
use sha2::{Digest, Sha256};

use crate::net::Net;

/// The nodes that this node knows, to tell which of them keep a key. Nodes and keys have places; the keepers of a key
/// are the nodes whose places are nearest to its place, by XOR.
#[derive(Clone)]
pub(super) struct Places {
    nodes: Vec<(Place, Peer)>,
}

type Place = [u8; 32];

impl Places {
    /// The places, in Kademlia, of this node and of all nodes in its routing table.
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

    /// Adds the nodes of `others` that `self` does not have yet.
    pub(super) fn join(&mut self, others: &Self) {
        let known: HashSet<Place> = self.nodes.iter().map(|(place, _)| *place).collect();
        self.nodes.extend(others.nodes.iter().filter(|(place, _)| !known.contains(place)).cloned());
    }

    /// True if `peer` is one of the keepers of `key`.
    pub(super) fn keeps(&self, peer: &Peer, key: &[u8]) -> bool {
        self.is_among(limits::REPLICAS, peer, key)
    }

    /// True if `peer` may be one of the keepers of `key`. Other nodes may know nodes that this one does not, or know
    /// that some are gone.
    pub(super) fn may_keep(&self, peer: &Peer, key: &[u8]) -> bool {
        self.is_among(limits::HOLDERS, peer, key)
    }

    /// True if fewer than `most` known nodes are nearer to `key` than `peer` is.
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

/// The place of a key, or of a node's identity, in Kademlia.
fn place(key: &[u8]) -> Place {
    Sha256::digest(key).into()
}

fn distance(a: &Place, b: &Place) -> Place {
    std::array::from_fn(|i| a[i] ^ b[i])
}
