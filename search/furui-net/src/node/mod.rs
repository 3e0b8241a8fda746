//! A node of the search network: the state machines of [`furui_search`], driven by [`Net`], with the lists of a
//! [`Shelf`].
//!
//! ```text
//!  HTTP      ── search ──▶ Querier ──┐                    ┌──▶ Answerer ◀──┐
//!            ── publish ─▶ words, ───┤── Net ═ other ═ Net ┤                ├── Keeper: the thread of the Shelf
//!                          keepers   │        nodes        └──▶ store, fetch┘
//!                 Repair ── compare, list ──┘
//! ```

mod ask;
mod completions;
mod history;
mod kept;
mod membership;
mod own;
mod peers;
mod places;
mod private;
mod remembered;
mod serve;
mod snapshot;

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use std::{fmt, io};

use furui_search::{ContentId, Peer, PublisherKey, Refusal, Request, Response};
use serde::Serialize;
use sha2::{Digest, Sha256};
use thiserror::Error;
use tokio::task::AbortHandle;

use crate::net::{CallError, Config, Identity, IdentityError, Net, Network, NetworkError, Prefix, StartError};
use crate::shelf::{Bounds, Origin, Shelf, ShelfOptions, Statistics};
use ask::{
    answer, asking, crowds, document, doubts, fetch, filling, languages, search, sharing, showing, spent, versions,
};
use claims::Checker;
use history::History;
use keeper::Keeper;
use own::{loads, publish, publish_error, published, repair, withdraw};
use owner_list::{BLOCKED, OwnerList, TRUSTED};
use peers::{allowance, owner_list, reputation, sources};
use published::PublishedTable;
use remembered::Remembered;
use repair::Repair;
use reputation::Reputation;
use search::KnownTerms;
use serve::{claims, keeper};
use versions::Opinion;

pub use answer::{Hit, Instead, SearchError, SearchEvent, Version};
pub(crate) use crowds::{Crowd, Crowds};
pub use document::{DocumentError, KeptDocument};
pub use history::{SPAN, SPANS, Span};
pub use languages::Languages;
pub use owner_list::{Block, NoBlock};
pub use publish::{Document, Published};
pub use publish_error::PublishError;
pub use repair::Progress;
pub use search::SearchOptions;
use sharing::KnownPublishers;
pub use sharing::{FURTHER, PassedOver};

/// The maximum time to wait for answers of other nodes. Chosen: a user who searches waits for it.
const PATIENCE: Duration = Duration::from_secs(4);

/// The name of the file with the node's secret key.
const IDENTITY: &str = "identity";

/// A node: keeps a part of all lists and documents, answers other nodes, searches and publishes.
///
/// Clones refer to the same node.
#[derive(Clone)]
pub struct Node(Arc<Inner>);

struct Inner {
    net: Net,
    /// The private network that the node is in; `None` for the open one.
    network: Option<Network>,
    keeper: Keeper,
    reputation: Reputation,
    checker: Checker,
    known: KnownTerms,
    publishers: KnownPublishers,
    blocklist: Arc<OwnerList>,
    trusted: OwnerList,
    published: PublishedTable,
    remembered: Remembered,
    /// The identity with which this node signs the documents that it publishes and withdraws.
    identity: Identity,
    whole: AtomicBool,
    searches: AtomicU64,
    documents: AtomicU64,
    repair: Arc<Repair>,
    /// The tasks that repair the lists, record the history, tidy the published documents and remember other nodes.
    tasks: [AbortHandle; 4],
    history: History,
    /// The handle of the keeper's thread; `None` once the thread was joined.
    thread: std::sync::Mutex<Option<JoinHandle<()>>>,
}

/// The state of a node. In JSON, it is a flat object: the answer to `GET /status`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NodeStatus {
    /// The node's peer id, by which other nodes know it.
    pub peer: String,
    /// The name of the private network that the node is in; left out in the open one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// The addresses at which other nodes reach the node.
    pub addresses: Vec<String>,
    /// True if the node has been given everything that it should hold.
    pub whole: bool,
    /// True if the node knew other nodes, now or before, and knows none: then it is not whole.
    pub cut_off: bool,
    /// The progress of taking over the data that the node should hold.
    #[serde(flatten)]
    pub repair: Progress,
    /// The number of other nodes that the node knows.
    pub peers: u64,
    /// The contents of the node's shelf, which holds the postings and documents that the node keeps.
    #[serde(flatten)]
    pub shelf: Statistics,
    /// The number of searches for the node's users since the start.
    pub searches: u64,
    /// The number of documents published for the node's users since the start.
    pub published: u64,
    /// The number of requests of other nodes that were answered since the start.
    pub answered: u64,
    /// The number of requests of other nodes that were refused since the start.
    pub refused: u64,
    /// The peers that were refused recently, with the reasons; the latest first.
    pub refusals: Vec<crate::net::Refusal>,
    /// The network traffic since the start.
    #[serde(flatten)]
    pub traffic: crate::net::Counters,
    /// The traffic of each of the last [`SPANS`] [`SPAN`]s, oldest first. The status page draws it; JSON omits it.
    #[serde(skip)]
    pub lately: Vec<Span>,
}

/// The options of the start of a node, beside the configuration of its network.
#[derive(Clone, Copy, Debug, Default)]
pub struct StartOptions {
    /// The maximum size of the data that the node stores for others, in bytes. `None` stands for the default:
    /// [`Bounds::DISK`] or a tenth of the disk, whichever is less.
    pub disk: Option<u64>,
    /// True if a node with documents may change its network, and take them along.
    pub rekey: bool,
}

impl Node {
    /// Starts a node with the identity `config.identity`, for example that of [`identity`]. Its lists and documents are
    /// stored in `directory` or, without a directory, in memory.
    ///
    /// # Errors
    /// If the directory cannot be used (another node uses it, or it is damaged), or the node cannot listen on an
    /// address.
    pub async fn start(directory: Option<&Path>, config: Config) -> Result<Self, NodeError> {
        Self::start_with(directory, config, StartOptions::default()).await
    }

    /// Starts a node as [`start`](Self::start) does, with these options. If `config` names no private network, the node
    /// is in that of its directory.
    ///
    /// # Errors
    /// Those of [`start`](Self::start), and if the directory has documents of another network than that of `config`.
    pub async fn start_with(
        directory: Option<&Path>,
        mut config: Config,
        options: StartOptions,
    ) -> Result<Self, NodeError> {
        let mut shelf = match directory {
            Some(directory) => {
                private::make(directory)?;
                snapshot::clear(&directory.join(snapshot::SNAPSHOT))?;
                Shelf::open(directory, ShelfOptions::default())?
            }
            None => Shelf::in_memory(ShelfOptions::default())?,
        };
        shelf.set_bounds(Bounds::of(directory, options.disk));
        let published = PublishedTable::open(directory)?;
        let has_documents = shelf.statistics()?.records > 0 || !published.stale(u64::MAX, 1)?.is_empty();
        let network = membership::settle(directory, config.network.take(), has_documents, options.rekey)?;
        config.network.clone_from(&network);
        let blocklist = Arc::new(OwnerList::open(directory, BLOCKED)?);
        let trusted = OwnerList::open(directory, TRUSTED)?;
        let identity = config.identity.clone();
        let remembered = Remembered::open(directory)?;
        remembered.add(&config.remembered);
        config.remembered = remembered.others(&identity.name());
        remembered.choose_ports(&identity.name(), &mut config.listen);
        let (net, inbound) = Net::start(config).await?;
        let reputation = Reputation::new(net.clone());
        let checker = Checker::new(net.clone(), reputation.clone());
        let (keeper, thread) = Keeper::start(shelf, net.clone(), inbound, Arc::clone(&blocklist), checker.clone())
            .await
            .map_err(|source| NodeError::Directory { file: PathBuf::from("thread"), source })?;
        let repair = Arc::new(Repair::default());
        let counts = Arc::clone(keeper.counts());
        let spawn = |part: &'static str, task: Pin<Box<dyn Future<Output = ()> + Send>>| {
            let alarm = counts.alarm(part);
            let watched = async move {
                let _alarm = alarm;
                task.await;
            };
            tokio::spawn(watched).abort_handle()
        };
        let node = Self(Arc::new_cyclic(|inner| Inner {
            tasks: [
                spawn("the task that repairs its lists", Box::pin(repair::run(inner.clone(), Arc::clone(&repair)))),
                spawn("the task that records its history", Box::pin(history::run(inner.clone()))),
                spawn("the task that tidies its published documents", Box::pin(PublishedTable::tidy(inner.clone()))),
                spawn("the task that remembers other nodes", Box::pin(remembered::run(inner.clone()))),
            ],
            repair,
            history: History::default(),
            reputation,
            checker,
            known: KnownTerms::default(),
            publishers: KnownPublishers::default(),
            published,
            remembered,
            identity,
            whole: AtomicBool::new(false),
            searches: AtomicU64::new(0),
            documents: AtomicU64::new(0),
            thread: std::sync::Mutex::new(Some(thread)),
            blocklist,
            trusted,
            net,
            network,
            keeper,
        }));
        node.apply_blocked().await;
        Ok(node)
    }

    /// The network of the node.
    pub fn net(&self) -> &Net {
        &self.0.net
    }

    /// The public key under which this node publishes. Others trust or block the node by it.
    pub fn publisher(&self) -> PublisherKey {
        self.0.identity.publisher()
    }

    /// The state of the node.
    ///
    /// # Errors
    /// If its storage fails, or the node is shut down.
    pub async fn status(&self) -> Result<NodeStatus, NodeError> {
        let Inner { net, keeper, .. } = &*self.0;
        let shelf = keeper.ask(Shelf::statistics).await.ok_or(NodeError::Stopped)??;
        let counts = keeper.counts();
        // The peers are read before the progress of repair, so that a settled repair includes all of these peers.
        let peers = net.peers().await.len() as u64;
        let cut_off = net.is_cut_off().await;
        let progress = self.0.repair.progress(net);
        Ok(NodeStatus {
            peer: net.name(),
            network: self.network().map(|network| network.name().to_owned()),
            addresses: net.listen_addresses(),
            whole: self.0.whole.load(Ordering::Relaxed) && !cut_off,
            cut_off,
            repair: Progress { settled: progress.settled && !cut_off, ..progress },
            peers,
            shelf,
            searches: self.0.searches.load(Ordering::Relaxed),
            published: self.0.documents.load(Ordering::Relaxed),
            answered: counts.answered.load(Ordering::Relaxed),
            refused: counts.refused.load(Ordering::Relaxed),
            refusals: net.refusals().latest(),
            traffic: net.counters(),
            lately: self.0.history.spans(),
        })
    }

    /// Waits until the node's storage accepts no more changes, for example because the disk is full, or until one of
    /// the node's threads or tasks has panicked. Returns the reason. The node must then be started again.
    pub async fn failed(&self) -> String {
        tokio::select! {
            why = self.0.keeper.failed() => why,
            () = self.0.net.failed() => {
                "the task of its network has panicked, which is a mistake in furui: start it again".to_owned()
            }
        }
    }

    /// Leaves the network and closes the storage.
    pub async fn shutdown(&self) {
        self.0.tasks.iter().for_each(AbortHandle::abort);
        self.0.remembered.save(&self.0.net).await;
        self.0.net.shutdown().await;
        self.0.keeper.stop().await;
        let thread = self.0.thread.lock().ok().and_then(|mut thread| thread.take());
        if let Some(thread) = thread {
            // Joining fails if the thread has panicked, which was reported.
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.net.fmt(f)
    }
}

/// The identity that a directory holds. If it holds none yet, a new one is generated.
///
/// # Errors
/// If the file cannot be read or created, if other users can read it, or if it does not hold a key.
pub fn identity(directory: &Path) -> Result<Identity, NodeError> {
    private::make(directory)?;
    Ok(Identity::load_or_create(&directory.join(IDENTITY))?)
}

/// The origin under which the shelf (the node's storage) records the data of a peer. `taken_over` is true if this node
/// requested the data.
fn origin(peer: &Peer, prefix: Prefix, taken_over: bool) -> Origin {
    Origin { peer: peer.identity().to_vec(), prefix: prefix.to_string(), taken_over }
}

/// The key whose nearest nodes keep a word's list. It is a hash of the word, because each node that is asked in a
/// look-up sees it.
fn word_key(word: &str) -> Vec<u8> {
    Sha256::new().chain_update(b"word/").chain_update(word).finalize().to_vec()
}

impl Inner {
    /// Whom the owner of this node trusts, which is always the node itself and in a private network everybody, and of
    /// whom he wants to see nothing.
    fn opinion(&self) -> Opinion {
        let mut trusted = self.trusted.publishers();
        trusted.insert(self.identity.publisher());
        let trusted = (!self.net.is_private()).then_some(trusted);
        Opinion { trusted, blocked: self.blocklist.publishers() }
    }
}

/// The key whose nearest nodes keep a document's record. It is that of all documents of the URL.
fn record_key(id: ContentId) -> Vec<u8> {
    [&b"record/"[..], &id.of_url()].concat()
}

/// Sends a request to a peer, and decodes the answer. `None` if the peer does not answer, or its answer is invalid.
async fn call(net: &Net, to: &Peer, request: &Request) -> Option<Response> {
    send_counted(net, to, request.encode().ok()?).await.map(|(response, _)| response)
}

/// Sends an encoded request to a peer. Returns the decoded answer and its size in bytes; `None` if there is no valid
/// answer.
async fn send_counted(net: &Net, to: &Peer, request: Vec<u8>) -> Option<(Response, u64)> {
    match net.call(to, request).await {
        Ok(bytes) => Some((Response::decode(&bytes).ok()?, bytes.len() as u64)),
        // A node that says that it is busy counts as one that has answered.
        Err(CallError::Busy) => Some((Response::Refused(Refusal::Busy), 0)),
        Err(_) => None,
    }
}

/// The reason that a node does not start, or fails.
#[derive(Debug, Error)]
pub enum NodeError {
    /// The storage failed.
    #[error(transparent)]
    Storage(#[from] furui::Error),
    /// The network failed.
    #[error(transparent)]
    Network(#[from] StartError),
    /// The secret key of the node is not available.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// The key of the private network is not available.
    #[error(transparent)]
    Membership(#[from] NetworkError),
    /// The node is to be in another network, but its directory has documents, which all nodes there would find.
    #[error(
        "{} has documents of {had}; in the network {wanted} everybody would find them: add --rekey to take them along, \
         or name another directory by --data",
        .directory.display()
    )]
    OtherNetwork {
        /// The directory of the node.
        directory: PathBuf,
        /// The network that the documents come from.
        had: String,
        /// The name of the network that the node is to be in.
        wanted: String,
    },
    /// A file of the directory cannot be used.
    #[error("cannot use {}: {source}", .file.display())]
    Directory {
        /// The path of the file that cannot be used.
        file: PathBuf,
        /// The reason that the system gives.
        source: io::Error,
    },
    /// Other users may enter the directory, and it also holds files that do not belong to a node.
    #[error(
        "other users may enter {0}, which also holds files that are not a node's; run `chmod 700 {0}`, or use another \
         directory for the node",
        .directory.display()
    )]
    Exposed {
        /// The path of the directory that other users may enter.
        directory: PathBuf,
    },
    /// The node is shut down.
    #[error("the node is shut down; start it again")]
    Stopped,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Transport;

    async fn node() -> Node {
        let config = Config::new(Identity::generate(), Transport::Memory);
        Node::start(None, config).await.expect("a node in memory")
    }

    #[tokio::test]
    async fn a_panic_of_a_part_is_a_failure_of_the_node() {
        let storage = node().await;
        assert_eq!(storage.0.keeper.ask::<()>(|_| panic!("as a test wants it")).await, None);
        let why = storage.failed().await;
        assert!(why.contains("storage has panicked"), "{why}");
        storage.shutdown().await;

        let network = node().await;
        network.net().panic().await;
        let why = network.failed().await;
        assert!(why.contains("network has panicked"), "{why}");
        network.shutdown().await;
    }
}
