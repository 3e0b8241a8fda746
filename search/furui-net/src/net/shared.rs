//! The state that the driver of a node's network shares with its handles.

use std::sync::{Arc, Mutex};

use furui_search::Peer;
use libp2p::Multiaddr;

use super::Refusals;
use super::blocked::Blocked;
use super::bootstrap::Unreached;
use super::counters::Tally;
use super::reach::Reach;

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
