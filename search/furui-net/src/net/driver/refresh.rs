//! Refreshes the routing table: joins the network, and determines for which subtrees of the key space the table
//! contains all nodes.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use libp2p::kad::{self, K_VALUE, KBucketKey as Key, QueryId};
use libp2p::swarm::dial_opts::DialOpts;
use libp2p::{Multiaddr, PeerId};
use tokio::time::Instant;

use super::super::behaviour;
use super::super::routes::BUCKETS;
use super::super::shared::Status;
use super::{Driver, Refresh};

/// The interval at which a node checks that its routing table still contains its neighbours. The value is a choice, not
/// a measurement.
const REFRESH_INTERVAL: Duration = Duration::from_secs(600);
/// The delay before a refresh when the routing table has grown by more than a quarter. The value is a choice, not a
/// measurement.
const REFRESH_SOON: Duration = Duration::from_secs(1);
/// The delay before joining is retried when no node has answered. The value is a choice, not a measurement.
pub(super) const JOIN_AGAIN: Duration = Duration::from_secs(5);
/// The maximum number of nodes that are dialled at once because they were known before, or found by mDNS. Chosen: half
/// of the connections that may be opened at once.
const MAX_REMEMBERED: usize = 64;
/// The maximum number of random keys that are tried to find one in a given bucket: enough for a network of a million
/// nodes.
const BUCKET_TRIES: usize = 1 << 18;

impl Driver {
    /// Handles growth of the routing table. If it has grown by more than a quarter since the last refresh began, it may
    /// be incomplete, and a refresh is scheduled.
    pub(super) fn grown(&mut self) {
        let size = self.table().len();
        if matches!(self.refresh, Refresh::Idle) && size > self.table_then + self.table_then / 4 {
            let joining = *self.status.borrow() == Status::Joining;
            let pause = if joining { Duration::ZERO } else { REFRESH_SOON };
            self.refresh_at = self.refresh_at.min(Instant::now() + pause);
        }
    }

    pub(super) fn start_refresh(&mut self) {
        self.refresh_at = Instant::now() + REFRESH_INTERVAL;
        if !matches!(self.refresh, Refresh::Idle) {
            return;
        }
        self.table_then = self.table().len();
        self.dial_remembered();
        self.refreshed.append(&mut self.wants_refresh);
        if self.table().is_empty() {
            self.join();
            return;
        }
        let query = self.look_around(self.swarm.local_peer_id().to_bytes());
        self.refresh = Refresh::Neighbours(query);
    }

    /// Dials the nodes that this one knew before and does not know now, the latest first.
    fn dial_remembered(&mut self) {
        let known = self.remembered.iter().rev().map(|known| (known.id(), known.address().clone()));
        self.dial_all(known.collect());
    }

    /// Dials these nodes at these addresses, at most [`MAX_REMEMBERED`] nodes. Those that mDNS finds may be in other
    /// networks.
    pub(super) fn dial_all(&mut self, found: Vec<(PeerId, Multiaddr)>) {
        let mut peers: HashMap<PeerId, Vec<Multiaddr>> = HashMap::new();
        for (peer, address) in found {
            if peers.len() < MAX_REMEMBERED || peers.contains_key(&peer) {
                peers.entry(peer).or_default().push(address);
            }
        }
        for (peer, addresses) in peers {
            self.dial(peer, addresses);
        }
    }

    /// Dials a node at these addresses, unless it is known already.
    fn dial(&mut self, peer: PeerId, mut addresses: Vec<Multiaddr>) {
        addresses.retain(|address| behaviour::dialable(address, self.transport, &self.shared.reach));
        if addresses.is_empty() || self.address_of(&peer).is_some() || self.shared.blocked.has_peer(&peer) {
            return;
        }
        // Dialling fails if it is already in progress or impossible. It is tried again at the next refresh.
        let _ = self.swarm.dial(DialOpts::peer_id(peer).addresses(addresses).build());
    }

    /// Dials the bootstrap nodes. Their identities are known only when they answer.
    fn join(&mut self) {
        if self.bootstrap.is_empty() && !self.has_met {
            self.refresh_done();
            return;
        }
        self.refresh_at = Instant::now() + JOIN_AGAIN;
        for bootstrap in self.bootstrap.clone() {
            self.resolving.push(Box::pin(async move {
                let resolved = bootstrap.resolve().await;
                (bootstrap.address().clone(), resolved)
            }));
        }
    }

    /// Dials the addresses to which the host name in a bootstrap address was resolved.
    pub(super) fn resolved(&mut self, named: &Multiaddr, resolved: io::Result<Vec<Multiaddr>>) {
        let addresses = match resolved {
            Ok(addresses) => addresses,
            Err(error) => return self.shared.unreached.note(named, error.to_string()),
        };
        for address in addresses {
            self.shared.reach.name(&address);
            let dial = DialOpts::unknown_peer_id().address(address).build();
            let id = dial.connection_id();
            self.joins.insert(id, named.clone());
            // Dialling fails if it is already in progress or impossible. It is retried later.
            if let Err(error) = self.swarm.dial(dial) {
                self.joins.remove(&id);
                self.shared.unreached.note(named, error.to_string());
            }
        }
    }

    fn look_around(&mut self, key: Vec<u8>) -> QueryId {
        self.swarm.behaviour_mut().kad.get_n_closest_peers(key, K_VALUE)
    }

    pub(super) fn refreshed(&mut self, id: QueryId, found: Vec<kad::PeerInfo>, whole: bool) {
        let nearest: Vec<PeerId> = found.iter().map(|info| info.peer_id).collect();
        let next = match self.refresh {
            Refresh::Neighbours(query) if query == id => {
                let edge = if whole { self.routes.neighbours(&nearest) } else { None };
                edge.map(|edge| (BUCKETS - 1, edge))
            }
            Refresh::Bucket { bucket, edge, query } if query == id => {
                if whole {
                    self.routes.looked_up(bucket, &nearest);
                }
                (bucket > edge).then(|| (bucket - 1, edge))
            }
            _ => return,
        };
        for info in found {
            if self.address_of(&info.peer_id).is_none() {
                self.met(&info.peer_id, info.addrs);
            }
        }
        self.refresh_buckets(next);
    }

    /// Looks up a random key in the next bucket that is not full; a look-up in a full bucket would find nothing new.
    /// `next` contains the first and the last bucket to consider, in descending order.
    fn refresh_buckets(&mut self, next: Option<(usize, usize)>) {
        if let Some((from, edge)) = next {
            let counts = self.bucket_sizes();
            for bucket in (edge..=from).rev() {
                if counts.get(&bucket).is_some_and(|&n| n >= K_VALUE.get()) {
                    continue;
                }
                if let Some(key) = self.key_in(bucket) {
                    let query = self.look_around(key);
                    self.refresh = Refresh::Bucket { bucket, edge, query };
                    return;
                }
            }
        }
        self.refresh_done();
    }

    fn bucket_sizes(&mut self) -> HashMap<usize, usize> {
        let mut sizes = HashMap::new();
        for known in self.table() {
            if let Some(bucket) = self.routes.bucket(&known.key) {
                *sizes.entry(bucket).or_default() += 1;
            }
        }
        sizes
    }

    fn key_in(&self, bucket: usize) -> Option<Vec<u8>> {
        let random = std::iter::repeat_with(|| PeerId::random().to_bytes());
        random.take(BUCKET_TRIES).find(|key| self.routes.bucket(&Key::new(key.clone())) == Some(bucket))
    }

    fn refresh_done(&mut self) {
        self.refresh = Refresh::Idle;
        self.status.send_if_modified(|status| std::mem::replace(status, Status::Joined) != Status::Joined);
        for waiting in self.refreshed.drain(..) {
            let _ = waiting.send(());
        }
        // The nodes that were asked in this refresh may not have known the nodes that have joined since it began, so
        // the growth of the table is checked again.
        self.grown();
        if !self.wants_refresh.is_empty() {
            self.start_refresh();
        }
    }
}
