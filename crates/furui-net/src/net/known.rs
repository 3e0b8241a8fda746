use furui_search::Peer;
use libp2p::kad::KBucketKey as Key;
use libp2p::{Multiaddr, PeerId};

/// A peer in the routing table.
pub(super) struct Known {
    pub(super) key: Key<PeerId>,
    pub(super) peer: Peer,
}

/// A peer as the search knows it.
pub(super) fn peer(id: &PeerId, address: Option<&Multiaddr>) -> Peer {
    let address = address.map(|address| address.to_vec()).filter(|bytes| bytes.len() <= Peer::MAX_ADDRESS);
    Peer::new(&id.to_bytes(), &address.unwrap_or_default())
}

/// Who a peer is.
pub(super) fn id(peer: &Peer) -> Option<PeerId> {
    PeerId::from_bytes(peer.identity()).ok()
}
