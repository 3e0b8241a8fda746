use std::time::Duration;

use furui_search::Peer;

use crate::meters::{FairShare, Limit, MINUTE, Meters};
use crate::net::Prefix;

/// The maximum average rate at which one peer may store postings and records, in bytes per minute. After a pause, the
/// peer may store this number of bytes at once. Chosen: a peer publishes a large corpus at once, and not all peers do.
const PEER_BYTES: u64 = 256 << 20;
/// The maximum average rate at which all peers together may store data, in bytes per minute. When it is used up, an
/// address prefix that has used less than its equal share may still store the rest of its share, so that the total may
/// reach twice the maximum. Chosen: four peers that publish at the maximum rate.
const ALL_BYTES: u64 = 1 << 30;
/// The maximum average rate at which one peer may add postings to documents that other peers have brought, in bytes per
/// day. Chosen: publishers of the same page add few bytes.
const FOREIGN_BYTES: u64 = 64 << 20;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Limits the amount of data that other nodes store on this one, measured in bytes of their messages. A posting takes
/// about twenty bytes of a message.
pub(in crate::node) struct Allowance {
    peers: Meters<Peer>,
    prefixes: FairShare<Prefix>,
    foreign: Meters<Peer>,
}

impl Default for Allowance {
    fn default() -> Self {
        let all = Limit::per(ALL_BYTES, MINUTE);
        Self {
            peers: Meters::new(Limit::per(PEER_BYTES, MINUTE)),
            prefixes: FairShare::new(all, all),
            foreign: Meters::new(Limit::per(FOREIGN_BYTES, DAY)),
        }
    }
}

impl Allowance {
    /// Returns true if the peer may store this number of further bytes, and then counts them as used.
    pub(in crate::node) fn grants(&mut self, (peer, prefix): (&Peer, Prefix), bytes: usize, now: Duration) -> bool {
        let bytes = bytes as u64;
        let grants = self.foreign.allows(peer, 0, now)
            && self.peers.allows(peer, bytes, now)
            && self.prefixes.allows(&prefix, bytes, now);
        if grants {
            self.peers.charge(peer, bytes, now);
            self.prefixes.charge(&prefix, bytes, now);
        }
        grants
    }

    /// Counts the bytes that a peer has added to documents that others have brought. A peer that exceeds the limit may
    /// store nothing for some time.
    pub(in crate::node) fn charge_foreign(&mut self, peer: &Peer, bytes: u64, now: Duration) {
        if bytes > 0 {
            self.foreign.charge(peer, bytes, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meters::ACCOUNTS;

    const MIB: usize = 1 << 20;

    fn host(number: u8) -> Prefix {
        Prefix::V4([192, 0, 2, number])
    }

    fn granted(allowance: &mut Allowance, from: (&Peer, Prefix), now: Duration) -> u64 {
        (0..ALL_BYTES).take_while(|_| allowance.grants(from, MIB, now)).count() as u64 * MIB as u64
    }

    fn peer(number: usize) -> Peer {
        Peer::new(&number.to_le_bytes(), &[])
    }

    #[test]
    fn a_peer_stores_so_much_a_minute_and_all_together_so_much() {
        let (mut allowance, start) = (Allowance::default(), Duration::from_secs(5));
        assert_eq!(granted(&mut allowance, (&peer(0), host(0)), start), PEER_BYTES);
        assert_eq!(granted(&mut allowance, (&peer(0), host(0)), start + MINUTE / 2), PEER_BYTES / 2);
        let others: u64 = (1..10).map(|it| granted(&mut allowance, (&peer(it), host(0)), start + MINUTE / 2)).sum();
        assert_eq!(others, ALL_BYTES - PEER_BYTES / 2);
        assert_eq!(granted(&mut allowance, (&peer(9), host(0)), start + 10 * MINUTE), PEER_BYTES);
    }

    #[test]
    fn an_address_that_uses_everything_leaves_others_their_part() {
        let (mut allowance, start) = (Allowance::default(), Duration::from_secs(5));
        let greedy: u64 = (0..10).map(|it| granted(&mut allowance, (&peer(it), host(1)), start)).sum();
        assert_eq!(greedy, ALL_BYTES);
        assert_eq!(granted(&mut allowance, (&peer(20), host(2)), start), PEER_BYTES);
        let all = |allowance: &mut Allowance, host| -> u64 {
            (0..10).map(|it| granted(allowance, (&peer(30 + it), host), start)).sum()
        };
        assert_eq!(all(&mut allowance, host(3)) / MIB as u64, (ALL_BYTES / 3) / MIB as u64);
        // The sum over all peers is limited, too.
        let others: u64 = (4..100).map(|number| all(&mut allowance, host(number))).sum();
        assert!(others + ALL_BYTES + PEER_BYTES + ALL_BYTES / 3 <= 2 * ALL_BYTES + MIB as u64);
    }

    #[test]
    fn who_adds_much_to_the_documents_of_others_stores_nothing_for_some_time() {
        let mut allowance = Allowance::default();
        let one = (&peer(1), host(1));
        allowance.charge_foreign(one.0, FOREIGN_BYTES, Duration::ZERO);
        assert!(allowance.grants(one, 1, Duration::ZERO));
        allowance.charge_foreign(one.0, FOREIGN_BYTES, Duration::ZERO);
        assert!(!allowance.grants(one, 1, DAY / 2) && allowance.grants(one, 1, DAY));
        assert!(allowance.grants((&peer(2), host(1)), 1, Duration::ZERO));
    }

    #[test]
    fn a_crowd_of_new_identities_keeps_nobody_from_storing() {
        let (mut allowance, greedy) = (Allowance::default(), peer(usize::MAX));
        assert_eq!(granted(&mut allowance, (&greedy, host(1)), Duration::ZERO), PEER_BYTES);
        for number in 0..3 * ACCOUNTS {
            assert!(allowance.grants(
                (&peer(number), Prefix::V6(std::array::from_fn(|at| (number >> at) as u8))),
                1,
                Duration::ZERO
            ));
        }
        // A peer that has stored much is still limited.
        assert!(!allowance.grants((&greedy, host(1)), MIB, Duration::ZERO));
    }
}
