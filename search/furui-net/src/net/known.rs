use furui_search::Peer;
use libp2p::kad::KBucketKey as Key;
use libp2p::multiaddr::Protocol;
use libp2p::{Multiaddr, PeerId};

use super::reach::Kind;

/// A peer in the routing table, with its key in the key space of Kademlia.
pub(super) struct KnownPeer {
    pub(super) key: Key<PeerId>,
    pub(super) peer: Peer,
}

/// The one of a peer's addresses by which its limits are counted and its keepers are chosen. All nodes that know the
/// same addresses choose the same one: the most public, of these one of IPv4.
pub(super) fn best<'a>(addresses: impl IntoIterator<Item = &'a Multiaddr>) -> Option<&'a Multiaddr> {
    addresses.into_iter().min_by_key(|address| rank(address))
}

/// What the addresses of a node are sorted by, the best first: the [`Kind`] of the IP address (an address without one
/// comes first), then IPv4 before IPv6, and then the bytes, so that all nodes choose alike.
pub(super) fn rank(address: &Multiaddr) -> (Option<Kind>, bool, Vec<u8>) {
    (Kind::of(address), matches!(address.iter().next(), Some(Protocol::Ip6(_))), address.to_vec())
}

/// Converts a libp2p peer and its address to the form that the search protocol uses.
pub(super) fn peer(id: &PeerId, address: Option<&Multiaddr>) -> Peer {
    let address = address.map(|address| address.to_vec()).filter(|bytes| bytes.len() <= Peer::MAX_ADDRESS);
    Peer::new(&id.to_bytes(), &address.unwrap_or_default())
}

/// The peer id as text. Empty if the peer's identity is invalid.
pub fn name(peer: &Peer) -> String {
    id(peer).map(|id| id.to_base58()).unwrap_or_default()
}

/// Converts the text of a peer id to its canonical spelling. `None` if it is not a peer id.
pub fn peer_of(text: &str) -> Option<String> {
    text.parse::<PeerId>().ok().map(|id| id.to_base58())
}

/// The bytes of a peer's identity, from the text of its peer id. `None` if it is not a peer id.
pub fn identity_of(text: &str) -> Option<Vec<u8>> {
    text.parse::<PeerId>().ok().map(|id| id.to_bytes())
}

/// The libp2p identity of a peer; `None` if it is invalid.
pub(super) fn id(peer: &Peer) -> Option<PeerId> {
    PeerId::from_bytes(peer.identity()).ok()
}
