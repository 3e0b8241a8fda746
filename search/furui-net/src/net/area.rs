use furui_search::Peer;
use libp2p::PeerId;
use libp2p::kad::{KBucketDistance as Distance, KBucketKey as Key};
use tokio::time::Instant;

use super::known::KnownPeer;

/// The peers that a look-up of many peers has found, from which look-ups of nearby keys can be answered. They are all
/// nodes whose XOR distance from the key of the look-up is at most that of the farthest peer.
///
/// ```text
///                  key of the look-up
///   ─────────┬─────────────┼─────────────┬─────────   distance: XOR
///            └─half the farthest distance┘
/// ```
///
/// If another key lies in the marked part of the key space, and at least n of the peers lie there too, then the n peers
/// nearest to this key are also the n nearest of all nodes.
///
/// Thus a look-up of twenty peers also yields the three nodes nearest to each key of a subtree that contains ten to
/// twenty of these peers.
pub(super) struct Area {
    key: Key<Vec<u8>>,
    peers: Vec<KnownPeer>,
    farthest: Distance,
    pub(super) at: Instant,
}

impl Area {
    /// Makes an area from the peers that a complete look-up has found. `None` if there are none.
    pub(super) fn new(key: Key<Vec<u8>>, peers: Vec<KnownPeer>, at: Instant) -> Option<Self> {
        let farthest = peers.iter().map(|known| key.distance(&known.key)).max()?;
        Some(Self { key, peers, farthest, at })
    }

    /// The `n` nodes nearest to a key; `None` if this area cannot guarantee the result.
    pub(super) fn nearest(&self, key: &Key<Vec<u8>>, n: usize) -> Option<Vec<Peer>> {
        // A distance is within the marked part of [`Area`]'s picture if its highest set bit is lower than that of the
        // farthest peer's distance. As distances are XORs, two points within are also that near to each other.
        let is_within = |distance: Distance| distance.ilog2() < self.farthest.ilog2();
        if !is_within(self.key.distance(key)) {
            return None;
        }
        let mut all: Vec<(Distance, &Peer)> =
            self.peers.iter().map(|known| (known.key.distance(key), &known.peer)).collect();
        all.sort_unstable_by_key(|&(distance, _)| distance);
        let &(nth, _) = all.get(n.checked_sub(1)?)?;
        is_within(nth).then(|| all.into_iter().take(n).map(|(_, peer)| peer.clone()).collect())
    }

    /// True if the area remains complete after this node has joined the network.
    pub(super) fn outlives(&self, new: &Key<PeerId>) -> bool {
        self.farthest < self.key.distance(new) || self.names(new)
    }

    pub(super) fn names(&self, peer: &Key<PeerId>) -> bool {
        self.peers.iter().any(|known| known.key == *peer)
    }
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::super::known::peer;
    use super::*;

    fn id(number: u32) -> PeerId {
        // A SHA-256 multihash: the code 0x12, the length 0x20, and the hash.
        let bytes = [&[0x12, 0x20][..], &Sha256::digest(number.to_le_bytes())].concat();
        PeerId::from_bytes(&bytes).expect("a multihash")
    }

    fn known(number: u32) -> KnownPeer {
        KnownPeer { key: Key::from(id(number)), peer: peer(&id(number), None) }
    }

    fn nearest(all: &[KnownPeer], key: &Key<Vec<u8>>, n: usize) -> Vec<KnownPeer> {
        let mut all: Vec<&KnownPeer> = all.iter().collect();
        all.sort_by_key(|known| known.key.distance(key));
        all.into_iter().take(n).map(|known| KnownPeer { key: known.key, peer: known.peer.clone() }).collect()
    }

    #[test]
    fn what_it_tells_of_other_keys_is_true() {
        let key = |number: u32| Key::new(number.to_le_bytes().to_vec());
        for nodes in [30, 100, 1000] {
            let all: Vec<KnownPeer> = (0..nodes).map(known).collect();
            let area = Area::new(key(0), nearest(&all, &key(0), 20), Instant::now()).expect("there are twenty");
            let mut told = 0;
            for number in 0..5000 {
                if let Some(peers) = area.nearest(&key(number), 3) {
                    let truth = nearest(&all, &key(number), 3);
                    assert!(peers.iter().eq(truth.iter().map(|known| &known.peer)), "key {number} of {nodes} nodes");
                    told += 1;
                }
            }
            // The area answers look-ups for at least 3 / `nodes` of all keys, which is the fraction of the keys that
            // one node keeps.
            assert!(told >= 5000 * 3 / nodes, "{told} of 5000 keys, {nodes} nodes");
        }
    }

    #[test]
    fn a_node_that_would_be_among_them_ends_it_and_no_other_does() {
        let all: Vec<KnownPeer> = (0..200).map(known).collect();
        let key = Key::new(b"key".to_vec());
        let area = Area::new(key.clone(), nearest(&all, &key, 20), Instant::now()).expect("there are twenty");
        assert!(all.iter().all(|known| area.outlives(&known.key)));
        let mut others = (200..).map(|number| Key::from(id(number)));
        let near = others.find(|other| key.distance(other) < area.farthest).expect("one of ten is");
        assert!(!area.outlives(&near) && !area.names(&near));
        assert!(area.names(&nearest(&all, &key, 1)[0].key));
    }
}
