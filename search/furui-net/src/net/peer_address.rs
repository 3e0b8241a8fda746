use std::fmt;
use std::str::FromStr;

use furui_search::Peer;
use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;

use super::bootstrap::Bootstrap;
use super::{Transport, known};

/// A multiaddress at which a node is reached, with the node's peer id at its end: `/ip4/192.0.2.1/tcp/4001/p2p/12D3…`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PeerAddress(Multiaddr);

impl PeerAddress {
    /// The maximum length of the text, in bytes: that of the longest host name, with the rest.
    pub const MAX: usize = 384;

    /// The address, if it ends with a peer id and can be dialled.
    pub(super) fn new(address: Multiaddr) -> Option<Self> {
        let is_named = matches!(address.iter().last(), Some(Protocol::P2p(_)));
        let fits = |transport| Bootstrap::new(address.clone(), transport).is_ok();
        (is_named && (fits(Transport::Tcp) || fits(Transport::Memory))).then_some(Self(address))
    }

    /// The peer id of the node, as text.
    pub fn peer(&self) -> String {
        self.id().to_base58()
    }

    /// True if this is an address of the peer.
    pub fn is_of(&self, peer: &Peer) -> bool {
        known::id(peer).is_some_and(|id| id == self.id())
    }

    /// The TCP port of an address with an IP address, and whether that is an IPv6 address.
    pub(crate) fn port(&self) -> Option<(bool, u16)> {
        let mut parts = self.0.iter();
        match (parts.next()?, parts.next()?) {
            (Protocol::Ip4(_), Protocol::Tcp(port)) => Some((false, port)),
            (Protocol::Ip6(_), Protocol::Tcp(port)) => Some((true, port)),
            _ => None,
        }
    }

    pub(super) fn id(&self) -> libp2p::PeerId {
        match self.0.iter().last() {
            Some(Protocol::P2p(id)) => id,
            _ => unreachable!("it was checked when it was made"),
        }
    }

    pub(super) fn address(&self) -> &Multiaddr {
        &self.0
    }
}

impl FromStr for PeerAddress {
    type Err = NoPeerAddress;

    fn from_str(text: &str) -> Result<Self, NoPeerAddress> {
        let address = (text.len() <= Self::MAX).then(|| text.parse().ok().and_then(Self::new)).flatten();
        // Another spelling of the same address is refused, so that what is printed is what was read.
        address.filter(|address| address.to_string() == text).ok_or(NoPeerAddress)
    }
}

impl fmt::Display for PeerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A text is not an address of a node with the node's peer id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a node's address is like /ip4/192.0.2.1/tcp/4001/p2p/12D3…")]
pub struct NoPeerAddress;
