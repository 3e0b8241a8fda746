use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use furui::search::Peer;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use libp2p::kad::{self, K_VALUE, KBucketKey as Key, QueryId, QueryResult};
use libp2p::multiaddr::Protocol;
use libp2p::request_response::{self, InboundRequestId, OutboundFailure, OutboundRequestId, ResponseChannel};
use libp2p::swarm::dial_opts::DialOpts;
use libp2p::swarm::{ConnectionError, DialError, SwarmEvent};
use libp2p::{Multiaddr, PeerId, Swarm, identify, ping};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use super::behaviour::{self, Behaviour, BehaviourEvent, KAD};
use super::codec::{Answer, Body};
use super::counters::Tally;
use super::handle::{Command, Shared, Status};
use super::quota::Quotas;
use super::routes::{self, BUCKETS, Known, Routes};
use super::{CallError, Config, Inbound, Reply, StartError, Transport};

/// How often a node looks around: whether it still knows its neighbours.
const REFRESH_INTERVAL: Duration = Duration::from_secs(600);
/// How soon it looks around when its routing table has grown much.
const REFRESH_SOON: Duration = Duration::from_secs(1);
/// How soon joining is tried again when no node has answered.
const JOIN_AGAIN: Duration = Duration::from_secs(5);
/// Calls to one peer that are on their way at once: half of what a peer serves, so that ours are not refused.
const CALLS_PER_PEER: usize = 16;
/// Addresses kept of a peer.
const MAX_ADDRESSES: usize = 4;
/// Calls without an answer in time, one after the other, after which a peer is out of the routing table.
const STRIKES: u8 = 2;
/// Peers whose strikes are remembered.
const MAX_STRUCK: usize = 1024;
/// How many keys are tried to find one of a given bucket: enough for a network of a million nodes.
const BUCKET_TRIES: usize = 1 << 18;

/// Owns the swarm: does what handles tell it, and what the network brings.
pub(super) struct Driver {
    swarm: Swarm<Behaviour>,
    transport: Transport,
    bootstrap: Vec<Multiaddr>,
    shared: Arc<Shared>,
    me: Peer,
    routes: Routes,
    lookups: HashMap<QueryId, Lookup>,
    refresh: Refresh,
    refresh_at: Instant,
    /// How large the routing table was when it was last found complete.
    table_then: usize,
    refreshed: Vec<oneshot::Sender<()>>,
    calls: HashMap<OutboundRequestId, Call>,
    /// For each peer with calls: how many are on their way, and which wait.
    lanes: HashMap<PeerId, Lane>,
    strikes: HashMap<PeerId, u8>,
    quotas: Quotas,
    served: HashMap<InboundRequestId, PeerId>,
    answers: FuturesUnordered<PendingAnswer>,
    inbound: mpsc::Sender<Inbound>,
    status: watch::Sender<Status>,
    neighbourhood: watch::Sender<u64>,
}

type PendingAnswer = Pin<Box<dyn Future<Output = (ResponseChannel<Answer>, Option<Vec<u8>>)> + Send>>;

struct Lookup {
    key: Vec<u8>,
    n: usize,
    answer: oneshot::Sender<Vec<Peer>>,
    _turn: OwnedSemaphorePermit,
}

struct Call {
    peer: PeerId,
    answer: oneshot::Sender<Result<Vec<u8>, CallError>>,
    _turn: OwnedSemaphorePermit,
}

#[derive(Default)]
struct Lane {
    on_the_way: usize,
    waiting: VecDeque<(Vec<Multiaddr>, Vec<u8>, Call)>,
}

/// Looking around: first this node's own key, then each bucket beyond its neighbourhood.
enum Refresh {
    Idle,
    Neighbours(QueryId),
    Bucket { bucket: usize, edge: usize, query: QueryId },
}

impl Driver {
    pub(super) async fn start(
        config: Config,
        shared: Arc<Shared>,
        inbound: mpsc::Sender<Inbound>,
        status: watch::Sender<Status>,
        neighbourhood: watch::Sender<u64>,
    ) -> Result<Self, StartError> {
        let mut swarm = behaviour::swarm(&config, Arc::clone(&shared.tally))?;
        let bootstrap = config.bootstrap.iter().map(|text| parse(text)).collect::<Result<Vec<_>, _>>()?;
        listen(&mut swarm, &config.listen).await?;
        let id = *swarm.local_peer_id();
        let mut driver = Self {
            transport: config.transport,
            bootstrap,
            me: routes::peer(&id, None),
            routes: Routes::new(id),
            swarm,
            shared,
            lookups: HashMap::new(),
            refresh: Refresh::Idle,
            refresh_at: Instant::now(),
            table_then: 0,
            refreshed: Vec::new(),
            calls: HashMap::new(),
            lanes: HashMap::new(),
            strikes: HashMap::new(),
            quotas: Quotas::default(),
            served: HashMap::new(),
            answers: FuturesUnordered::new(),
            inbound,
            status,
            neighbourhood,
        };
        driver.addresses_changed();
        Ok(driver)
    }

    pub(super) async fn run(mut self, mut commands: mpsc::Receiver<Command>) {
        loop {
            tokio::select! {
                event = self.swarm.select_next_some() => self.on_event(event),
                command = commands.recv() => match command {
                    None | Some(Command::Shutdown) => break,
                    Some(command) => self.on_command(command),
                },
                Some((channel, answer)) = self.answers.next() => self.send_answer(channel, answer),
                () = sleep_until(self.refresh_at) => self.start_refresh(),
            }
        }
        let (status, swarm) = (self.status, self.swarm);
        drop(swarm);
        status.send_replace(Status::Stopped);
    }

    fn on_command(&mut self, command: Command) {
        match command {
            Command::Call { to, request, answer, turn } => self.call(&to, request, answer, turn),
            Command::TimedOut(peer) => self.timed_out(&peer),
            Command::Closest { key, n, answer, turn } => self.closest(Lookup { key, n, answer, _turn: turn }),
            Command::Replicas { key, n, answer } => {
                let table = self.table();
                // Errors here and below: whoever asked has given up.
                let _ = answer.send(self.routes.nearest(&table, &self.me, &Key::new(key), n));
            }
            Command::Peers(answer) => {
                let _ = answer.send(self.table().into_iter().map(|known| known.peer).collect());
            }
            Command::Refresh(done) => {
                self.refreshed.retain(|waiting| !waiting.is_closed());
                self.refreshed.push(done);
                self.start_refresh();
            }
            Command::Shutdown => {}
        }
    }

    fn on_event(&mut self, event: SwarmEvent<BehaviourEvent>) {
        match event {
            SwarmEvent::Behaviour(BehaviourEvent::Kad(event)) => self.on_kad(event),
            SwarmEvent::Behaviour(BehaviourEvent::Exchange(event)) => self.on_exchange(event),
            SwarmEvent::Behaviour(BehaviourEvent::Identify(identify::Event::Received { peer_id, info, .. }))
                if info.protocols.contains(&KAD) =>
            {
                self.met(&peer_id, info.listen_addrs);
            }
            SwarmEvent::Behaviour(BehaviourEvent::Ping(ping::Event { connection, result: Err(failure), .. }))
                if !matches!(failure, ping::Failure::Unsupported) =>
            {
                self.swarm.close_connection(connection);
            }
            SwarmEvent::ConnectionClosed { peer_id, num_established: 0, cause, .. } => {
                let unused = matches!(cause, Some(ConnectionError::KeepAliveTimeout));
                if !unused && self.address_of(&peer_id).is_some() {
                    self.probe(peer_id);
                }
            }
            SwarmEvent::OutgoingConnectionError { peer_id, error, .. } => {
                if let (Some(peer), DialError::Transport(_) | DialError::WrongPeerId { .. }) = (peer_id, &error)
                    && !self.swarm.is_connected(&peer)
                {
                    self.forget(&peer);
                }
            }
            SwarmEvent::NewListenAddr { .. } | SwarmEvent::ExpiredListenAddr { .. } => self.addresses_changed(),
            _ => {}
        }
    }

    // Calls of this node.

    fn call(
        &mut self,
        to: &Peer,
        request: Vec<u8>,
        answer: oneshot::Sender<Result<Vec<u8>, CallError>>,
        turn: OwnedSemaphorePermit,
    ) {
        let address = Multiaddr::try_from(to.address().to_vec());
        let (Some(peer), Ok(address)) = (routes::id(to), address) else {
            let _ = answer.send(Err(CallError::NoPeer));
            return;
        };
        let addresses = if behaviour::dialable(&address, self.transport) { vec![address] } else { Vec::new() };
        self.lanes.entry(peer).or_default().waiting.push_back((addresses, request, Call { peer, answer, _turn: turn }));
        self.send_next(peer);
    }

    /// Sends the calls to this peer whose turn it is.
    fn send_next(&mut self, peer: PeerId) {
        let Some(lane) = self.lanes.get_mut(&peer) else { return };
        while lane.on_the_way < CALLS_PER_PEER
            && let Some((addresses, request, call)) = lane.waiting.pop_front()
        {
            if call.answer.is_closed() {
                continue;
            }
            let body = Body { bytes: request, room: None };
            let id = self.swarm.behaviour_mut().exchange.send_request_with_addresses(&peer, body, addresses);
            self.calls.insert(id, call);
            lane.on_the_way += 1;
        }
        if lane.on_the_way == 0 {
            self.lanes.remove(&peer);
        }
    }

    fn called(&mut self, id: OutboundRequestId, result: Result<Vec<u8>, CallError>) {
        let Some(call) = self.calls.remove(&id) else { return };
        match &result {
            Ok(_) => {
                self.strikes.remove(&call.peer);
            }
            // Its time is kept by the handle.
            Err(CallError::Busy | CallError::TimedOut) => {}
            Err(_) => self.routes.failed(&call.peer),
        }
        let _ = call.answer.send(result);
        if let Some(lane) = self.lanes.get_mut(&call.peer) {
            lane.on_the_way -= 1;
        }
        self.send_next(call.peer);
    }

    fn timed_out(&mut self, peer: &Peer) {
        let Some(peer) = routes::id(peer) else { return };
        self.routes.failed(&peer);
        if self.strikes.len() >= MAX_STRUCK {
            self.strikes.clear();
        }
        let strikes = self.strikes.entry(peer).or_default();
        *strikes += 1;
        if *strikes >= STRIKES {
            self.strikes.remove(&peer);
            self.forget(&peer);
        }
    }

    // Requests of others.

    fn on_exchange(&mut self, event: request_response::Event<Body, Answer>) {
        use request_response::{Event, Message};
        match event {
            Event::Message { peer, message: Message::Request { request_id, request, channel }, .. } => {
                self.requested(peer, request_id, request, channel);
            }
            Event::Message { message: Message::Response { request_id, response }, .. } => {
                let result = match response {
                    Answer::Body(body) => Ok(body.bytes),
                    Answer::Busy => Err(CallError::Busy),
                };
                self.called(request_id, result);
            }
            Event::OutboundFailure { request_id, error, .. } => self.called(request_id, Err(call_error(&error))),
            Event::InboundFailure { request_id, .. } | Event::ResponseSent { request_id, .. } => {
                if let Some(peer) = self.served.remove(&request_id) {
                    self.quotas.done(&peer);
                }
            }
        }
    }

    fn requested(&mut self, peer: PeerId, id: InboundRequestId, request: Body, channel: ResponseChannel<Answer>) {
        let (reply, answer) = Reply::new(request.room);
        let from = routes::peer(&peer, self.address_of(&peer).as_ref());
        let admitted = self.quotas.admit(peer, Instant::now());
        if admitted {
            self.served.insert(id, peer);
        }
        let inbound = Inbound { from, request: request.bytes, reply };
        if admitted && self.inbound.try_send(inbound).is_ok() {
            self.answers.push(Box::pin(async move { (channel, answer.await.ok()) }));
        } else {
            Tally::add(&self.shared.tally.refused, 1);
            // An error: the connection is gone.
            let _ = self.swarm.behaviour_mut().exchange.send_response(channel, Answer::Busy);
        }
    }

    fn send_answer(&mut self, channel: ResponseChannel<Answer>, answer: Option<Vec<u8>>) {
        // Dropping the channel ends the stream: the other side sees that there is no answer.
        if let Some(bytes) = answer {
            let answer = Answer::Body(Body { bytes, room: None });
            let _ = self.swarm.behaviour_mut().exchange.send_response(channel, answer);
        }
    }

    // Who is where.

    fn on_kad(&mut self, event: kad::Event) {
        match event {
            kad::Event::OutboundQueryProgressed { id, result: QueryResult::GetClosestPeers(result), .. } => {
                let (peers, whole) = match result {
                    Ok(found) => (found.peers, true),
                    Err(kad::GetClosestPeersError::Timeout { peers, .. }) => (peers, false),
                };
                if let Some(lookup) = self.lookups.remove(&id) {
                    self.looked_up(lookup, peers, whole);
                } else {
                    self.refreshed(id, peers, whole);
                }
            }
            kad::Event::RoutingUpdated { peer, is_new_peer: true, old_peer, .. } => {
                if let Some(old) = old_peer {
                    self.routes.failed(&old);
                    self.note_neighbour(&old);
                }
                let in_bucket = self.swarm.behaviour_mut().kad.kbucket(peer).map_or(0, |bucket| bucket.num_entries());
                self.routes.joined(peer, in_bucket);
                self.note_neighbour(&peer);
                let size = self.table().len();
                if size > self.table_then + self.table_then / 4 {
                    self.refresh_at = self.refresh_at.min(Instant::now() + REFRESH_SOON);
                }
            }
            _ => {}
        }
    }

    fn closest(&mut self, lookup: Lookup) {
        let n = lookup.n.clamp(1, K_VALUE.get());
        let table = self.table();
        let tally = &self.shared.tally;
        if let Some(peers) = self.routes.known(&table, &self.me, &Key::new(lookup.key.clone()), n) {
            Tally::add(&tally.known, 1);
            let _ = lookup.answer.send(peers);
        } else if let Some(peers) = self.routes.cached(&lookup.key, n, Instant::now()) {
            Tally::add(&tally.cached, 1);
            let _ = lookup.answer.send(peers);
        } else {
            Tally::add(&tally.asked, 1);
            let n = NonZeroUsize::new(n).expect("clamped to 1 at least");
            let query = self.swarm.behaviour_mut().kad.get_n_closest_peers(lookup.key.clone(), n);
            self.lookups.insert(query, lookup);
        }
    }

    /// A look-up names others only: this node takes its place among them.
    fn looked_up(&mut self, lookup: Lookup, found: Vec<kad::PeerInfo>, whole: bool) {
        let n = lookup.n.clamp(1, K_VALUE.get());
        let known: Vec<Known> =
            found.iter().map(|info| Known { key: Key::from(info.peer_id), peer: self.reachable(info) }).collect();
        let peers = self.routes.nearest(&known, &self.me, &Key::new(lookup.key.clone()), n);
        if whole {
            self.routes.keep(lookup.key, n, peers.clone(), Instant::now());
        }
        let _ = lookup.answer.send(peers);
    }

    fn reachable(&mut self, info: &kad::PeerInfo) -> Peer {
        let named = info.addrs.iter().find(|address| behaviour::dialable(address, self.transport)).cloned();
        let address = self.address_of(&info.peer_id).or(named);
        routes::peer(&info.peer_id, address.as_ref())
    }

    fn address_of(&mut self, peer: &PeerId) -> Option<Multiaddr> {
        let bucket = self.swarm.behaviour_mut().kad.kbucket(*peer)?;
        let entry = bucket.iter().find(|entry| entry.node.key.preimage() == peer)?;
        Some(entry.node.value.first().clone())
    }

    fn table(&mut self) -> Vec<Known> {
        routes::table(&mut self.swarm.behaviour_mut().kad)
    }

    /// What a peer says of itself replaces what was known of it.
    fn met(&mut self, peer: &PeerId, addresses: Vec<Multiaddr>) {
        let said: Vec<Multiaddr> = addresses
            .into_iter()
            .filter(|address| behaviour::dialable(address, self.transport))
            .filter_map(|address| address.with_p2p(*peer).ok())
            .take(MAX_ADDRESSES)
            .collect();
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

    /// A connection has ended that was in use: is the peer gone?
    fn probe(&mut self, peer: PeerId) {
        match self.swarm.dial(DialOpts::peer_id(peer).build()) {
            Ok(()) | Err(DialError::DialPeerConditionFalse(_) | DialError::Denied { .. }) => {}
            Err(_) => self.forget(&peer),
        }
    }

    /// A peer that cannot be reached is no part of the network, until it is met again.
    fn forget(&mut self, peer: &PeerId) {
        self.routes.failed(peer);
        if self.swarm.behaviour_mut().kad.remove_peer(peer).is_some() {
            self.note_neighbour(peer);
        }
    }

    /// Tells those who repair, if this peer is or was one of the nearest.
    fn note_neighbour(&mut self, peer: &PeerId) {
        let me = Key::from(*self.swarm.local_peer_id());
        let far = me.distance(&Key::from(*peer));
        let nearer = self.table().iter().filter(|known| me.distance(&known.key) < far).count();
        if nearer < K_VALUE.get() {
            self.neighbourhood.send_modify(|version| *version += 1);
        }
    }

    // Looking around.

    fn start_refresh(&mut self) {
        self.refresh_at = Instant::now() + REFRESH_INTERVAL;
        if !matches!(self.refresh, Refresh::Idle) {
            return;
        }
        if self.table().is_empty() {
            self.join();
            return;
        }
        let query = self.look_around(self.swarm.local_peer_id().to_bytes());
        self.refresh = Refresh::Neighbours(query);
    }

    /// Dials the nodes to join by; what they are called is known only when they answer.
    fn join(&mut self) {
        if self.bootstrap.is_empty() {
            self.refresh_done();
            return;
        }
        self.refresh_at = Instant::now() + JOIN_AGAIN;
        for address in self.bootstrap.clone() {
            // An error: it is being dialled already, or cannot be; it is tried again.
            let _ = self.swarm.dial(DialOpts::unknown_peer_id().address(address).build());
        }
    }

    fn look_around(&mut self, key: Vec<u8>) -> QueryId {
        self.swarm.behaviour_mut().kad.get_n_closest_peers(key, K_VALUE)
    }

    fn refreshed(&mut self, id: QueryId, found: Vec<kad::PeerInfo>, whole: bool) {
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

    /// Looks up a key of the first of these buckets that is not full: that one would tell nothing new.
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
        self.table_then = self.table().len();
        self.status.send_if_modified(|status| std::mem::replace(status, Status::Joined) != Status::Joined);
        for waiting in self.refreshed.drain(..) {
            let _ = waiting.send(());
        }
    }

    fn addresses_changed(&mut self) {
        let id = *self.swarm.local_peer_id();
        let addresses: Vec<Multiaddr> =
            self.swarm.listeners().filter_map(|address| address.clone().with_p2p(id).ok()).collect();
        let loopback = |address: &&Multiaddr| match address.iter().next() {
            Some(Protocol::Ip4(ip)) => ip.is_loopback(),
            Some(Protocol::Ip6(ip)) => ip.is_loopback(),
            _ => false,
        };
        let best = addresses.iter().find(|address| !loopback(address)).or(addresses.first());
        self.me = routes::peer(&id, best);
        *self.shared.me.lock().unwrap_or_else(PoisonError::into_inner) = (Some(self.me.clone()), addresses);
    }
}

fn parse(text: &str) -> Result<Multiaddr, StartError> {
    text.parse()
        .map_err(|e: libp2p::multiaddr::Error| StartError::Address { address: text.to_owned(), why: e.to_string() })
}

/// Listens everywhere, and waits until it is known where that is.
async fn listen(swarm: &mut Swarm<Behaviour>, addresses: &[String]) -> Result<(), StartError> {
    let mut names = HashMap::new();
    for text in addresses {
        let listener = swarm
            .listen_on(parse(text)?)
            .map_err(|e| StartError::Listen { address: text.clone(), why: e.to_string() })?;
        names.insert(listener, text.clone());
    }
    while !names.is_empty() {
        match swarm.select_next_some().await {
            SwarmEvent::NewListenAddr { listener_id, .. } => {
                names.remove(&listener_id);
            }
            SwarmEvent::ListenerClosed { listener_id, reason, .. } => {
                if let Some(address) = names.remove(&listener_id) {
                    let why = reason.err().map_or_else(|| "it was closed".to_owned(), |e| e.to_string());
                    return Err(StartError::Listen { address, why });
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn call_error(failure: &OutboundFailure) -> CallError {
    match failure {
        OutboundFailure::DialFailure => CallError::Unreachable,
        OutboundFailure::Timeout => CallError::TimedOut,
        OutboundFailure::ConnectionClosed => CallError::Closed,
        OutboundFailure::UnsupportedProtocols => CallError::Foreign,
        OutboundFailure::Io(e) if e.kind() == std::io::ErrorKind::FileTooLarge => CallError::TooLong,
        OutboundFailure::Io(_) => CallError::Closed,
    }
}
