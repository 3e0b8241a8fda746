use std::collections::HashMap;
use std::time::Duration;

use libp2p::PeerId;
use tokio::time::Instant;

/// How many requests of one peer are served at once.
pub(super) const PEER_IN_FLIGHT: u32 = 32;
/// How many requests are served at once, of all peers.
pub(super) const MAX_IN_FLIGHT: usize = 256;
/// How many requests a second a peer may make, on average.
const PEER_RATE: f64 = 1000.0;
/// How many more it may make at once after a pause.
const PEER_BURST: f64 = 2000.0;
/// How many peers are remembered that have nothing in flight.
const REMEMBERED: usize = 4096;

/// Which requests of others are let in.
#[derive(Default)]
pub(super) struct Quotas {
    peers: HashMap<PeerId, Share>,
    in_flight: usize,
}

/// One peer's part: a token bucket, and what it has in flight.
struct Share {
    in_flight: u32,
    tokens: f64,
    at: Instant,
}

impl Quotas {
    /// Lets a request in, if the peer's share has room for it and so have all together.
    pub(super) fn admit(&mut self, peer: PeerId, now: Instant) -> bool {
        if self.peers.len() >= REMEMBERED {
            // Whoever has been quiet for so long that its bucket is full again is as good as forgotten.
            let full = Duration::from_secs_f64(PEER_BURST / PEER_RATE);
            self.peers.retain(|_, share| share.in_flight > 0 || now.duration_since(share.at) < full);
        }
        if self.in_flight >= MAX_IN_FLIGHT || self.peers.len() >= 2 * REMEMBERED && !self.peers.contains_key(&peer) {
            return false;
        }
        let share = self.peers.entry(peer).or_insert(Share { in_flight: 0, tokens: PEER_BURST, at: now });
        let earned = now.duration_since(share.at).as_secs_f64() * PEER_RATE;
        share.tokens = (share.tokens + earned).min(PEER_BURST);
        share.at = now;
        if share.in_flight >= PEER_IN_FLIGHT || share.tokens < 1.0 {
            return false;
        }
        share.tokens -= 1.0;
        share.in_flight += 1;
        self.in_flight += 1;
        true
    }

    /// A request that was let in has been answered, or never will be.
    pub(super) fn done(&mut self, peer: &PeerId) {
        if let Some(share) = self.peers.get_mut(peer) {
            share.in_flight -= 1;
            self.in_flight -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_has_so_many_in_flight_and_others_are_not_hindered() {
        let (mut quotas, now, peer) = (Quotas::default(), Instant::now(), PeerId::random());
        let let_in = (0..100).filter(|_| quotas.admit(peer, now)).count();
        assert_eq!(let_in, PEER_IN_FLIGHT as usize);
        assert!(quotas.admit(PeerId::random(), now));
        quotas.done(&peer);
        assert!(quotas.admit(peer, now));
        assert!(!quotas.admit(peer, now));
    }

    #[test]
    fn all_together_have_so_many_in_flight() {
        let (mut quotas, now) = (Quotas::default(), Instant::now());
        assert_eq!((0..1000).filter(|_| quotas.admit(PeerId::random(), now)).count(), MAX_IN_FLIGHT);
    }

    #[test]
    fn a_peer_earns_requests_with_time() {
        let (mut quotas, now, peer) = (Quotas::default(), Instant::now(), PeerId::random());
        let served = |quotas: &mut Quotas, now| {
            (0..5000)
                .filter(|_| {
                    quotas.admit(peer, now) && {
                        quotas.done(&peer);
                        true
                    }
                })
                .count()
        };
        assert_eq!(served(&mut quotas, now), PEER_BURST as usize);
        assert_eq!(served(&mut quotas, now + Duration::from_millis(500)), PEER_RATE as usize / 2);
        assert_eq!(served(&mut quotas, now + Duration::from_secs(3600)), PEER_BURST as usize);
    }

    #[test]
    fn quiet_peers_are_forgotten_and_a_crowd_is_refused() {
        let (mut quotas, now) = (Quotas::default(), Instant::now());
        for _ in 0..3 * REMEMBERED {
            let peer = PeerId::random();
            if quotas.admit(peer, now) {
                quotas.done(&peer);
            }
        }
        assert_eq!(quotas.peers.len(), 2 * REMEMBERED);
        assert!(quotas.admit(PeerId::random(), now + Duration::from_secs(60)));
        assert_eq!(quotas.peers.len(), 1);
    }
}
