use std::sync::{Arc, PoisonError};
use std::time::Duration;

use furui_search::Peer;
use libp2p::kad::K_VALUE;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};

use super::codec::MAX_MESSAGE;
use super::command::{Command, Shared, Status};
use super::driver::Driver;
use super::quota::MAX_IN_FLIGHT;
use super::{CallError, Config, Counters, Inbound, Reply, StartError, known};

/// Calls of this node that wait for an answer at once; others wait for their turn.
const MAX_CALLS: usize = 256;
/// Look-ups at once; others wait for their turn.
const MAX_LOOKUPS: usize = 64;
/// Commands on their way to the driver.
const COMMANDS: usize = 64;

/// This node on the network. Clones are the same node; when the last is dropped, it leaves.
#[derive(Clone)]
pub struct Net {
    commands: mpsc::Sender<Command>,
    inbound: mpsc::Sender<Inbound>,
    calls: Arc<Semaphore>,
    lookups: Arc<Semaphore>,
    call_timeout: Duration,
    shared: Arc<Shared>,
    status: watch::Receiver<Status>,
    neighbourhood: watch::Receiver<u64>,
}

impl Net {
    /// How many of the nodes nearest to a key [`closest`](Self::closest) names at most. Having looked up that many, it
    /// knows those of the keys around as well.
    pub const MOST_CLOSEST: usize = K_VALUE.get();

    /// Starts a node: listens, and joins the nodes of `config.bootstrap`. What others ask comes out of the receiver.
    ///
    /// Returns as soon as it listens; [`joined`](Self::joined) waits for the rest.
    ///
    /// # Errors
    /// If an address is not one, or cannot be listened on.
    pub async fn start(config: Config) -> Result<(Self, mpsc::Receiver<Inbound>), StartError> {
        let shared = Arc::new(Shared::default());
        let (commands, command_queue) = mpsc::channel(COMMANDS);
        let (inbound, requests) = mpsc::channel(MAX_IN_FLIGHT);
        let (set_status, status) = watch::channel(Status::Joining);
        let (set_neighbourhood, neighbourhood) = watch::channel(0);
        let call_timeout = config.call_timeout;
        let driver = Driver::start(config, Arc::clone(&shared), inbound.clone(), set_status, set_neighbourhood).await?;
        tokio::spawn(driver.run(command_queue));
        let net = Self {
            commands,
            inbound,
            calls: Arc::new(Semaphore::new(MAX_CALLS)),
            lookups: Arc::new(Semaphore::new(MAX_LOOKUPS)),
            call_timeout,
            shared,
            status,
            neighbourhood,
        };
        Ok((net, requests))
    }

    /// Asks a peer, dialling its address if there is no connection. A call to this node itself comes out of its own
    /// requests.
    ///
    /// # Errors
    /// If there is no answer: see [`CallError`]. After it, look-ups do not name the peer for what they remember; when
    /// it could not be reached at all, it is out of the routing table.
    pub async fn call(&self, to: &Peer, request: Vec<u8>) -> Result<Vec<u8>, CallError> {
        if request.len() > MAX_MESSAGE {
            return Err(CallError::TooLong);
        }
        let call = async {
            if *to == self.me() {
                return self.call_self(request).await;
            }
            let turn = Arc::clone(&self.calls).acquire_owned().await.map_err(|_| CallError::Stopped)?;
            let (answer, receiver) = oneshot::channel();
            self.tell(Command::Call { to: to.clone(), request, answer, turn }).await?;
            receiver.await.unwrap_or(Err(CallError::Stopped))
        };
        match tokio::time::timeout(self.call_timeout, call).await {
            Ok(result) => result,
            Err(_) => {
                self.tell(Command::TimedOut(to.clone())).await?;
                Err(CallError::TimedOut)
            }
        }
    }

    async fn call_self(&self, request: Vec<u8>) -> Result<Vec<u8>, CallError> {
        let (reply, answer) = Reply::new(None);
        let inbound = Inbound { from: self.me(), request, reply };
        self.inbound.send(inbound).await.map_err(|_| CallError::Stopped)?;
        answer.await.map_err(|_| CallError::Closed)
    }

    /// The `n` nodes (at most [`MOST_CLOSEST`](Self::MOST_CLOSEST)) whose places are nearest to that of `key`, nearest first, this one included.
    ///
    /// Asks no one if the routing table is known to hold all that count, or an earlier look-up still stands; in a network
    /// of up to twenty nodes that is always so. Otherwise nodes are asked one by one, each nearer than the last.
    pub async fn closest(&self, key: &[u8], n: usize) -> Vec<Peer> {
        let Ok(turn) = Arc::clone(&self.lookups).acquire_owned().await else { return Vec::new() };
        let (answer, receiver) = oneshot::channel();
        match self.tell(Command::Closest { key: key.to_vec(), n, answer, turn }).await {
            Ok(()) => receiver.await.unwrap_or_default(),
            Err(_) => Vec::new(),
        }
    }

    /// For each key what [`closest`](Self::closest) would say without asking anyone, if it can: for many keys at once.
    pub async fn known(&self, keys: Vec<Vec<u8>>, n: usize) -> Vec<Option<Vec<Peer>>> {
        let (answer, receiver) = oneshot::channel();
        let count = keys.len();
        match self.tell(Command::Known { keys, n, answer }).await {
            Ok(()) => receiver.await.unwrap_or_else(|_| vec![None; count]),
            Err(_) => vec![None; count],
        }
    }

    /// For each key the `n` nodes nearest to it of those this node knows, nearest first, itself included; asks no one.
    /// Exact for keys that this node is one of the nearest to, as every node knows its neighbours.
    pub async fn replicas(&self, keys: Vec<Vec<u8>>, n: usize) -> Vec<Vec<Peer>> {
        let (answer, receiver) = oneshot::channel();
        let count = keys.len();
        match self.tell(Command::Replicas { keys, n, answer }).await {
            Ok(()) => receiver.await.unwrap_or_else(|_| vec![Vec::new(); count]),
            Err(_) => vec![Vec::new(); count],
        }
    }

    /// This node: its identity, and the first address that it listens on.
    pub fn me(&self) -> Peer {
        let (me, _) = &*self.shared.me.lock().unwrap_or_else(PoisonError::into_inner);
        me.clone().expect("set before a handle exists")
    }

    /// This node's identity as people write it.
    pub fn name(&self) -> String {
        libp2p::PeerId::from_bytes(self.me().identity()).map(|id| id.to_base58()).unwrap_or_default()
    }

    /// The multiaddresses that it listens on, with its identity: what others can be given to join by.
    pub fn listen_addresses(&self) -> Vec<String> {
        let (_, addresses) = &*self.shared.me.lock().unwrap_or_else(PoisonError::into_inner);
        addresses.iter().map(ToString::to_string).collect()
    }

    /// The other nodes in the routing table.
    pub async fn peers(&self) -> Vec<Peer> {
        let (answer, receiver) = oneshot::channel();
        match self.tell(Command::Peers(answer)).await {
            Ok(()) => receiver.await.unwrap_or_default(),
            Err(_) => Vec::new(),
        }
    }

    /// Whether there is a connection with this very peer, proved by its key: if so, what comes or does not come from it
    /// is its own doing.
    pub async fn is_connected(&self, peer: &Peer) -> bool {
        let (answer, receiver) = oneshot::channel();
        match self.tell(Command::IsConnected { peer: peer.clone(), answer }).await {
            Ok(()) => receiver.await.unwrap_or_default(),
            Err(_) => false,
        }
    }

    /// What it has sent and received.
    pub fn counters(&self) -> Counters {
        self.shared.tally.read()
    }

    /// Changes whenever one of the twenty nodes nearest to this one comes or goes: what it is to keep may have changed.
    pub fn neighbourhood(&self) -> watch::Receiver<u64> {
        self.neighbourhood.clone()
    }

    /// Waits until it knows its neighbours: at once for a first node, for others when a node of `bootstrap` has answered.
    /// Returns too if it is shut down before.
    pub async fn joined(&self) {
        // An error: the driver has ended.
        let _ = self.status.clone().wait_for(|status| *status != Status::Joining).await;
    }

    /// Looks around anew, as it does by itself every few minutes, and waits until it is through.
    pub async fn refresh(&self) {
        let (done, receiver) = oneshot::channel();
        if self.tell(Command::Refresh(done)).await.is_ok() {
            // An error: it is shut down.
            let _ = receiver.await;
        }
    }

    /// Leaves the network, and waits until all connections are closed.
    pub async fn shutdown(&self) {
        if self.tell(Command::Shutdown).await.is_ok() {
            let _ = self.status.clone().wait_for(|status| *status == Status::Stopped).await;
        }
    }

    /// Waits until the task that it lives on has panicked; without end, if that ends in order.
    pub async fn failed(&self) {
        if self.status.clone().wait_for(|status| *status == Status::Stopped).await.is_ok() {
            std::future::pending().await
        }
    }

    /// Whether it has left the network.
    pub fn is_stopped(&self) -> bool {
        *self.status.borrow() == Status::Stopped
    }

    /// Has the task panic.
    #[cfg(test)]
    pub(crate) async fn panic(&self) {
        self.tell(Command::Panic).await.expect("it runs");
    }

    async fn tell(&self, command: Command) -> Result<(), CallError> {
        self.commands.send(command).await.map_err(|_| CallError::Stopped)
    }
}

impl std::fmt::Debug for Net {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let me = self.me();
        write!(f, "node {}", known::id(&me).map(|id| id.to_string()).unwrap_or_default())
    }
}
