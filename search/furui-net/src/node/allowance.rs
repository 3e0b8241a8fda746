use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

use furui_search::Peer;

use super::used::{MINUTE, Used};
use crate::net::Prefix;

/// The maximum mean number of bytes of postings and records that one peer may store per minute. After a pause, the peer
/// may store this number of bytes at once.
const PEER_BYTES: u64 = 256 << 20;
/// The maximum mean number of bytes that all peers together may store per minute. When it is used up, an address prefix
/// that has used less than its part of it may use the rest of that, up to twice as much in all.
const ALL_BYTES: u64 = 1 << 30;
/// The maximum mean number of bytes that one peer may add, per day, to documents that others have brought.
const FOREIGN_BYTES: u64 = 64 << 20;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// The maximum number of peers that are remembered. Identities are free, so when it is reached, those that have stored
/// the least are forgotten.
const PEERS: usize = 4096;
/// The maximum number of address prefixes that are remembered.
const PREFIXES: usize = 4096;

/// Limits how much other nodes store on this one, measured in bytes of their messages. A posting takes about twenty
/// bytes of a message.
#[derive(Default)]
pub(super) struct Allowance {
    peers: HashMap<Peer, Used>,
    prefixes: HashMap<Prefix, Used>,
    foreign: HashMap<Peer, Used>,
    all: Used,
}

impl Allowance {
    /// True if the peer may store this many more bytes. They then count as used.
    pub(super) fn grants(&mut self, (peer, prefix): (&Peer, Prefix), bytes: usize, now: Duration) -> bool {
        let of_others = |used: &Used| used.within(DAY, now, FOREIGN_BYTES);
        if self.foreign.get(peer).map_or(0, of_others) > FOREIGN_BYTES {
            return false;
        }
        let of_peer = self.peers.get(peer).copied().unwrap_or_default();
        let of_peer = of_peer.plus(bytes as u64, MINUTE, now, PEER_BYTES);
        let of_prefix = self.prefixes.get(&prefix).copied().unwrap_or_default();
        let of_prefix = of_prefix.plus(bytes as u64, MINUTE, now, ALL_BYTES);
        let of_all = self.all.plus(bytes as u64, MINUTE, now, ALL_BYTES);
        let used = |used: Used, allowed| used.within(MINUTE, now, allowed);
        if used(of_peer, PEER_BYTES) > PEER_BYTES {
            return false;
        }
        if used(of_all, ALL_BYTES) > ALL_BYTES {
            let has_used = |(other, spent): &(&Prefix, &Used)| **other != prefix && used(**spent, ALL_BYTES) > 0;
            let parts = 1 + self.prefixes.iter().filter(has_used).count() as u64;
            if used(of_prefix, ALL_BYTES) > ALL_BYTES / parts || used(of_all, ALL_BYTES) > 2 * ALL_BYTES {
                return false;
            }
        }
        remember(&mut self.peers, peer.clone(), of_peer, PEERS, |it| used(it, PEER_BYTES));
        remember(&mut self.prefixes, prefix, of_prefix, PREFIXES, |it| used(it, ALL_BYTES));
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
        let before = self.foreign.get(peer).copied().unwrap_or_default();
        let after = before.plus(bytes, DAY, now, FOREIGN_BYTES);
        remember(&mut self.foreign, peer.clone(), after, PEERS, |it| used(&it));
    }
}

/// Notes what somebody has used. If there are `most` others already, half of them are forgotten: those that have used the
/// least.
fn remember<K: Clone + Eq + Hash>(
    all: &mut HashMap<K, Used>,
    key: K,
    used: Used,
    most: usize,
    of: impl Fn(Used) -> u64,
) {
    if all.len() >= most && !all.contains_key(&key) {
        let mut amounts: Vec<u64> = all.values().map(|used| of(*used)).collect();
        let (_, &mut middle, _) = amounts.select_nth_unstable(most / 2);
        let mut left = most / 2 - amounts.iter().filter(|amount| **amount > middle).count().min(most / 2);
        all.retain(|_, used| {
            let is_middle = of(*used) == middle && left > 0;
            left -= usize::from(is_middle);
            is_middle || of(*used) > middle
        });
    }
    all.insert(key, used);
}

#[cfg(test)]
mod tests {
    use super::*;

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
        // All together have a limit, too.
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
        (0..2 * PEERS).for_each(|number| allowance.charge_foreign(&peer(number), 1, DAY));
        assert!(allowance.foreign.len() <= PEERS);
    }

    #[test]
    fn a_crowd_of_new_identities_keeps_nobody_from_storing() {
        let (mut allowance, greedy) = (Allowance::default(), peer(usize::MAX));
        assert_eq!(granted(&mut allowance, (&greedy, host(1)), Duration::ZERO), PEER_BYTES);
        for number in 0..3 * PEERS {
            assert!(allowance.grants(
                (&peer(number), Prefix::V6(std::array::from_fn(|at| (number >> at) as u8))),
                1,
                Duration::ZERO
            ));
        }
        assert!(allowance.peers.len() <= PEERS && allowance.prefixes.len() <= PREFIXES);
        // Who has stored much is not forgotten.
        assert!(!allowance.grants((&greedy, host(1)), MIB, Duration::ZERO));
    }
}
