use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use furui_search::Peer;
use ipnet::IpNet;
use libp2p::Multiaddr;
use libp2p::kad::K_VALUE;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};

use super::codec::MAX_MESSAGE;
use super::driver::{Command, Driver};
use super::quota::MAX_IN_FLIGHT;
use super::reach::Kind;
use super::shared::{Shared, Status};
use super::{CallError, Config, Counters, Inbound, PeerAddress, Prefix, Refusals, Reply, StartError, diversity, known};

/// The maximum number of this node's calls to other nodes in flight. Further calls wait. The value is a choice, not a
/// measurement.
const MAX_CALLS: usize = 256;
/// The maximum number of look-ups of a key's nearest nodes in flight. Further look-ups wait. The value is a choice, not
/// a measurement.
const MAX_LOOKUPS: usize = 64;
/// The maximum number of commands of handles that wait for the driver of the network. The value is a choice, not a
/// measurement.
const COMMANDS: usize = 64;

/// A handle to this node in the network. Clones refer to the same node. The node leaves the network when the last
/// handle is dropped.
#[derive(Clone)]
pub struct Net {
    commands: mpsc::Sender<Command>,
    inbound: mpsc::Sender<Inbound>,
    calls: Arc<Semaphore>,
    lookups: Arc<Semaphore>,
    call_timeout: Duration,
    is_private: bool,
    shared: Arc<Shared>,
    status: watch::Receiver<Status>,
    neighbourhood: watch::Receiver<u64>,
}

impl Net {
    /// The maximum number of nodes that [`closest`](Self::closest) returns. A look-up of this number of nodes also
    /// answers look-ups of keys nearby.
    pub const MOST_CLOSEST: usize = K_VALUE.get();

    /// Starts a node: listens, and joins the network through the nodes of `config.bootstrap`. The requests of other
    /// nodes are sent to the returned receiver.
    ///
    /// Returns as soon as the node listens; [`joined`](Self::joined) waits until it has joined the network.
    ///
    /// # Errors
    /// If an address is invalid, or the node cannot listen on it.
    pub async fn start(config: Config) -> Result<(Self, mpsc::Receiver<Inbound>), StartError> {
        let shared = Arc::new(Shared::default());
        let (commands, command_queue) = mpsc::channel(COMMANDS);
        let (inbound, requests) = mpsc::channel(MAX_IN_FLIGHT);
        let (set_status, status) = watch::channel(Status::Joining);
        let (set_neighbourhood, neighbourhood) = watch::channel(0);
        let (call_timeout, is_private) = (config.call_timeout, config.network.is_some());
        let driver = Driver::start(config, Arc::clone(&shared), inbound.clone(), set_status, set_neighbourhood).await?;
        tokio::spawn(driver.run(command_queue));
        let net = Self {
            commands,
            inbound,
            calls: Arc::new(Semaphore::new(MAX_CALLS)),
            lookups: Arc::new(Semaphore::new(MAX_LOOKUPS)),
            call_timeout,
            is_private,
            shared,
            status,
            neighbourhood,
        };
        Ok((net, requests))
    }

    /// Sends a request to a peer, and returns its answer. The peer is dialled if there is no connection. A call to this
    /// node itself arrives at its own receiver.
    ///
    /// # Errors
    /// If there is no answer: see [`CallError`]. Cached look-ups then no longer name the peer. If the peer could not be
    /// reached, it is removed from the routing table.
    pub async fn call(&self, to: &Peer, request: Vec<u8>) -> Result<Vec<u8>, CallError> {
        if request.len() > MAX_MESSAGE {
            return Err(CallError::TooLong);
        }
        let call = async {
            if *to == self.me() {
                return self.call_self(request).await;
            }
            let permit = Arc::clone(&self.calls).acquire_owned().await.map_err(|_| CallError::Stopped)?;
            let (answer, receiver) = oneshot::channel();
            let to = to.clone();
            self.tell(move |driver| driver.call(&to, request, answer, permit)).await?;
            receiver.await.unwrap_or(Err(CallError::Stopped))
        };
        match tokio::time::timeout(self.call_timeout, call).await {
            Ok(result) => result,
            Err(_) => {
                let to = to.clone();
                self.tell(move |driver| driver.timed_out(&to)).await?;
                Err(CallError::TimedOut)
            }
        }
    }

    async fn call_self(&self, request: Vec<u8>) -> Result<Vec<u8>, CallError> {
        let (reply, answer) = Reply::new(None);
        let inbound = Inbound { from: self.me(), prefix: Prefix::Local, request, reply };
        self.inbound.send(inbound).await.map_err(|_| CallError::Stopped)?;
        answer.await.map_err(|_| CallError::Closed)
    }

    /// Returns the `n` nodes (at most [`MOST_CLOSEST`](Self::MOST_CLOSEST)) nearest to `key` in ascending distance,
    /// including this node.
    ///
    /// No other node is asked if the routing table is known to be complete around the key, as always in a network of up
    /// to twenty nodes, or if an earlier look-up is still valid. Otherwise nodes are asked one by one, each nearer than
    /// the last.
    pub async fn closest(&self, key: &[u8], n: usize) -> Vec<Peer> {
        let Ok(permit) = Arc::clone(&self.lookups).acquire_owned().await else { return Vec::new() };
        let key = key.to_vec();
        self.ask_later(move |driver, answer| driver.closest(key, n, answer, permit)).await.unwrap_or_default()
    }

    /// Returns the `n` nodes that keep `key`: the nodes nearest to it, but at most one per address [prefix](Prefix), as
    /// long as the [`WINDOW`](super::WINDOW) nearest nodes have enough different prefixes.
    ///
    /// The cost is that of [`closest`](Self::closest), unless two of the nearest nodes have the same prefix.
    pub async fn keepers(&self, key: &[u8], n: usize) -> Vec<Peer> {
        for wide in diversity::widths(n) {
            let nearest = self.closest(key, wide).await;
            if let Some(keepers) = diversity::choose_among(nearest, n, wide, Prefix::among(self.is_private)) {
                return keepers;
            }
        }
        Vec::new()
    }

    /// Returns the result of [`keepers`](Self::keepers) for each of many keys; `None` for a key if this node would have
    /// to ask another one.
    pub async fn known(&self, keys: Vec<Vec<u8>>, n: usize) -> Vec<Option<Vec<Peer>>> {
        let count = keys.len();
        self.ask(move |driver| driver.known_keepers(&keys, n)).await.unwrap_or_else(|| vec![None; count])
    }

    /// Returns the `n` [keepers](Self::keepers) of each key among the nodes that this node knows, including itself. No
    /// other node is asked. If this node is one of the `n` nodes nearest to a key, the result for the key is exact,
    /// because a node knows its neighbours.
    pub async fn replicas(&self, keys: Vec<Vec<u8>>, n: usize) -> Vec<Vec<Peer>> {
        let count = keys.len();
        self.ask(move |driver| driver.replicas(keys, n)).await.unwrap_or_else(|| vec![Vec::new(); count])
    }

    /// This node as a peer: its identity, and one of its addresses, if possible one that is not a loopback address.
    pub fn me(&self) -> Peer {
        let (me, _) = &*self.shared.me.lock().unwrap_or_else(PoisonError::into_inner);
        me.clone().expect("set before a handle exists")
    }

    /// The peer id of this node as text.
    pub fn name(&self) -> String {
        known::name(&self.me())
    }

    /// The multiaddresses by which other nodes can join, with this node's identity: the external addresses of its
    /// configuration or, without any, all addresses on which it listens.
    pub fn listen_addresses(&self) -> Vec<String> {
        let (_, addresses) = &*self.shared.me.lock().unwrap_or_else(PoisonError::into_inner);
        addresses.iter().map(ToString::to_string).collect()
    }

    /// True if the node is in a private network, whose members are trusted to be honest.
    pub fn is_private(&self) -> bool {
        self.is_private
    }

    /// True if this node knew other nodes, in this run or before, and knows none now: it is cut off from its network,
    /// and can tell only what it has itself.
    pub async fn is_cut_off(&self) -> bool {
        self.ask(Driver::is_cut_off).await.unwrap_or_default()
    }

    /// The addresses of this node, as others remember them.
    pub(crate) fn own_addresses(&self) -> Vec<PeerAddress> {
        let (_, all) = &*self.shared.me.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().cloned().filter_map(PeerAddress::new).collect()
    }

    /// All addresses of the nodes in the routing table.
    pub(crate) async fn known_addresses(&self) -> Vec<PeerAddress> {
        self.ask(Driver::addresses).await.unwrap_or_default()
    }

    /// The addresses of this node that are of use on other machines. If it has only loopback addresses, these.
    pub fn addresses_for_others(&self) -> Vec<PeerAddress> {
        let (_, all) = &*self.shared.me.lock().unwrap_or_else(PoisonError::into_inner);
        let named = |addresses: &mut dyn Iterator<Item = &Multiaddr>| -> Vec<PeerAddress> {
            addresses.cloned().filter_map(PeerAddress::new).collect()
        };
        let far = named(&mut all.iter().filter(|address| Kind::of(address) != Some(Kind::Loopback)));
        if far.is_empty() { named(&mut all.iter()) } else { far }
    }

    /// The other nodes in the routing table.
    pub async fn peers(&self) -> Vec<Peer> {
        self.ask(|driver| driver.table().into_iter().map(|known| known.peer).collect()).await.unwrap_or_default()
    }

    /// True if there is a connection with this peer, on which the peer has proved its identity. Then the peer itself,
    /// and no other node, is responsible for its answers and for missing answers.
    pub async fn is_connected(&self, peer: &Peer) -> bool {
        let peer = peer.clone();
        self.ask(move |driver| driver.is_connected(&peer)).await.unwrap_or_default()
    }

    /// Returns the traffic of this node since its start.
    pub fn counters(&self) -> Counters {
        self.shared.tally.read()
    }

    /// The bootstrap addresses through which the last attempt to join failed, each with the reason.
    pub fn unreached(&self) -> watch::Receiver<BTreeMap<String, String>> {
        self.shared.unreached.watch()
    }

    /// Replaces the sets of blocked peers (by peer id as text) and networks, and closes the connections with them.
    pub async fn block(&self, peers: &[String], networks: Vec<IpNet>) {
        let peers = peers.iter().filter_map(|peer| peer.parse().ok()).collect();
        self.shared.blocked.set(peers, networks);
        // There is no answer if the node is shut down.
        let _ = self.ask(Driver::block).await;
    }

    /// The peers and addresses that were refused recently, with the reasons.
    pub fn refusals(&self) -> &Refusals {
        &self.shared.refusals
    }

    /// A counter that changes whenever one of the twenty nodes nearest to this one joins or leaves. This node may then
    /// have to keep other lists.
    pub fn neighbourhood(&self) -> watch::Receiver<u64> {
        self.neighbourhood.clone()
    }

    /// Waits until the node has joined the network: until a bootstrap node has answered and the node knows its
    /// neighbours. The first node of a network does not wait, but one that has met others before does. Also returns if
    /// the node is shut down before.
    pub async fn joined(&self) {
        // Waiting fails if the driver has ended.
        let _ = self.status.clone().wait_for(|status| *status != Status::Joining).await;
    }

    /// Refreshes the routing table, as the node itself does every few minutes, and waits until it is done. If a refresh
    /// is already in progress, another one follows, because the first may have asked nodes before they met those that
    /// the caller is interested in.
    pub async fn refresh(&self) {
        // There is no answer if the node is shut down.
        let _ = self.ask_later(Driver::refresh).await;
    }

    /// Leaves the network, and waits until all connections are closed.
    pub async fn shutdown(&self) {
        if self.tell(Driver::shut_down).await.is_ok() {
            let _ = self.status.clone().wait_for(|status| *status == Status::Stopped).await;
        }
    }

    /// Waits until the task that drives the network has panicked. Never returns if the task ends without a panic.
    pub async fn failed(&self) {
        if self.status.clone().wait_for(|status| *status == Status::Stopped).await.is_ok() {
            std::future::pending().await
        }
    }

    /// True if the node has left the network.
    pub fn is_stopped(&self) -> bool {
        *self.status.borrow() == Status::Stopped
    }

    /// Makes the driver's task panic, for tests.
    #[cfg(test)]
    pub(crate) async fn panic(&self) {
        self.tell(|_| panic!("as a test wants it")).await.expect("it runs");
    }

    /// Gives work to the driver, and returns its result; `None` if the node has left the network.
    async fn ask<T: Send + 'static>(&self, work: impl FnOnce(&mut Driver) -> T + Send + 'static) -> Option<T> {
        // Sending fails if the caller was cancelled.
        self.ask_later(|driver, answer| drop(answer.send(work(driver)))).await
    }

    /// Gives work to the driver, which sends the result when it is known; `None` if the node has left the network.
    async fn ask_later<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Driver, oneshot::Sender<T>) + Send + 'static,
    ) -> Option<T> {
        let (answer, receiver) = oneshot::channel();
        self.tell(move |driver| work(driver, answer)).await.ok()?;
        let mut status = self.status.clone();
        tokio::select! {
            biased;
            answer = receiver => answer.ok(),
            // A command that was sent while the driver ended may remain in the channel, and is then never dropped.
            _ = status.wait_for(|status| *status == Status::Stopped) => None,
        }
    }

    async fn tell(&self, work: impl FnOnce(&mut Driver) + Send + 'static) -> Result<(), CallError> {
        self.commands.send(Box::new(work)).await.map_err(|_| CallError::Stopped)
    }
}

impl std::fmt::Debug for Net {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "node {}", self.name())
    }
}
