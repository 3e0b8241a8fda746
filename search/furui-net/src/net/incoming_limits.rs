use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use libp2p::core::Endpoint;
use libp2p::core::transport::PortUse;
use libp2p::swarm::behaviour::{ConnectionClosed, ConnectionEstablished, ListenFailure};
use libp2p::swarm::{
    CloseConnection, ConnectionDenied, ConnectionId, FromSwarm, NetworkBehaviour, THandler, THandlerInEvent,
    THandlerOutEvent, ToSwarm, dummy,
};
use libp2p::{Multiaddr, PeerId};
use thiserror::Error;

use super::blocked::Blocked;
use super::buffer_budget::BufferBudget;
use super::{Prefix, Refusals};

/// The maximum number of incoming connections whose handshakes are not complete. Chosen: a
/// handshake takes a few round trips.
const MAX_PENDING: usize = 256;
/// The maximum number of incoming connections from one address prefix whose handshakes are not complete. Chosen: eight
/// prefixes fill [`MAX_PENDING`].
const MAX_PENDING_PER_PREFIX: usize = 32;
/// The maximum number of incoming connections. At the maximum, a new connection replaces one from the address prefix
/// that has the most. Chosen: together with the node's own connections, this is below the number of files that the
/// command lets a node open.
const MAX_INCOMING: usize = 640;
/// The maximum number of incoming connections from one address prefix. Chosen: ten prefixes fill [`MAX_INCOMING`].
const MAX_PER_PREFIX: usize = 64;

const BLOCKED: &str = "the owner of this node has blocked it";

/// Decides which incoming connections are accepted, with limits per address prefix, so that no host can keep others
/// out. Limits per peer alone would not bound the connections of one host, because it can generate any number of
/// identities.
pub(super) struct IncomingLimits {
    pending: BTreeMap<ConnectionId, Prefix>,
    open: BTreeMap<ConnectionId, Open>,
    /// The connections to close in order to make room for newer ones, each with its peer.
    to_close: VecDeque<(ConnectionId, PeerId)>,
    buffers: Arc<BufferBudget>,
    refusals: Arc<Refusals>,
    blocked: Arc<Blocked>,
}

struct Open {
    address: Multiaddr,
    peer: PeerId,
    prefix: Prefix,
    is_incoming: bool,
    is_closing: bool,
}

/// The reason that an incoming connection is denied.
#[derive(Debug, Error)]
#[error("refused because {0}")]
struct NotLetIn(&'static str);

impl IncomingLimits {
    pub(super) fn new(buffers: Arc<BufferBudget>, refusals: Arc<Refusals>, blocked: Arc<Blocked>) -> Self {
        let (pending, open) = (BTreeMap::new(), BTreeMap::new());
        Self { pending, open, to_close: VecDeque::new(), buffers, refusals, blocked }
    }

    /// Closes all connections with blocked peers and addresses.
    pub(super) fn close_blocked(&mut self) {
        for (id, open) in &mut self.open {
            let is_blocked = self.blocked.has_peer(&open.peer) || self.blocked.has_address(&open.address);
            if is_blocked && !open.is_closing {
                open.is_closing = true;
                self.to_close.push_back((*id, open.peer));
            }
        }
    }

    /// Denies a connection if its peer or address is blocked.
    fn check(&self, peer: &PeerId, address: &Multiaddr) -> Result<(), ConnectionDenied> {
        if self.blocked.has_peer(peer) || self.blocked.has_address(address) {
            return Err(self.refuse(format!("{peer} at {}", Prefix::of(address)), BLOCKED));
        }
        Ok(())
    }

    /// The address prefix of the other end of a connection; [`Prefix::Local`] if the connection is unknown.
    pub(super) fn prefix(&self, connection: ConnectionId) -> Prefix {
        self.open.get(&connection).map_or(Prefix::Local, |open| open.prefix)
    }

    fn refuse(&self, who: impl ToString, why: &'static str) -> ConnectionDenied {
        self.refusals.note(who, why);
        ConnectionDenied::new(NotLetIn(why))
    }

    fn incoming(&self) -> impl Iterator<Item = (&ConnectionId, &Open)> {
        self.open.iter().filter(|(_, open)| open.is_incoming && !open.is_closing)
    }

    /// Makes room for an incoming connection from a prefix that already has `of_prefix` connections: closes the latest
    /// connection of the prefix that has the most, if that prefix then still has at least as many as the newcomer's.
    /// Returns false if there is no room.
    fn make_room(&mut self, of_prefix: usize) -> bool {
        let mut counts: BTreeMap<Prefix, (usize, ConnectionId, PeerId)> = BTreeMap::new();
        for (id, open) in self.incoming() {
            let entry = counts.entry(open.prefix).or_insert((0, *id, open.peer));
            *entry = (entry.0 + 1, *id, open.peer);
        }
        let most = counts.iter().max_by_key(|(_, (count, ..))| *count);
        let Some((prefix, &(_, id, peer))) = most.filter(|(_, (count, ..))| *count > of_prefix + 1) else {
            return false;
        };
        self.refusals.note(prefix, "it had more connections than any other address when all were taken");
        if let Some(open) = self.open.get_mut(&id) {
            open.is_closing = true;
        }
        self.to_close.push_back((id, peer));
        true
    }

    fn opening(&mut self, id: ConnectionId, peer: PeerId, address: &Multiaddr, is_incoming: bool) {
        let prefix = Prefix::of(address);
        self.open.insert(id, Open { address: address.clone(), peer, prefix, is_incoming, is_closing: false });
        self.buffers.open(peer, prefix);
    }
}

impl NetworkBehaviour for IncomingLimits {
    type ConnectionHandler = dummy::ConnectionHandler;
    type ToSwarm = Infallible;

    fn handle_pending_inbound_connection(
        &mut self,
        id: ConnectionId,
        _: &Multiaddr,
        remote: &Multiaddr,
    ) -> Result<(), ConnectionDenied> {
        let prefix = Prefix::of(remote);
        if self.blocked.has_address(remote) {
            return Err(self.refuse(prefix, BLOCKED));
        }
        let of_prefix = self.pending.values().filter(|pending| **pending == prefix).count();
        if prefix != Prefix::Local && of_prefix >= MAX_PENDING_PER_PREFIX {
            return Err(self.refuse(prefix, "it had too many handshakes at once"));
        }
        if self.pending.len() >= MAX_PENDING {
            return Err(self.refuse(prefix, "all addresses together had too many handshakes at once"));
        }
        self.pending.insert(id, prefix);
        Ok(())
    }

    fn handle_established_inbound_connection(
        &mut self,
        id: ConnectionId,
        peer: PeerId,
        _: &Multiaddr,
        remote: &Multiaddr,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        self.pending.remove(&id);
        self.check(&peer, remote)?;
        let prefix = Prefix::of(remote);
        let of_prefix = self.incoming().filter(|(_, open)| open.prefix == prefix).count();
        if prefix != Prefix::Local && of_prefix >= MAX_PER_PREFIX {
            return Err(self.refuse(prefix, "it had too many connections"));
        }
        if self.incoming().count() >= MAX_INCOMING && !self.make_room(of_prefix) {
            return Err(self.refuse(prefix, "all connections were taken"));
        }
        self.opening(id, peer, remote, true);
        Ok(dummy::ConnectionHandler)
    }

    fn handle_established_outbound_connection(
        &mut self,
        id: ConnectionId,
        peer: PeerId,
        address: &Multiaddr,
        _: Endpoint,
        _: PortUse,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        self.check(&peer, address)?;
        self.opening(id, peer, address, false);
        Ok(dummy::ConnectionHandler)
    }

    fn on_swarm_event(&mut self, event: FromSwarm<'_>) {
        match event {
            FromSwarm::ConnectionEstablished(ConnectionEstablished { connection_id, .. }) => {
                self.pending.remove(&connection_id);
            }
            FromSwarm::ConnectionClosed(ConnectionClosed { connection_id, .. }) => {
                self.open.remove(&connection_id);
            }
            FromSwarm::ListenFailure(ListenFailure { connection_id, .. }) => {
                self.pending.remove(&connection_id);
                self.open.remove(&connection_id);
            }
            FromSwarm::DialFailure(failure) => {
                self.open.remove(&failure.connection_id);
            }
            _ => {}
        }
    }

    fn on_connection_handler_event(&mut self, _: PeerId, _: ConnectionId, event: THandlerOutEvent<Self>) {
        match event {}
    }

    fn poll(&mut self, _: &mut Context<'_>) -> Poll<ToSwarm<Self::ToSwarm, THandlerInEvent<Self>>> {
        match self.to_close.pop_front() {
            Some((id, peer_id)) => {
                Poll::Ready(ToSwarm::CloseConnection { peer_id, connection: CloseConnection::One(id) })
            }
            None => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Hall {
        incoming_limits: IncomingLimits,
        next: usize,
    }

    impl Hall {
        fn new() -> Self {
            let refusals = Arc::<Refusals>::default();
            Self {
                incoming_limits: IncomingLimits::new(
                    BufferBudget::new(Arc::clone(&refusals)),
                    refusals,
                    Arc::default(),
                ),
                next: 0,
            }
        }

        fn here() -> Multiaddr {
            "/ip4/192.0.2.1/tcp/1".parse().expect("an address")
        }

        fn address(host: usize) -> Multiaddr {
            format!("/ip4/10.0.{}.{}/tcp/1", host / 256, host % 256).parse().expect("an address")
        }

        /// Simulates a handshake from this host. Returns true if it may begin.
        fn knock(&mut self, host: usize) -> bool {
            self.next += 1;
            let id = ConnectionId::new_unchecked(self.next);
            self.incoming_limits.handle_pending_inbound_connection(id, &Self::here(), &Self::address(host)).is_ok()
        }

        /// Simulates a connection from this host with a new identity. Returns true if it is accepted.
        fn enter(&mut self, host: usize) -> bool {
            let came = self.knock(host);
            let (id, peer) = (ConnectionId::new_unchecked(self.next), PeerId::random());
            let (here, there) = (Self::here(), Self::address(host));
            came && self.incoming_limits.handle_established_inbound_connection(id, peer, &here, &there).is_ok()
        }

        fn of(&self, host: usize) -> usize {
            let prefix = Prefix::of(&Self::address(host));
            self.incoming_limits.incoming().filter(|(_, open)| open.prefix == prefix).count()
        }
    }

    #[test]
    fn a_host_that_never_ends_its_handshakes_keeps_nobody_out() {
        let mut hall = Hall::new();
        assert_eq!((0..5000).filter(|_| hall.knock(1)).count(), MAX_PENDING_PER_PREFIX);
        assert!(hall.enter(2) && !hall.enter(1));
        // A handshake that has ended frees its place.
        let failed = *hall.incoming_limits.pending.keys().next().expect("some are pending");
        hall.incoming_limits.pending.remove(&failed);
        assert!(hall.enter(1));
    }

    #[test]
    fn many_identities_of_one_host_take_a_few_connections() {
        let mut hall = Hall::new();
        assert_eq!((0..MAX_INCOMING).filter(|_| hall.enter(1)).count(), MAX_PER_PREFIX);
        assert!((2..100).all(|host| hall.enter(host)));
    }

    #[test]
    fn who_is_blocked_neither_comes_nor_stays() {
        let mut hall = Hall::new();
        assert!(hall.enter(1) && hall.enter(1) && hall.enter(2));
        hall.incoming_limits.blocked.set([].into(), vec!["10.0.0.1/32".parse().expect("a network")]);
        hall.incoming_limits.close_blocked();
        assert_eq!((hall.of(1), hall.of(2), hall.incoming_limits.to_close.len()), (0, 1, 2));
        assert!(!hall.knock(1) && hall.knock(2));
        let peer = hall.incoming_limits.open.values().next_back().expect("one stays").peer;
        hall.incoming_limits.blocked.set([peer].into(), vec![]);
        hall.incoming_limits.close_blocked();
        assert_eq!((hall.of(2), hall.incoming_limits.to_close.len()), (0, 3));
    }

    #[test]
    fn when_all_places_are_taken_a_newcomer_gets_one_of_the_greediest() {
        let mut hall = Hall::new();
        let greedy = MAX_INCOMING / MAX_PER_PREFIX;
        for host in 0..greedy {
            assert_eq!((0..2 * MAX_PER_PREFIX).filter(|_| hall.enter(host)).count(), MAX_PER_PREFIX);
        }
        assert!((100..700).all(|host| hall.enter(host)));
        assert_eq!(hall.incoming_limits.incoming().count(), MAX_INCOMING);
        assert_eq!(hall.incoming_limits.to_close.len(), 600);
        assert!((100..700).all(|host| hall.of(host) == 1) && (0..greedy).all(|host| hall.of(host) <= 5));
        // A host that has as many connections as the others gets no more.
        assert!((0..MAX_INCOMING).filter(|_| hall.enter(0)).count() < MAX_PER_PREFIX);
    }
}
