use std::time::Duration;

use super::{Identity, Network, PeerAddress, Transport};

/// The configuration of a node in the network.
#[derive(Clone, Debug)]
pub struct Config {
    /// The Ed25519 key of the node, which is its identity.
    pub identity: Identity,
    /// The transport of the node's connections: TCP, or channels within the process.
    pub transport: Transport,
    /// The private network that the node is in; `None` for the open one.
    pub network: Option<Network>,
    /// The multiaddresses to listen on, for example `/ip4/127.0.0.1/tcp/0`. Port 0 selects a free port.
    pub listen: Vec<String>,
    /// The multiaddresses at which other nodes reach the node if they differ from `listen`, for example behind a router
    /// that forwards a port. Otherwise empty.
    pub external: Vec<String>,
    /// The multiaddresses of nodes through which to join the network, with or without `/p2p/…`; host names (`/dns4/…`)
    /// are allowed. Empty for the first node of a network.
    pub bootstrap: Vec<String>,
    /// The addresses of nodes that this one knew before. They are tried too, without a word if they do not answer. A
    /// node that has some is not whole before one of them has answered.
    pub remembered: Vec<PeerAddress>,
    /// True if the nodes of a private network find each other by mDNS, in the local networks of the machine.
    pub mdns: bool,
    /// The time limit of a call, from dialling to the last byte of the answer.
    pub call_timeout: Duration,
}

impl Config {
    /// The default time limit of a call. The value is a choice, not a measurement.
    pub const CALL_TIMEOUT: Duration = Duration::from_secs(10);

    /// Makes the configuration of a node without bootstrap addresses. It listens on a free port of the loopback
    /// interface or, with the memory transport, at a free address.
    pub fn new(identity: Identity, transport: Transport) -> Self {
        let any = match transport {
            Transport::Tcp => "/ip4/127.0.0.1/tcp/0",
            Transport::Memory => "/memory/0",
        };
        Self {
            identity,
            transport,
            network: None,
            listen: vec![any.to_owned()],
            external: Vec::new(),
            bootstrap: Vec::new(),
            remembered: Vec::new(),
            mdns: false,
            call_timeout: Self::CALL_TIMEOUT,
        }
    }
}
