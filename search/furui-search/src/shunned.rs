use std::collections::HashMap;
use std::time::Duration;

use super::{Peer, limits};

/// The peers that recently did not answer or violated the protocol. Other peers are asked first.
///
/// Memory: at most [`limits::SHUNNED`] peers. If more peers fail, those that failed most recently are kept.
///
/// ```
/// use std::time::Duration;
/// use furui_search::{Peer, Shunned};
///
/// let mut shunned = Shunned::new(Duration::from_secs(30));
/// let peer = Peer::new(b"an identity", b"");
/// shunned.add(peer.clone(), Duration::ZERO);
/// assert!(shunned.has(&peer, Duration::from_secs(29)) && !shunned.has(&peer, Duration::from_secs(31)));
/// ```
#[derive(Debug)]
pub struct Shunned {
    life: Duration,
    until: HashMap<Peer, Duration>,
}

impl Shunned {
    /// Makes an empty list. A peer is removed when the time `life` has passed since it was added.
    pub fn new(life: Duration) -> Self {
        Self { life, until: HashMap::new() }
    }

    /// Adds a peer that has failed at the time `now`.
    pub fn add(&mut self, peer: Peer, now: Duration) {
        if self.until.len() >= limits::SHUNNED && !self.until.contains_key(&peer) {
            let oldest = self.until.iter().min_by_key(|(_, until)| **until).map(|(peer, _)| peer.clone());
            oldest.map(|oldest| self.until.remove(&oldest));
        }
        self.until.insert(peer, now + self.life);
    }

    /// Removes a peer that has answered.
    pub fn remove(&mut self, peer: &Peer) {
        self.until.remove(peer);
    }

    /// True if other peers should be asked before this peer.
    pub fn has(&self, peer: &Peer, now: Duration) -> bool {
        self.until.get(peer).is_some_and(|&until| until > now)
    }

    /// All peers that are shunned at the time `now`.
    pub fn peers(&self, now: Duration) -> impl Iterator<Item = &Peer> {
        self.until.iter().filter(move |(_, until)| **until > now).map(|(peer, _)| peer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIFE: Duration = Duration::from_secs(60);

    fn peer(number: usize) -> Peer {
        Peer::new(&number.to_le_bytes(), b"somewhere")
    }

    #[test]
    fn who_fails_is_in_it_for_a_while_or_until_it_answers() {
        let (mut shunned, start) = (Shunned::new(LIFE), Duration::from_secs(5));
        shunned.add(peer(1), start);
        shunned.add(peer(2), start);
        shunned.remove(&peer(2));
        shunned.add(peer(3), start + LIFE / 2);
        shunned.add(peer(1), start + LIFE / 4);
        let has = |now| (0..5).filter(|&number| shunned.has(&peer(number), now)).collect::<Vec<_>>();
        assert_eq!(has(start + LIFE), [1, 3]);
        assert_eq!(shunned.peers(start + LIFE).count(), 2);
        assert_eq!(has(start + LIFE + LIFE / 4), [3]);
        assert_eq!(shunned.peers(start + LIFE + LIFE / 4).collect::<Vec<_>>(), [&peer(3)]);
        assert!(has(start + LIFE + LIFE / 2).is_empty());
    }

    #[test]
    fn of_too_many_the_last_are_in_it() {
        let mut shunned = Shunned::new(LIFE);
        let at = |number: usize| Duration::from_millis(number as u64);
        for number in 0..2 * limits::SHUNNED {
            shunned.add(peer(number), at(number));
            // A peer that fails repeatedly is kept, and displaces no other peer.
            shunned.add(peer(0), at(number));
        }
        let now = at(2 * limits::SHUNNED);
        let peers = (1..2 * limits::SHUNNED).filter(|&number| shunned.has(&peer(number), now));
        assert!(shunned.has(&peer(0), now) && peers.eq(limits::SHUNNED + 1..2 * limits::SHUNNED));
        assert_eq!(shunned.peers(now).count(), limits::SHUNNED);
    }
}
