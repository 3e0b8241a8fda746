use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::time::Duration;

use furui_search::Peer;

use crate::meters::{ACCOUNTS, Accounts};
use crate::net::{Inbound, Prefix};

/// The maximum number of peers of one address prefix whose charged work is remembered. Chosen: as many as may have
/// connections.
const PEERS: usize = 64;

/// Chooses the next request by the thread's work for earlier ones: a peer with costly requests waits longer. First the
/// address prefix with the least work is chosen, then the peer with the least work in it, so many identities at one
/// address share the time of one.
///
/// Work is counted as in start-time fair queueing (Goyal, Vin and Cheng 1996): a party that returns after a pause
/// starts at the current virtual time, so a pause earns no credit. If only one peer has requests, it gets all of the
/// thread's time.
#[derive(Default)]
pub(super) struct Scheduler {
    waiting: HashMap<Prefix, HashMap<Peer, VecDeque<Inbound>>>,
    prefixes: Work<Prefix>,
    /// For each address prefix, the work charged to its peers.
    peers: Accounts<Prefix, Work<Peer, PEERS>>,
}

/// The work charged to each party (a prefix or a peer), in virtual time, and the current virtual time.
struct Work<K, const MOST: usize = ACCOUNTS> {
    done: Accounts<K, Duration, MOST>,
    now: Duration,
}

impl<K, const MOST: usize> Default for Work<K, MOST> {
    fn default() -> Self {
        Self { done: Accounts::default(), now: Duration::ZERO }
    }
}

impl<K: Clone + Eq + Hash, const MOST: usize> Work<K, MOST> {
    fn of(&self, key: &K) -> Duration {
        self.done.get(key).copied().unwrap_or_default().max(self.now)
    }

    fn add(&mut self, key: &K, work: Duration) {
        let (done, now) = (self.of(key) + work, self.now);
        *self.done.entry(key, |_, done| done.saturating_sub(now).as_secs_f64()) = done;
    }
}

impl Scheduler {
    /// Adds a request to the queue of its peer.
    pub(super) fn push(&mut self, inbound: Inbound) {
        let peers = self.waiting.entry(inbound.prefix).or_default();
        peers.entry(inbound.from.clone()).or_default().push_back(inbound);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Removes and returns the next request; `None` if there is none.
    pub(super) fn pop(&mut self) -> Option<Inbound> {
        let prefix = *self.waiting.keys().min_by_key(|prefix| (self.prefixes.of(prefix), **prefix))?;
        let peers = self.waiting.get_mut(&prefix)?;
        let work = self.peers.entry(&prefix, |prefix, _| self.prefixes.of(prefix).as_secs_f64());
        let peer = peers.keys().min_by_key(|peer| work.of(peer))?.clone();
        self.prefixes.now = self.prefixes.of(&prefix);
        work.now = work.of(&peer);
        let requests = peers.get_mut(&peer)?;
        let request = requests.pop_front();
        if requests.is_empty() {
            peers.remove(&peer);
        }
        if peers.is_empty() {
            self.waiting.remove(&prefix);
        }
        request
    }

    /// Charges the time spent on a request to its peer and address prefix.
    pub(super) fn charge(&mut self, prefix: Prefix, peer: &Peer, work: Duration) {
        self.prefixes.add(&prefix, work);
        self.peers.entry(&prefix, |prefix, _| self.prefixes.of(prefix).as_secs_f64()).add(peer, work);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Reply;

    /// Makes a request of the peer with this number at the host with this number.
    fn request(host: u8, peer: u8) -> Inbound {
        let (reply, _) = Reply::new(None);
        Inbound { from: Peer::new(&[host, peer], &[]), prefix: Prefix::V4([127, 0, 0, host]), request: vec![], reply }
    }

    /// Serves requests for `time` simulated milliseconds, where `cost` returns the duration of a request of a prefix.
    /// Returns the served requests.
    fn serve(scheduler: &mut Scheduler, mut time: u64, cost: impl Fn(Prefix) -> u64) -> Vec<Inbound> {
        let mut served = vec![];
        while let Some(next) = (time > 0).then(|| scheduler.pop()).flatten() {
            let cost = cost(next.prefix);
            scheduler.charge(next.prefix, &next.from, Duration::from_millis(cost));
            time = time.saturating_sub(cost);
            served.push(next);
        }
        served
    }

    fn of(served: &[Inbound], host: u8) -> usize {
        served.iter().filter(|request| request.prefix == Prefix::V4([127, 0, 0, host])).count()
    }

    #[test]
    fn who_asks_for_much_work_waits_longer_than_who_asks_for_little() {
        let mut scheduler = Scheduler::default();
        (0..100).for_each(|_| scheduler.push(request(1, 1)));
        let cost = |prefix| if prefix == Prefix::V4([127, 0, 0, 1]) { 100 } else { 1 };
        assert_eq!(of(&serve(&mut scheduler, 1000, cost), 1), 10);
        // Another peer sends requests, behind 90 waiting ones.
        (0..100).for_each(|_| scheduler.push(request(2, 1)));
        let served = serve(&mut scheduler, 200, cost);
        assert_eq!((of(&served, 1), of(&served, 2)), (1, 100));
        assert_eq!(of(&serve(&mut scheduler, u64::MAX, cost), 1), 89);
        assert!(scheduler.is_empty());
    }

    #[test]
    fn many_identities_at_one_address_have_the_turns_of_one() {
        let mut scheduler = Scheduler::default();
        (0..50).for_each(|peer| (0..10).for_each(|_| scheduler.push(request(1, peer))));
        (0..500).for_each(|_| scheduler.push(request(2, 1)));
        let served = serve(&mut scheduler, 400, |_| 1);
        assert_eq!((of(&served, 1), of(&served, 2)), (200, 200));
        // All identities at one address together get the share of one address.
        let of_one = served.iter().filter(|request| request.from == Peer::new(&[1, 7], &[])).count();
        assert_eq!(of_one, 4);
    }

    #[test]
    fn a_pause_earns_nothing() {
        let mut scheduler = Scheduler::default();
        (0..100).for_each(|_| scheduler.push(request(1, 1)));
        serve(&mut scheduler, u64::MAX, |_| 10);
        (0..100).for_each(|_| [1, 2].into_iter().for_each(|host| scheduler.push(request(host, 1))));
        let served = serve(&mut scheduler, 100, |_| 1);
        assert!(of(&served, 1).abs_diff(of(&served, 2)) <= 12, "{} and {}", of(&served, 1), of(&served, 2));
    }

    #[test]
    fn a_crowd_of_addresses_makes_nobody_forget_the_costly_one() {
        let mut scheduler = Scheduler::default();
        (0..200).for_each(|_| scheduler.push(request(1, 1)));
        serve(&mut scheduler, 1000, |_| 10);
        for host in 0..3 * ACCOUNTS {
            let host = Prefix::V4([10, 1 + (host >> 16) as u8, (host >> 8) as u8, host as u8]);
            scheduler.charge(host, &Peer::new(&[1], &[]), Duration::from_micros(1));
        }
        (0..200).for_each(|_| scheduler.push(request(2, 1)));
        assert_eq!(of(&serve(&mut scheduler, 9, |_| 1), 1), 0);
    }
}
