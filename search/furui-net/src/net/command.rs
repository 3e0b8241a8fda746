//! The commands that handles of a node send to the driver of its network, and the state that they share.

use std::sync::{Arc, Mutex};

use furui_search::Peer;
use libp2p::Multiaddr;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::blocked::Blocked;
use super::bootstrap::Unreached;
use super::counters::Tally;
use super::reach::Reach;
use super::{CallError, Refusals};

/// A command of a handle to the driver of the node's network.
pub(super) enum Command {
    Call {
        to: Peer,
        request: Vec<u8>,
        answer: oneshot::Sender<Result<Vec<u8>, CallError>>,
        permit: OwnedSemaphorePermit,
    },
    TimedOut(Peer),
    Closest {
        key: Vec<u8>,
        n: usize,
        answer: oneshot::Sender<Vec<Peer>>,
        permit: OwnedSemaphorePermit,
    },
    /// Requests the nodes that keep each key, as far as they are known without asking other nodes.
    Known {
        keys: Vec<Vec<u8>>,
        n: usize,
        answer: oneshot::Sender<Vec<Option<Vec<Peer>>>>,
    },
    Replicas {
        keys: Vec<Vec<u8>>,
        n: usize,
        answer: oneshot::Sender<Vec<Vec<Peer>>>,
    },
    Peers(oneshot::Sender<Vec<Peer>>),
    IsConnected {
        peer: Peer,
        answer: oneshot::Sender<bool>,
    },
    Refresh(oneshot::Sender<()>),
    /// The set of blocked peers and networks has changed.
    Blocked(oneshot::Sender<()>),
    Shutdown,
    #[cfg(test)]
    Panic,
}

/// The state that the driver of the network shares with its handles.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) tally: Arc<Tally>,
    pub(super) refusals: Arc<Refusals>,
    pub(super) reach: Arc<Reach>,
    pub(super) unreached: Unreached,
    pub(super) blocked: Arc<Blocked>,
    pub(super) me: Mutex<(Option<Peer>, Vec<Multiaddr>)>,
}

/// The phase of the driver of a node's network: joining, joined or stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Joining,
    Joined,
    Stopped,
}
