//! Performs look-ups, and updates the routing table.

use std::num::NonZeroUsize;
use std::time::Duration;

use furui_search::Peer;
use libp2p::kad::{self, K_VALUE, KBucketKey as Key, QueryResult};
use libp2p::swarm::DialError;
use libp2p::swarm::dial_opts::DialOpts;
use libp2p::{Multiaddr, PeerId};
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::Instant;

use super::super::behaviour;
use super::super::diversity;
use super::super::known::{self, KnownPeer};
use super::super::{PeerAddress, Prefix};
use super::refresh::JOIN_AGAIN;
use super::{Driver, Lookup};

/// The maximum number of addresses that are stored for a peer. The value is a choice, not a measurement.
const MAX_ADDRESSES: usize = 8;
/// The maximum number of addresses of nodes that this one does not know any more, which it tries again. The value is a
/// choice, not a measurement.
const MAX_REMEMBERED: usize = 256;

/// A peer is removed from the routing table if its connection ends again within this time after it was dialled to check
/// that it is alive. The value is a choice, not a measurement.
const PROBED: Duration = Duration::from_secs(10);
/// The maximum number of peers of which it is remembered that they were dialled to check that they are alive. The value
/// is a choice, not a measurement.
const MAX_PROBED: usize = 1024;

impl Driver {
    pub(super) fn on_kad(&mut self, event: kad::Event) {
        match event {
            kad::Event::OutboundQueryProgressed { id, result: QueryResult::GetClosestPeers(result), stats, .. } => {
                let (peers, whole) = match result {
                    Ok(found) => (found.peers, true),
                    Err(kad::GetClosestPeersError::Timeout { peers, .. }) => (peers, false),
                };
                if let Some(lookup) = self.lookups.remove(&id) {
                    // Who did not answer in time is left out, and may be the nearest of all.
                    self.looked_up(lookup, peers, whole && stats.num_failures() == 0);
                } else {
                    self.refreshed(id, peers, whole);
                }
            }
            kad::Event::RoutingUpdated { peer, is_new_peer: true, old_peer, .. } => {
                if let Some(old) = old_peer {
                    self.strikes.remove(&old);
                    self.routes.failed(&old);
                    self.note_neighbour(&old);
                }
                self.has_met = true;
                self.remembered.retain(|known| known.id() != peer);
                tracing::info!(%peer, "peer joined");
                let in_bucket = self.swarm.behaviour_mut().kad.kbucket(peer).map_or(0, |bucket| bucket.num_entries());
                self.routes.joined(peer, in_bucket);
                self.note_neighbour(&peer);
                self.grown();
            }
            _ => {}
        }
    }

    /// Looks up the `n` nodes nearest to a key, and then sends them as the answer.
    pub(in crate::net) fn closest(
        &mut self,
        key: Vec<u8>,
        n: usize,
        answer: oneshot::Sender<Vec<Peer>>,
        permit: OwnedSemaphorePermit,
    ) {
        let n = n.clamp(1, K_VALUE.get());
        let lookup = Lookup { key, n, answer, _permit: permit };
        if let Some(peers) = self.known(std::slice::from_ref(&lookup.key), n).pop().flatten() {
            let _ = lookup.answer.send(peers);
            return;
        }
        self.shared.tally.add(|all| all.asked += 1);
        let n = NonZeroUsize::new(n).expect("clamped to 1 at least");
        let query = self.swarm.behaviour_mut().kad.get_n_closest_peers(lookup.key.clone(), n);
        self.lookups.insert(query, lookup);
    }

    /// Returns the `n` nodes that keep each key; `None` for a key if neither the routing table nor an earlier look-up
    /// has them.
    pub(in crate::net) fn known_keepers(&mut self, keys: &[Vec<u8>], n: usize) -> Vec<Option<Vec<Peer>>> {
        let mut keepers = vec![None; keys.len()];
        let mut open: Vec<usize> = (0..keys.len()).collect();
        for wide in diversity::widths(n) {
            let asked: Vec<Vec<u8>> = open.iter().map(|&number| keys[number].clone()).collect();
            let nearest = self.known(&asked, wide);
            let mut left = Vec::new();
            for (number, nearest) in open.into_iter().zip(nearest) {
                let Some(nearest) = nearest else { continue };
                keepers[number] = diversity::choose_among(nearest, n, wide, Prefix::among(self.is_private));
                if keepers[number].is_none() {
                    left.push(number);
                }
            }
            open = left;
            if open.is_empty() {
                break;
            }
        }
        keepers
    }

    /// Returns the `n` nodes nearest to each key; `None` for a key if neither the routing table nor an earlier look-up
    /// has them.
    pub(super) fn known(&mut self, keys: &[Vec<u8>], n: usize) -> Vec<Option<Vec<Peer>>> {
        let n = n.clamp(1, K_VALUE.get());
        let table = self.table();
        let (tally, now) = (&self.shared.tally, Instant::now());
        let nearest = keys.iter().map(|key| {
            let key = Key::new(key.clone());
            let known = self.routes.known(&table, &self.me, &key, n);
            let is_known = known.is_some();
            let peers = known.or_else(|| self.routes.cached(&key, n, now))?;
            tally.add(|all| *(if is_known { &mut all.known } else { &mut all.cached }) += 1);
            Some(peers)
        });
        nearest.collect()
    }

    /// Handles the result of a look-up of the nodes nearest to a key. This node itself is inserted, because the result
    /// contains only other nodes.
    fn looked_up(&mut self, lookup: Lookup, found: Vec<kad::PeerInfo>, whole: bool) {
        let n = lookup.n;
        let known: Vec<KnownPeer> =
            found.iter().map(|info| KnownPeer { key: Key::from(info.peer_id), peer: self.reachable(info) }).collect();
        let key = Key::new(lookup.key.clone());
        let peers = self.routes.nearest(&known, &self.me, &key, n);
        if whole {
            let now = Instant::now();
            self.routes.keep(lookup.key, n, peers.clone(), now);
            if n == K_VALUE.get() && peers.len() == n {
                let area = peers
                    .iter()
                    .filter_map(|peer| Some(KnownPeer { key: Key::from(known::id(peer)?), peer: peer.clone() }));
                self.routes.keep_area(&key, area.collect(), now);
            }
        }
        let _ = lookup.answer.send(peers);
    }

    fn reachable(&mut self, info: &kad::PeerInfo) -> Peer {
        let named =
            info.addrs.iter().find(|address| behaviour::dialable(address, self.transport, &self.shared.reach)).cloned();
        let address = self.address_of(&info.peer_id).or(named);
        known::peer(&info.peer_id, address.as_ref())
    }

    pub(super) fn address_of(&mut self, peer: &PeerId) -> Option<Multiaddr> {
        let bucket = self.swarm.behaviour_mut().kad.kbucket(*peer)?;
        let entry = bucket.iter().find(|entry| entry.node.key.preimage() == peer)?;
        known::best(entry.node.value.iter()).cloned()
    }

    pub(in crate::net) fn table(&mut self) -> Vec<KnownPeer> {
        let mut all = Vec::new();
        for bucket in self.swarm.behaviour_mut().kad.kbuckets() {
            for entry in bucket.iter() {
                let key = *entry.node.key;
                all.push(KnownPeer { key, peer: known::peer(key.preimage(), known::best(entry.node.value.iter())) });
            }
        }
        all
    }

    /// All addresses of the nodes of the routing table.
    pub(in crate::net) fn addresses(&mut self) -> Vec<PeerAddress> {
        let mut all = Vec::new();
        for bucket in self.swarm.behaviour_mut().kad.kbuckets() {
            for entry in bucket.iter() {
                all.extend(named(entry.node.key.preimage(), entry.node.value.iter()));
            }
        }
        all
    }

    /// Replaces the known addresses of a peer by those that it states.
    pub(super) fn met(&mut self, peer: &PeerId, addresses: Vec<Multiaddr>) {
        if self.shared.blocked.has_peer(peer) {
            return;
        }
        let mut said: Vec<Multiaddr> = addresses
            .into_iter()
            .filter(|address| behaviour::dialable(address, self.transport, &self.shared.reach))
            .filter_map(|address| address.with_p2p(*peer).ok())
            .collect();
        said.sort_by_cached_key(known::rank);
        said.truncate(MAX_ADDRESSES);
        if said.is_empty() {
            return;
        }
        let kad = &mut self.swarm.behaviour_mut().kad;
        for address in &said {
            kad.add_address(peer, address.clone());
        }
        let known: Vec<Multiaddr> = kad
            .kbucket(*peer)
            .into_iter()
            .flat_map(|bucket| {
                let addresses = bucket.iter().find(|entry| entry.node.key.preimage() == peer);
                addresses.map(|entry| entry.node.value.clone().into_vec()).unwrap_or_default()
            })
            .collect();
        for old in known.iter().filter(|address| !said.contains(address)) {
            kad.remove_address(peer, old);
        }
    }

    /// Dials a peer to check that it is alive, because a connection in use has ended. If the peer also closes this
    /// connection, it is removed, so that it is not dialled endlessly.
    pub(super) fn probe(&mut self, peer: PeerId) {
        let now = Instant::now();
        self.probed.retain(|_, at| now.duration_since(*at) < PROBED);
        if self.probed.len() >= MAX_PROBED || self.probed.insert(peer, now).is_some() {
            return self.forget(&peer);
        }
        match self.swarm.dial(DialOpts::peer_id(peer).build()) {
            Ok(()) | Err(DialError::DialPeerConditionFalse(_) | DialError::Denied { .. }) => {}
            Err(_) => self.forget(&peer),
        }
    }

    /// Removes an unreachable peer from the routing table. It is added again when it connects.
    pub(super) fn forget(&mut self, peer: &PeerId) {
        self.strikes.remove(peer);
        self.routes.failed(peer);
        if let Some(entry) = self.swarm.behaviour_mut().kad.remove_peer(peer) {
            self.remembered.extend(named(peer, entry.node.value.iter()));
            let surplus = self.remembered.len().saturating_sub(MAX_REMEMBERED);
            self.remembered.drain(..surplus);
            tracing::info!(%peer, "peer lost");
            self.note_neighbour(peer);
            if self.table().is_empty() {
                self.refresh_at = self.refresh_at.min(Instant::now() + JOIN_AGAIN);
            }
        }
    }

    /// True if the owner has blocked the peer, or the address by which it is known.
    pub(super) fn is_blocked(&mut self, peer: &PeerId) -> bool {
        let address = self.address_of(peer);
        let blocked = &self.shared.blocked;
        blocked.has_peer(peer) || address.is_some_and(|address| blocked.has_address(&address))
    }

    /// Notifies the repair of stored data that the neighbourhood has changed if this peer is or was one of the nodes
    /// nearest to this one.
    fn note_neighbour(&mut self, peer: &PeerId) {
        let me = Key::from(*self.swarm.local_peer_id());
        let far = me.distance(&Key::from(*peer));
        let nearer = self.table().iter().filter(|known| me.distance(&known.key) < far).count();
        if nearer < K_VALUE.get() {
            self.neighbourhood.send_modify(|version| *version += 1);
        }
    }
}

/// The addresses of a peer, with its peer id at their ends.
fn named<'a>(peer: &PeerId, addresses: impl Iterator<Item = &'a Multiaddr>) -> impl Iterator<Item = PeerAddress> {
    let peer = *peer;
    addresses.cloned().filter_map(move |address| PeerAddress::new(address.with_p2p(peer).ok()?))
}
