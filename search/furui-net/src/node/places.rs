use std::collections::HashSet;

use furui_search::{Peer, limits};
use sha2::{Digest, Sha256};

use crate::net::{Net, Prefix, WINDOW, choose};

/// The nodes that this node knows, with their places in the key space of Kademlia. The nodes that keep a key (its
/// keepers) are those with the smallest XOR distance to the key's place that have different address prefixes
/// ([`choose`]).
#[derive(Clone)]
pub(super) struct Places {
    nodes: Vec<Known>,
    /// True if at least two of the nodes have the same address prefix.
    share_prefixes: bool,
}

#[derive(Clone)]
struct Known {
    place: Place,
    prefix: Prefix,
    peer: Peer,
}

type Place = [u8; 32];

impl Places {
    /// Collects this node and all nodes in its routing table.
    pub(super) async fn of(net: &Net) -> Self {
        let mut peers = net.peers().await;
        peers.push(net.me());
        Self::by(peers, Prefix::among(net.is_private()))
    }

    /// Collects nodes of the open network.
    #[cfg(test)]
    pub(super) fn new(peers: Vec<Peer>) -> Self {
        Self::by(peers, Prefix::of_peer)
    }

    fn by(peers: Vec<Peer>, prefix: fn(&Peer) -> Prefix) -> Self {
        let known = |peer: Peer| Known { place: place(peer.identity()), prefix: prefix(&peer), peer };
        let nodes: Vec<Known> = peers.into_iter().map(known).collect();
        Self { share_prefixes: share_prefixes(&nodes), nodes }
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Adds the nodes of `others` that `self` lacks.
    pub(super) fn extend(&mut self, others: &Self) {
        let known: HashSet<Place> = self.nodes.iter().map(|node| node.place).collect();
        self.nodes.extend(others.nodes.iter().filter(|node| !known.contains(&node.place)).cloned());
        self.share_prefixes = share_prefixes(&self.nodes);
    }

    /// True if `peer` is one of the [`limits::REPLICAS`] nodes that keep `key`, as far as this node knows the others.
    pub(super) fn keeps(&self, peer: &Peer, key: &[u8]) -> bool {
        self.is_among(limits::REPLICAS, peer, &place(key))
    }

    /// True if `peer` may be one of the nodes that keep `key` from the view of another node, which may know nodes that
    /// this one does not, or know that some have gone.
    pub(super) fn may_keep(&self, peer: &Peer, key: &[u8]) -> bool {
        self.is_among(limits::HOLDERS, peer, &place(key))
    }

    /// True if `peer` would be one of the nodes that keep a key at this place if each key were kept by `most` nodes.
    fn is_among(&self, most: usize, peer: &Peer, at: &Place) -> bool {
        if self.nodes.len() <= most {
            return true;
        }
        if self.share_prefixes {
            return self.chosen(most, at).contains(&peer);
        }
        let to = distance(at, &place(peer.identity()));
        let closer = self.nodes.iter().filter(|node| distance(at, &node.place) < to && node.peer != *peer);
        closer.take(most).count() < most
    }

    /// The nodes that keep a key at this place if each key is kept by `most` nodes.
    fn chosen(&self, most: usize, at: &Place) -> Vec<&Peer> {
        let mut nearest: Vec<(Place, &Known)> =
            self.nodes.iter().map(|node| (distance(at, &node.place), node)).collect();
        if nearest.len() > WINDOW {
            nearest.select_nth_unstable_by_key(WINDOW - 1, |(distance, _)| *distance);
            nearest.truncate(WINDOW);
        }
        nearest.sort_unstable_by_key(|(distance, _)| *distance);
        let nearest = nearest.into_iter().map(|(_, node)| node).collect();
        choose(nearest, most, |node| node.prefix).keepers.into_iter().map(|node| &node.peer).collect()
    }

    /// Returns at most `most` other nodes, those with the smallest XOR distance to `me` first.
    pub(super) fn neighbours(&self, me: &Peer, most: usize) -> Vec<Peer> {
        let at = place(me.identity());
        let mut others: Vec<&Known> = self.nodes.iter().filter(|node| node.peer != *me).collect();
        others.sort_by_key(|node| distance(&at, &node.place));
        others.into_iter().take(most).map(|node| node.peer.clone()).collect()
    }
}

fn share_prefixes(nodes: &[Known]) -> bool {
    let mut taken = HashSet::new();
    nodes.iter().any(|node| node.prefix.is_counted() && !taken.insert(node.prefix))
}

/// The place in the key space of Kademlia of a key or of a node's identity.
fn place(key: &[u8]) -> Place {
    Sha256::digest(key).into()
}

fn distance(a: &Place, b: &Place) -> Place {
    std::array::from_fn(|i| a[i] ^ b[i])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A node at the address 192.0.2.`host`.
    fn node(number: u32, host: u8) -> Peer {
        // The bytes of a multiaddress: the code of IPv4 and an address, then the code of TCP and a port.
        Peer::new(&number.to_le_bytes(), &[4, 192, 0, 2, host, 6, 0, 1])
    }

    fn key(number: u32) -> Vec<u8> {
        number.to_le_bytes().to_vec()
    }

    #[test]
    fn of_one_address_one_node_keeps_a_key_and_all_agree_who_does() {
        // One third of the nodes share an address.
        let nodes: Vec<Peer> = (0..60).map(|n| node(n, if n % 3 == 0 { 1 } else { n as u8 + 2 })).collect();
        let places = Places::new(nodes.clone());
        for number in 0..300 {
            let keepers: Vec<&Peer> = nodes.iter().filter(|node| places.keeps(node, &key(number))).collect();
            let addresses: HashSet<Prefix> = keepers.iter().map(|peer| Prefix::of_peer(peer)).collect();
            assert_eq!((keepers.len(), addresses.len()), (3, 3), "key {number}");
            assert!(keepers.iter().all(|keeper| places.may_keep(keeper, &key(number))));
        }
        // If no other addresses are known, several nodes of one address are chosen.
        let places = Places::new((0..9).map(|number| node(number, 1)).collect());
        let keepers = |number| (0..9).filter(|&n| places.keeps(&node(n, 1), &key(number))).count();
        assert!((0..100).all(|number| keepers(number) == 3));
    }
}
