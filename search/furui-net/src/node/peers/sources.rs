use std::collections::HashMap;
use std::time::Duration;

use furui_search::Peer;

use crate::meters::make_room;
use crate::net::Prefix;

/// The time for which data of a peer that has sent a false posting is refused. The value is a choice, not a
/// measurement.
pub(in crate::node) const REFUSED_FOR: Duration = Duration::from_secs(60 * 60);
/// If at least this number of peers at an address prefix have sent false postings, everything from that prefix is
/// checked. The value is a choice, not a measurement.
const DISTRUSTED_AFTER: usize = 3;
/// A peer counts as known, so that fewer of its documents are checked, if this number of them were checked and all were
/// true. The value is a choice, not a measurement.
const KNOWN_AFTER: u64 = 64;
/// The maximum number of entries in each of the two maps of [`Sources`]. The value is a choice, not a measurement.
const PEERS: usize = 4096;

/// Remembers the peers that have sent false postings, and the numbers of checked true documents of the others.
#[derive(Default)]
pub(in crate::node) struct Sources {
    /// The peers that lied, each with its address prefix and the time until which its data is refused.
    liars: HashMap<Peer, (String, Duration)>,
    /// For each other peer, the number of its documents that were checked and found true.
    checked: HashMap<Peer, u64>,
}

impl Sources {
    /// Records that a peer has sent a false posting at `now`, so that its data is refused for a while. The number of
    /// its checked true documents is discarded.
    pub(in crate::node) fn add(&mut self, peer: &Peer, prefix: &str, now: Duration) {
        self.checked.remove(peer);
        make_room(&mut self.liars, peer, PEERS, |(_, until)| *until);
        self.liars.insert(peer.clone(), (prefix.to_owned(), now + REFUSED_FOR));
    }

    /// Records that this number of a peer's documents were checked and found true.
    pub(in crate::node) fn praise(&mut self, peer: &Peer, documents: u64) {
        // At the limit, the peer with the fewest checked documents is evicted, because it loses the least.
        make_room(&mut self.checked, peer, PEERS, |documents| *documents);
        *self.checked.entry(peer.clone()).or_default() += documents;
    }

    /// True if data of this peer is refused.
    pub(in crate::node) fn refuses(&self, peer: &Peer, now: Duration) -> bool {
        self.liars.get(peer).is_some_and(|(_, until)| *until > now)
    }

    /// True if everything from peers at this address prefix is checked. Such peers are not refused, because honest
    /// peers may share an address with liars.
    pub(in crate::node) fn distrusts(&self, prefix: Prefix, now: Duration) -> bool {
        let name = prefix.to_string();
        let liars = self.liars.values().filter(|(other, until)| *other == name && *until > now);
        prefix != Prefix::Local && liars.take(DISTRUSTED_AFTER).count() == DISTRUSTED_AFTER
    }

    /// True if at least [`KNOWN_AFTER`] documents of the peer were checked and found true, so that fewer are checked
    /// from then on.
    pub(in crate::node) fn knows(&self, peer: &Peer) -> bool {
        self.checked.get(peer).is_some_and(|checked| *checked >= KNOWN_AFTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(number: usize) -> Peer {
        Peer::new(&number.to_le_bytes(), &[])
    }

    #[test]
    fn who_lied_is_refused_for_a_time_and_its_address_is_distrusted_after_three() {
        let (mut sources, start, home) = (Sources::default(), Duration::from_secs(9), Prefix::V4([192, 0, 2, 1]));
        sources.praise(&peer(0), KNOWN_AFTER);
        assert!(sources.knows(&peer(0)) && !sources.knows(&peer(1)));
        for number in 0..DISTRUSTED_AFTER {
            assert!(!sources.distrusts(home, start) && !sources.refuses(&peer(number), start));
            sources.add(&peer(number), &home.to_string(), start);
            assert!(sources.refuses(&peer(number), start) && !sources.knows(&peer(number)));
        }
        assert!(sources.distrusts(home, start) && !sources.distrusts(Prefix::V4([192, 0, 2, 2]), start));
        assert!(!sources.refuses(&peer(7), start));
        let later = start + REFUSED_FOR;
        assert!(!sources.refuses(&peer(0), later) && !sources.distrusts(home, later));
    }

    #[test]
    fn a_crowd_does_not_fill_the_memory() {
        let mut sources = Sources::default();
        sources.praise(&peer(0), 1000);
        for number in 1..2 * PEERS {
            sources.praise(&peer(number), 1);
            sources.add(&peer(number + 2 * PEERS), "nowhere", Duration::from_secs(number as u64));
        }
        assert!(sources.liars.len() <= PEERS && sources.checked.len() <= PEERS && sources.knows(&peer(0)));
    }
}
