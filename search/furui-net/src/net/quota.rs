use std::time::Duration;

use libp2p::PeerId;
use tokio::time::Instant;

use super::Prefix;
use crate::meters::{Limit, Meters};

/// The maximum number of one peer's requests that are served at a time. Chosen: more than a search sends to one peer at
/// a time.
pub(super) const PEER_IN_FLIGHT: u32 = 32;
/// The maximum number of requests of one address prefix that are served at a time. Chosen: as many as those of four
/// busy peers.
const PREFIX_IN_FLIGHT: u32 = 128;
/// The maximum number of requests, of all peers together, that are served at a time. Chosen: two busy prefixes.
pub(super) const MAX_IN_FLIGHT: usize = 256;
/// The number of requests that a peer may send at once after a pause, and per [`BURST_TIME`] on average. The value is a
/// choice, not a measurement.
const PEER_BURST: u64 = 2000;
/// The period in which a peer may send [`PEER_BURST`] requests. Chosen: a thousand requests a second.
const BURST_TIME: Duration = Duration::from_secs(2);

/// Limits the requests of other nodes, by peer, by address prefix, and in total.
pub(super) struct Quotas {
    started: Instant,
    rates: Meters<PeerId>,
    peers: Meters<PeerId>,
    prefixes: Meters<Prefix>,
    in_flight: usize,
}

impl Default for Quotas {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            rates: Meters::new(Limit::per(PEER_BURST, BURST_TIME)),
            peers: Meters::new(Limit::held(PEER_IN_FLIGHT.into())),
            prefixes: Meters::new(Limit::held(PREFIX_IN_FLIGHT.into())),
            in_flight: 0,
        }
    }
}

impl Quotas {
    /// Admits a request if neither its peer, nor its address prefix, nor all peers together exceed their quota.
    ///
    /// # Errors
    /// The reason why the request is refused.
    pub(super) fn admit(&mut self, peer: PeerId, prefix: Prefix, now: Instant) -> Result<(), &'static str> {
        let now = now.duration_since(self.started);
        if prefix != Prefix::Local && !self.prefixes.allows(&prefix, 1, now) {
            return Err("its address had too many requests at once");
        }
        if self.in_flight >= MAX_IN_FLIGHT {
            return Err("all peers together had too many requests at once");
        }
        if !self.peers.allows(&peer, 1, now) {
            return Err("it had too many requests at once");
        }
        if !self.rates.allows(&peer, 1, now) {
            return Err("it asked too often");
        }
        self.rates.charge(&peer, 1, now);
        self.peers.charge(&peer, 1, now);
        self.prefixes.charge(&prefix, 1, now);
        self.in_flight += 1;
        Ok(())
    }

    /// Records that an admitted request has ended, with or without an answer.
    pub(super) fn done(&mut self, peer: &PeerId, prefix: Prefix) {
        self.peers.give_back(peer, 1);
        self.prefixes.give_back(&prefix, 1);
        self.in_flight -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meters::ACCOUNTS;

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
        assert_eq!(served(&mut quotas, now + Duration::from_millis(500)), PEER_BURST as usize / 4);
        assert_eq!(served(&mut quotas, now + Duration::from_secs(3600)), PEER_BURST as usize);
    }

    #[test]
    fn a_crowd_of_peers_keeps_nobody_out() {
        let (mut quotas, now, greedy) = (Quotas::default(), Instant::now(), PeerId::random());
        let mut asks = |peer: PeerId| {
            let is_admitted = admit(&mut quotas, peer, now);
            if is_admitted {
                quotas.done(&peer, Prefix::Local);
            }
            is_admitted
        };
        assert_eq!((0..5000).filter(|_| asks(greedy)).count(), PEER_BURST as usize);
        assert!((0..3 * ACCOUNTS).all(|_| asks(PeerId::random())));
        assert!(!asks(greedy), "it is not forgotten");
    }
}
