use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use furui_search::Peer;
use libp2p::PeerId;
use libp2p::kad::{K_VALUE, KBucketDistance as Distance, KBucketKey as Key};
use tokio::time::Instant;

use super::area::Area;
use super::known::{KnownPeer, id};

/// The time for which the result of a look-up of a key's nearest nodes is reused. The value is a choice, not a
/// measurement.
const CACHE_LIFE: Duration = Duration::from_secs(600);
/// The maximum number of look-up results that are cached. The value is a choice, not a measurement.
const CACHE_KEYS: usize = 16384;
/// The maximum number of cached look-up results with many peers, which also answer look-ups of keys nearby. The value
/// is a choice, not a measurement.
const AREAS: usize = 256;
/// The number of buckets of a routing table: one for each number of leading bits that a peer's key shares with this
/// node's.
pub(super) const BUCKETS: usize = 256;

/// Finds the nodes nearest to a key without asking other nodes: in the routing table, where it is complete, or in the
/// result of an earlier look-up.
///
/// The peers of a bucket lie in one subtree of the key space. If a look-up of twenty peers around a key of the subtree
/// finds fewer, or also finds peers outside of the subtree, then the bucket contains all nodes of the subtree, and the
/// nearest nodes of its keys are known. A full bucket may contain only some nodes of its subtree.
pub(super) struct Routes {
    me: Key<PeerId>,
    complete: [bool; BUCKETS],
    cache: HashMap<Vec<u8>, Found>,
    oldest_first: VecDeque<(Instant, Vec<u8>)>,
    /// The cached results of look-ups of many peers, from the oldest to the newest.
    areas: VecDeque<Area>,
}

/// The cached result of a look-up of the nodes nearest to a key.
struct Found {
    key: Key<Vec<u8>>,
    wanted: usize,
    peers: Vec<Peer>,
    at: Instant,
}

impl Routes {
    pub(super) fn new(me: PeerId) -> Self {
        Self {
            me: Key::from(me),
            complete: [false; BUCKETS],
            cache: HashMap::new(),
            oldest_first: VecDeque::new(),
            areas: VecDeque::new(),
        }
    }

    /// The index of the bucket that contains this key; `None` for this node's own key.
    pub(super) fn bucket<T>(&self, key: &Key<T>) -> Option<usize> {
        self.me.distance(key).ilog2().map(|bits| bits as usize)
    }

    /// Handles the result of a look-up of this node's own key: all nodes up to the farthest peer found are known.
    /// Returns the bucket of the farthest peer; a key must then be looked up in that bucket and in each bucket beyond
    /// it. `None` if the look-up has found all nodes of the network.
    pub(super) fn neighbours(&mut self, nearest: &[PeerId]) -> Option<usize> {
        self.complete = [true; BUCKETS];
        if nearest.len() < K_VALUE.get() {
            return None;
        }
        let edge = nearest.iter().filter_map(|peer| self.bucket(&Key::from(*peer))).max()?;
        self.complete[edge..].fill(false);
        Some(edge)
    }

    /// Handles the result of a look-up of a key in the bucket with this index.
    pub(super) fn looked_up(&mut self, bucket: usize, nearest: &[PeerId]) {
        let inside = nearest.iter().filter(|peer| self.bucket(&Key::from(**peer)) == Some(bucket)).count();
        self.complete[bucket] = inside < K_VALUE.get();
    }

    /// Handles the addition of a peer to the routing table. Its bucket has `in_bucket` peers with it.
    pub(super) fn joined(&mut self, peer: PeerId, in_bucket: usize) {
        let new = Key::from(peer);
        if let Some(bucket) = self.bucket(&new)
            && in_bucket >= K_VALUE.get()
        {
            self.complete[bucket] = false;
        }
        self.areas.retain(|area| area.outlives(&new));
        // A cached result that would contain the peer is out of date.
        self.cache.retain(|_, found| {
            let farthest = found.peers.iter().filter_map(|peer| distance(&found.key, peer)).max();
            found.peers.len() >= found.wanted && farthest.is_some_and(|d| d < found.key.distance(&new))
        });
    }

    /// Removes the cached results that contain this peer, because it did not answer.
    pub(super) fn failed(&mut self, peer: &PeerId) {
        let identity = peer.to_bytes();
        self.cache.retain(|_, found| found.peers.iter().all(|peer| peer.identity() != identity));
        let key = Key::from(*peer);
        self.areas.retain(|area| !area.names(&key));
    }

    /// The `n` nodes nearest to a key from a cached look-up of the key or of many peers around it; `None` if there is
    /// none that is valid.
    pub(super) fn cached(&self, key: &Key<Vec<u8>>, n: usize, now: Instant) -> Option<Vec<Peer>> {
        let stands = |at: Instant| now.duration_since(at) < CACHE_LIFE;
        let found = self.cache.get(key.preimage()).filter(|found| found.wanted >= n && stands(found.at));
        found.map(|found| found.peers.iter().take(n).cloned().collect()).or_else(|| {
            let mut areas = self.areas.iter().rev().take_while(|area| stands(area.at));
            areas.find_map(|area| area.nearest(key, n))
        })
    }

    /// Caches the result of a look-up of many peers that found the requested number. It also answers look-ups of keys
    /// nearby.
    pub(super) fn keep_area(&mut self, key: &Key<Vec<u8>>, peers: Vec<KnownPeer>, now: Instant) {
        if self.areas.len() == AREAS {
            self.areas.pop_front();
        }
        self.areas.extend(Area::new(key.clone(), peers, now));
    }

    /// Caches the result of a look-up of the nodes nearest to `key`. `wanted` is the number of nodes that were
    /// requested.
    pub(super) fn keep(&mut self, key: Vec<u8>, wanted: usize, peers: Vec<Peer>, now: Instant) {
        let found = Found { key: Key::new(key.clone()), wanted, peers, at: now };
        self.cache.insert(key.clone(), found);
        self.oldest_first.push_back((now, key));
        while self.oldest_first.len() > CACHE_KEYS {
            if let Some((at, key)) = self.oldest_first.pop_front()
                && self.cache.get(&key).is_some_and(|found| found.at == at)
            {
                self.cache.remove(&key);
            }
        }
    }

    /// The `n` nodes nearest to `key`, possibly including this node `me`; `None` if `table` may lack some of them.
    pub(super) fn known(&self, table: &[KnownPeer], me: &Peer, key: &Key<Vec<u8>>, n: usize) -> Option<Vec<Peer>> {
        let mut counts = [0; BUCKETS];
        for known in table {
            if let Some(bucket) = self.bucket(&known.key) {
                counts[bucket] += 1;
            }
        }
        let whole = |bucket: usize| self.complete[bucket] && counts[bucket] < K_VALUE.get();
        let home = self.bucket(key).unwrap_or(0);
        if !whole(home) {
            return None;
        }
        // The subtrees that contain the key, from the smallest to the largest: first the key's bucket; then this node
        // with all buckets up to the key's; then with one bucket more, and so on.
        let nearest = self.nearest(table, me, key, table.len() + 1);
        if counts[home] >= n {
            let within = |peer: &Peer| bucket_of(&self.me, peer) == Some(home);
            return Some(nearest.into_iter().filter(within).take(n).collect());
        }
        let mut size = 1;
        for (bucket, count) in counts.iter().enumerate() {
            if bucket > home && size >= n {
                break;
            }
            if !whole(bucket) {
                return None;
            }
            size += count;
        }
        Some(nearest.into_iter().take(n).collect())
    }

    /// The `n` nodes nearest to `key` among this node and those of `table`, in ascending distance.
    pub(super) fn nearest<T>(&self, table: &[KnownPeer], me: &Peer, key: &Key<T>, n: usize) -> Vec<Peer> {
        let mut all: Vec<(Distance, &Peer)> =
            table.iter().map(|known| (known.key.distance(key), &known.peer)).collect();
        all.push((self.me.distance(key), me));
        all.sort_unstable_by_key(|&(distance, _)| distance);
        all.into_iter().take(n).map(|(_, peer)| peer.clone()).collect()
    }
}

fn distance<T>(key: &Key<T>, peer: &Peer) -> Option<Distance> {
    id(peer).map(|id| key.distance(&Key::from(id)))
}

fn bucket_of(me: &Key<PeerId>, peer: &Peer) -> Option<usize> {
    distance(me, peer)?.ilog2().map(|bits| bits as usize)
}
