use std::collections::HashMap;
use std::time::Duration;

use libp2p::PeerId;
use tokio::time::Instant;

use super::Prefix;

/// The maximum number of one peer's requests that are served at a time.
pub(super) const PEER_IN_FLIGHT: u32 = 32;
/// The maximum number of requests of one address prefix that are served at a time.
const PREFIX_IN_FLIGHT: u32 = 128;
/// The maximum number of all peers' requests that are served at a time.
pub(super) const MAX_IN_FLIGHT: usize = 256;
/// The maximum mean number of requests of a peer per second.
const PEER_RATE: f64 = 1000.0;
/// The maximum number of requests that a peer may make at once after a pause.
const PEER_BURST: f64 = 2000.0;
/// The maximum number of peers that are remembered, with or without requests in flight. At the maximum, the requests of
/// other peers are refused.
const REMEMBERED: usize = 4096;

/// Admits requests of other nodes.
#[derive(Default)]
pub(super) struct Quotas {
    peers: HashMap<PeerId, Share>,
    /// The number of requests in flight of each address prefix that has some.
    prefixes: HashMap<Prefix, u32>,
    in_flight: usize,
}

/// The share of one peer: a token bucket, and its requests in flight.
struct Share {
    in_flight: u32,
    tokens: f64,
    at: Instant,
}

impl Quotas {
    /// Admits a request if neither its peer, nor its address prefix, nor all peers together exceed their quota.
    ///
    /// # Errors
    /// The reason why the request is refused.
    pub(super) fn admit(&mut self, peer: PeerId, prefix: Prefix, now: Instant) -> Result<(), &'static str> {
        if self.peers.len() >= REMEMBERED && !self.peers.contains_key(&peer) {
            // A peer whose bucket is full again need not be remembered.
            let full = Duration::from_secs_f64(PEER_BURST / PEER_RATE);
            self.peers.retain(|_, share| share.in_flight > 0 || now.duration_since(share.at) < full);
            if self.peers.len() >= REMEMBERED {
                return Err("too many peers asked");
            }
        }
        let of_prefix = self.prefixes.get(&prefix).copied().unwrap_or_default();
        if prefix != Prefix::Local && of_prefix >= PREFIX_IN_FLIGHT {
            return Err("its address had too many requests at once");
        }
        if self.in_flight >= MAX_IN_FLIGHT {
            return Err("all peers together had too many requests at once");
        }
        let share = self.peers.entry(peer).or_insert(Share { in_flight: 0, tokens: PEER_BURST, at: now });
        let earned = now.duration_since(share.at).as_secs_f64() * PEER_RATE;
        share.tokens = (share.tokens + earned).min(PEER_BURST);
        share.at = now;
        if share.in_flight >= PEER_IN_FLIGHT {
            return Err("it had too many requests at once");
        }
        if share.tokens < 1.0 {
            return Err("it asked too often");
        }
        share.tokens -= 1.0;
        share.in_flight += 1;
        self.in_flight += 1;
        *self.prefixes.entry(prefix).or_default() += 1;
        Ok(())
    }

    /// Notes that an admitted request has ended, with or without an answer.
    pub(super) fn done(&mut self, peer: &PeerId, prefix: Prefix) {
        if let Some(share) = self.peers.get_mut(peer) {
            share.in_flight -= 1;
            self.in_flight -= 1;
            let of_prefix = self.prefixes.entry(prefix).or_default();
            *of_prefix = of_prefix.saturating_sub(1);
            if *of_prefix == 0 {
                self.prefixes.remove(&prefix);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admit(quotas: &mut Quotas, peer: PeerId, now: Instant) -> bool {
        quotas.admit(peer, Prefix::Local, now).is_ok()
    }

    #[test]
    fn many_identities_at_one_address_leave_room_for_others() {
        let (mut quotas, now) = (Quotas::default(), Instant::now());
        let (host, other) = (Prefix::V4([127, 0, 0, 2]), Prefix::V4([127, 0, 0, 3]));
        let peers: Vec<PeerId> = (0..1000).map(|_| PeerId::random()).collect();
        let admitted = peers.iter().filter(|peer| quotas.admit(**peer, host, now).is_ok()).count();
        assert_eq!(admitted, PREFIX_IN_FLIGHT as usize);
        assert_eq!(quotas.admit(peers[0], other, now), Ok(()));
        quotas.done(&peers[1], host);
        assert_eq!(quotas.admit(peers[500], host, now), Ok(()));
    }

    #[test]
    fn a_peer_has_so_many_in_flight_and_others_are_not_hindered() {
        let (mut quotas, now, peer) = (Quotas::default(), Instant::now(), PeerId::random());
        let let_in = (0..100).filter(|_| admit(&mut quotas, peer, now)).count();
        assert_eq!(let_in, PEER_IN_FLIGHT as usize);
        assert!(admit(&mut quotas, PeerId::random(), now));
        quotas.done(&peer, Prefix::Local);
        assert!(admit(&mut quotas, peer, now));
        assert!(!admit(&mut quotas, peer, now));
    }

    #[test]
    fn all_together_have_so_many_in_flight() {
        let (mut quotas, now) = (Quotas::default(), Instant::now());
        assert_eq!((0..1000).filter(|_| admit(&mut quotas, PeerId::random(), now)).count(), MAX_IN_FLIGHT);
    }

    #[test]
    fn a_peer_earns_requests_with_time() {
        let (mut quotas, now, peer) = (Quotas::default(), Instant::now(), PeerId::random());
        let served = |quotas: &mut Quotas, now| {
            (0..5000)
                .filter(|_| {
                    admit(quotas, peer, now) && {
                        quotas.done(&peer, Prefix::Local);
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
        for _ in 0..REMEMBERED + 100 {
            let peer = PeerId::random();
            if admit(&mut quotas, peer, now) {
                quotas.done(&peer, Prefix::Local);
            }
        }
        assert_eq!(quotas.peers.len(), REMEMBERED);
        assert!(admit(&mut quotas, PeerId::random(), now + Duration::from_secs(60)));
        assert_eq!(quotas.peers.len(), 1);
    }
}
