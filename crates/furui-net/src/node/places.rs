use furui::search::{Peer, limits};
use sha2::{Digest, Sha256};

use crate::net::Net;

/// Who keeps what, as far as this node knows others: each node and each key has a place, and the nodes whose places are
/// closest to that of a key, by the XOR of the two, keep what belongs to it.
pub(super) struct Places {
    nodes: Vec<(Place, Peer)>,
}

type Place = [u8; 32];

impl Places {
    /// The places of this node and of all in its routing table.
    pub(super) async fn of(net: &Net) -> Self {
        let mut peers = net.peers().await;
        peers.push(net.me());
        Self { nodes: peers.into_iter().map(|peer| (place(peer.identity()), peer)).collect() }
    }

    /// Whether `peer` is one of those that are to keep what belongs to `key`: no more than a few known nodes are closer.
    pub(super) fn keeps(&self, peer: &Peer, key: &[u8]) -> bool {
        let (at, to) = (place(key), distance(&place(key), &place(peer.identity())));
        let closer = self.nodes.iter().filter(|(node, other)| other != peer && distance(&at, node) < to);
        closer.take(limits::REPLICAS).count() < limits::REPLICAS
    }

    /// The other nodes, nearest to `me` first, at most `most`.
    pub(super) fn neighbours(mut self, me: &Peer, most: usize) -> Vec<Peer> {
        let at = place(me.identity());
        self.nodes.retain(|(_, peer)| peer != me);
        self.nodes.sort_by_key(|(node, _)| distance(&at, node));
        self.nodes.into_iter().take(most).map(|(_, peer)| peer).collect()
    }
}

/// Where Kademlia puts a key, and a node by its identity.
fn place(key: &[u8]) -> Place {
    Sha256::digest(key).into()
}

fn distance(a: &Place, b: &Place) -> Place {
    std::array::from_fn(|i| a[i] ^ b[i])
}
