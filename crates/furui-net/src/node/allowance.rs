use std::collections::HashMap;
use std::time::Duration;

use furui_search::Peer;

use super::used::{MINUTE, Used};

/// The maximum mean number of bytes of postings and records that one peer may store per minute. After a pause, the peer
/// may store this number of bytes at once.
const PEER_BYTES: u64 = 256 << 20;
/// The maximum mean number of bytes that all peers together may store per minute.
const ALL_BYTES: u64 = 1 << 30;
/// The maximum mean number of bytes that one peer may add, per day, to documents that others have brought.
const FOREIGN_BYTES: u64 = 64 << 20;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// The maximum number of peers that are remembered.
const PEERS: usize = 4096;

/// Limits how much other nodes store on this one, measured in bytes of their messages. A posting takes about twenty
/// bytes of a message.
#[derive(Default)]
pub(super) struct Allowance {
    peers: HashMap<Peer, Used>,
    foreign: HashMap<Peer, Used>,
    all: Used,
}

impl Allowance {
    /// True if the peer may store this many more bytes. They then count as used.
    pub(super) fn grants(&mut self, peer: &Peer, bytes: usize, now: Duration) -> bool {
        if self.peers.len() >= PEERS && !self.peers.contains_key(peer) {
            self.peers.retain(|_, used| used.within(MINUTE, now, PEER_BYTES) > 0);
            if self.peers.len() >= PEERS {
                return false;
            }
        }
        let of_others = |used: &Used| used.within(DAY, now, FOREIGN_BYTES);
        if self.foreign.get(peer).map_or(0, of_others) > FOREIGN_BYTES {
            return false;
        }
        let of_peer = self.peers.get(peer).copied().unwrap_or_default();
        let of_peer = of_peer.plus(bytes as u64, MINUTE, now, PEER_BYTES);
        let of_all = self.all.plus(bytes as u64, MINUTE, now, ALL_BYTES);
        let is_more = |used: Used, allowed| used.within(MINUTE, now, allowed) > allowed;
        if is_more(of_peer, PEER_BYTES) || is_more(of_all, ALL_BYTES) {
            return false;
        }
        self.peers.insert(peer.clone(), of_peer);
        self.all = of_all;
        true
    }

    /// Counts what a peer has added to documents that others have brought. A peer that adds too much stores nothing more
    /// for some time.
    pub(super) fn charge_foreign(&mut self, peer: &Peer, bytes: u64, now: Duration) {
        if bytes == 0 {
            return;
        }
        let used = |used: &Used| used.within(DAY, now, FOREIGN_BYTES);
        if self.foreign.len() >= PEERS && !self.foreign.contains_key(peer) {
            let least = self.foreign.iter().min_by_key(|(_, other)| used(other)).map(|(peer, _)| peer.clone());
            least.and_then(|least| self.foreign.remove(&least));
        }
        let before = self.foreign.get(peer).copied().unwrap_or_default();
        self.foreign.insert(peer.clone(), before.plus(bytes, DAY, now, FOREIGN_BYTES));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn granted(allowance: &mut Allowance, peer: &Peer, now: Duration) -> u64 {
        (0..ALL_BYTES).take_while(|_| allowance.grants(peer, MIB, now)).count() as u64 * MIB as u64
    }

    #[test]
    fn a_peer_stores_so_much_a_minute_and_all_together_so_much() {
        let (mut allowance, start) = (Allowance::default(), Duration::from_secs(5));
        let peers: Vec<Peer> = (0..10).map(|number| Peer::new(&[number], &[])).collect();
        assert_eq!(granted(&mut allowance, &peers[0], start), PEER_BYTES);
        assert_eq!(granted(&mut allowance, &peers[0], start + MINUTE / 2), PEER_BYTES / 2);
        let others: u64 = peers[1..].iter().map(|peer| granted(&mut allowance, peer, start + MINUTE / 2)).sum();
        assert_eq!(others, ALL_BYTES - PEER_BYTES / 2);
        assert_eq!(granted(&mut allowance, &peers[9], start + 10 * MINUTE), PEER_BYTES);
    }

    #[test]
    fn who_adds_much_to_the_documents_of_others_stores_nothing_for_some_time() {
        let (mut allowance, peer) = (Allowance::default(), Peer::new(&[1], &[]));
        allowance.charge_foreign(&peer, FOREIGN_BYTES, Duration::ZERO);
        assert!(allowance.grants(&peer, 1, Duration::ZERO));
        allowance.charge_foreign(&peer, FOREIGN_BYTES, Duration::ZERO);
        assert!(!allowance.grants(&peer, 1, DAY / 2) && allowance.grants(&peer, 1, DAY));
        assert!(allowance.grants(&Peer::new(&[2], &[]), 1, Duration::ZERO));
        (0..2 * PEERS).for_each(|peer| allowance.charge_foreign(&Peer::new(&peer.to_le_bytes(), &[]), 1, DAY));
        assert!(allowance.foreign.len() <= PEERS);
    }

    #[test]
    fn peers_that_stored_nothing_lately_are_forgotten() {
        let mut allowance = Allowance::default();
        let peer = |number: usize| Peer::new(&number.to_le_bytes(), &[]);
        assert_eq!((0..2 * PEERS).filter(|&number| allowance.grants(&peer(number), 1, Duration::ZERO)).count(), PEERS);
        assert!(allowance.grants(&peer(2 * PEERS), 1, MINUTE));
        assert_eq!(allowance.peers.len(), 1);
    }
}
