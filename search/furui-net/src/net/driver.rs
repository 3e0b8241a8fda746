use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};

use furui_search::Peer;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use libp2p::kad::{KBucketKey as Key, QueryId};
use libp2p::multiaddr::Protocol;
use libp2p::request_response::{InboundRequestId, OutboundRequestId, ResponseChannel};
use libp2p::swarm::{ConnectionError, ConnectionId, DialError, SwarmEvent};
use libp2p::{Multiaddr, PeerId, Swarm, identify, mdns, ping};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use super::behaviour::{self, Behaviour, BehaviourEvent, KAD};
use super::bootstrap::Bootstrap;
use super::codec::Answer;
use super::known;
use super::listening::check_free;
use super::quota::Quotas;
use super::routes::Routes;
use super::shared::{Shared, Status};
use super::{CallError, Config, Inbound, PeerAddress, Prefix, StartError, Transport, WINDOW, choose};

mod calls;
mod refresh;
mod table;

/// Work on the driver's state, which a handle requests.
pub(super) type Command = Box<dyn FnOnce(&mut Driver) + Send>;

/// Owns the libp2p swarm, executes the commands of handles, and handles network events.
pub(super) struct Driver {
    swarm: Swarm<Behaviour>,
    transport: Transport,
    bootstrap: Vec<Bootstrap>,
    /// The addresses of nodes that this one knew before, in this run or an earlier one, and does not know now; the
    /// newest last.
    remembered: VecDeque<PeerAddress>,
    /// True if this node ever knew another one of its network.
    has_met: bool,
    is_private: bool,
    /// The DNS look-ups of host names in `bootstrap` that are in progress.
    resolving: FuturesUnordered<Resolving>,
    /// For each connection attempt to join the network, the bootstrap address.
    joins: HashMap<ConnectionId, Multiaddr>,
    shared: Arc<Shared>,
    me: Peer,
    routes: Routes,
    lookups: HashMap<QueryId, Lookup>,
    refresh: Refresh,
    refresh_at: Instant,
    /// The number of peers in the routing table at the start of the last refresh.
    table_then: usize,
    /// The senders for callers that wait for the end of the refresh of the routing table in progress.
    refreshed: Vec<oneshot::Sender<()>>,
    /// The senders for callers that wait for a refresh of the routing table that has not begun yet.
    wants_refresh: Vec<oneshot::Sender<()>>,
    calls: HashMap<OutboundRequestId, Call>,
    /// For each peer to which this node has calls, the number of calls in flight and the queue of waiting calls.
    lanes: HashMap<PeerId, Lane>,
    /// For each peer of the routing table, which bounds their number, the number of consecutive calls that timed out.
    strikes: HashMap<PeerId, u8>,
    /// For each peer that was dialled to check that it is alive because a connection in use had ended, the time of the
    /// dial.
    probed: HashMap<PeerId, Instant>,
    quotas: Quotas,
    served: HashMap<InboundRequestId, (PeerId, Prefix)>,
    answers: FuturesUnordered<PendingAnswer>,
    inbound: mpsc::Sender<Inbound>,
    status: watch::Sender<Status>,
    neighbourhood: watch::Sender<u64>,
    is_over: bool,
}

type PendingAnswer = Pin<Box<dyn Future<Output = (ResponseChannel<Answer>, Option<Vec<u8>>)> + Send>>;

type Resolving = Pin<Box<dyn Future<Output = (Multiaddr, io::Result<Vec<Multiaddr>>)> + Send>>;

struct Lookup {
    key: Vec<u8>,
    n: usize,
    answer: oneshot::Sender<Vec<Peer>>,
    _permit: OwnedSemaphorePermit,
}

struct Call {
    peer: PeerId,
    answer: oneshot::Sender<Result<Vec<u8>, CallError>>,
    _permit: OwnedSemaphorePermit,
}

#[derive(Default)]
struct Lane {
    on_the_way: usize,
    waiting: VecDeque<(Vec<Multiaddr>, Vec<u8>, Call)>,
}

/// The state of a refresh of the routing table, which looks up this node's own key and then a random key in each bucket
/// beyond its neighbourhood.
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
        let mut swarm = behaviour::swarm(&config, &shared)?;
        let bootstrap = config.bootstrap.iter().map(|text| Bootstrap::new(parse(text)?, config.transport));
        let mut bootstrap = bootstrap.collect::<Result<Vec<_>, _>>()?;
        let known = config.remembered.iter().map(|known| Bootstrap::new(known.address().clone(), config.transport));
        // A name is resolved again at each attempt.
        bootstrap.extend(known.filter_map(Result::ok).filter(Bootstrap::is_name));
        bootstrap.iter().for_each(|bootstrap| shared.reach.name(bootstrap.address()));
        // What was dialled before may be dialled again.
        config.remembered.iter().for_each(|known| shared.reach.name(known.address()));
        if config.network.is_some() {
            shared.reach.allow_private();
        }
        for text in &config.external {
            swarm.add_external_address(parse(text)?);
        }
        listen(&mut swarm, &config.listen).await?;
        let id = *swarm.local_peer_id();
        let mut driver = Self {
            transport: config.transport,
            bootstrap,
            has_met: !config.remembered.is_empty(),
            is_private: config.network.is_some(),
            remembered: config.remembered.into_iter().rev().collect(),
            resolving: FuturesUnordered::new(),
            joins: HashMap::new(),
            me: known::peer(&id, None),
            routes: Routes::new(id),
            swarm,
            shared,
            lookups: HashMap::new(),
            refresh: Refresh::Idle,
            refresh_at: Instant::now(),
            table_then: 0,
            refreshed: Vec::new(),
            wants_refresh: Vec::new(),
            calls: HashMap::new(),
            lanes: HashMap::new(),
            strikes: HashMap::new(),
            probed: HashMap::new(),
            quotas: Quotas::default(),
            served: HashMap::new(),
            answers: FuturesUnordered::new(),
            inbound,
            status,
            neighbourhood,
            is_over: false,
        };
        driver.addresses_changed();
        Ok(driver)
    }

    pub(super) async fn run(mut self, mut commands: mpsc::Receiver<Command>) {
        while !self.is_over {
            tokio::select! {
                event = self.swarm.select_next_some() => self.on_event(event),
                command = commands.recv() => match command {
                    Some(command) => command(&mut self),
                    None => break,
                },
                Some((channel, answer)) = self.answers.next() => self.send_answer(channel, answer),
                Some((address, resolved)) = self.resolving.next() => self.resolved(&address, resolved),
                () = sleep_until(self.refresh_at) => self.start_refresh(),
            }
        }
        let (status, swarm) = (self.status, self.swarm);
        drop(swarm);
        status.send_replace(Status::Stopped);
    }

    /// Ends the driver after the present command.
    pub(super) fn shut_down(&mut self) {
        self.is_over = true;
    }

    /// The `n` keepers of each key among the nodes of the routing table and this node.
    pub(super) fn replicas(&mut self, keys: Vec<Vec<u8>>, n: usize) -> Vec<Vec<Peer>> {
        let table = self.table();
        let keepers = keys.into_iter().map(|key| {
            let nearest = self.routes.nearest(&table, &self.me, &Key::new(key), WINDOW);
            choose(nearest, n, Prefix::among(self.is_private)).keepers
        });
        keepers.collect()
    }

    /// True if this node knew others, and knows none now: it is cut off from its network.
    pub(super) fn is_cut_off(&mut self) -> bool {
        self.has_met && self.table().is_empty()
    }

    pub(super) fn is_connected(&self, peer: &Peer) -> bool {
        known::id(peer).is_some_and(|peer| self.swarm.is_connected(&peer))
    }

    /// Refreshes the routing table, and then sends `done`.
    pub(super) fn refresh(&mut self, done: oneshot::Sender<()>) {
        self.wants_refresh.retain(|waiting| !waiting.is_closed());
        self.wants_refresh.push(done);
        self.start_refresh();
    }

    /// Closes the connections to blocked peers and networks, and forgets these nodes.
    pub(super) fn block(&mut self) {
        self.swarm.behaviour_mut().incoming_limits.close_blocked();
        for known in self.table() {
            if let Some(peer) = known::id(&known.peer).filter(|peer| self.is_blocked(peer)) {
                self.forget(&peer);
            }
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
            SwarmEvent::Behaviour(BehaviourEvent::Mdns(mdns::Event::Discovered(found))) => self.dial_all(found),
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
            SwarmEvent::ConnectionEstablished { connection_id, .. } => {
                if let Some(address) = self.joins.remove(&connection_id) {
                    self.shared.unreached.reached(&address);
                }
            }
            SwarmEvent::OutgoingConnectionError { peer_id, error, connection_id } => {
                if let Some(address) = self.joins.remove(&connection_id) {
                    self.shared.unreached.note(&address, why(&error));
                }
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

    fn addresses_changed(&mut self) {
        let id = *self.swarm.local_peer_id();
        // A link-local address means nothing on another machine.
        let is_of_use = |address: &Multiaddr| match address.iter().next() {
            Some(Protocol::Ip6(ip)) => !ip.is_unicast_link_local(),
            _ => true,
        };
        let named = |address: &Multiaddr| address.clone().with_p2p(id).ok().filter(is_of_use);
        let external: Vec<Multiaddr> = self.swarm.external_addresses().filter_map(named).collect();
        let addresses = if external.is_empty() { self.swarm.listeners().filter_map(named).collect() } else { external };
        self.shared.reach.set_own(&addresses);
        self.me = known::peer(&id, known::best(&addresses));
        *self.shared.me.lock().unwrap_or_else(PoisonError::into_inner) = (Some(self.me.clone()), addresses);
    }
}

/// Describes in a few words why a dial has failed.
fn why(error: &DialError) -> String {
    match error {
        DialError::Transport(failures) => {
            // Some error types have no message of their own, and only wrap their cause.
            let first = failures.first().map(|(_, error)| error as &dyn std::error::Error);
            let texts = std::iter::successors(first, |error| error.source()).map(ToString::to_string);
            texts.into_iter().find(|text| !text.is_empty()).unwrap_or_else(|| "no connection can be made".to_owned())
        }
        DialError::WrongPeerId { .. } => "another node answers there".to_owned(),
        error => error.to_string(),
    }
}

fn parse(text: &str) -> Result<Multiaddr, StartError> {
    text.parse()
        .map_err(|e: libp2p::multiaddr::Error| StartError::Address { address: text.to_owned(), why: e.to_string() })
}

/// Listens on all of these addresses, and waits until the actual addresses, including ports, are known.
async fn listen(swarm: &mut Swarm<Behaviour>, addresses: &[String]) -> Result<(), StartError> {
    let mut names = HashMap::new();
    for text in addresses {
        let failed = |error: io::Error| StartError::Listen { address: text.clone(), why: error.to_string() };
        check_free(&parse(text)?).map_err(failed)?;
    }
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
