use furui_search::Peer;
use libp2p::kad::KBucketKey as Key;
use libp2p::{Multiaddr, PeerId};

/// A peer in the routing table.
pub(super) struct KnownPeer {
    pub(super) key: Key<PeerId>,
    pub(super) peer: Peer,
}

/// A peer in the form that the search uses.
pub(super) fn peer(id: &PeerId, address: Option<&Multiaddr>) -> Peer {
    let address = address.map(|address| address.to_vec()).filter(|bytes| bytes.len() <= Peer::MAX_ADDRESS);
    Peer::new(&id.to_bytes(), &address.unwrap_or_default())
}

/// The identity of a peer as text, for people. Empty if the identity is invalid.
pub fn name(peer: &Peer) -> String {
    id(peer).map(|id| id.to_base58()).unwrap_or_default()
}

/// The identity of a peer from its text, in the usual spelling. `None` if the text is none.
pub fn peer_of(text: &str) -> Option<String> {
    text.parse::<PeerId>().ok().map(|id| id.to_base58())
}

/// The bytes of a peer's identity, from its text.
pub fn identity_of(text: &str) -> Option<Vec<u8>> {
    text.parse::<PeerId>().ok().map(|id| id.to_bytes())
}

/// The libp2p identity of a peer; `None` if it is invalid.
pub(super) fn id(peer: &Peer) -> Option<PeerId> {
    PeerId::from_bytes(peer.identity()).ok()
}
