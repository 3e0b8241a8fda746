use std::fmt;
use std::time::Duration;

use super::Identity;

/// Where a node is to be found and how it finds others.
#[derive(Clone, Debug)]
pub struct Config {
    /// Its key.
    pub identity: Identity,
    /// What carries its connections.
    pub transport: Transport,
    /// The multiaddresses to listen on, as `/ip4/127.0.0.1/tcp/0`; port 0 picks one.
    pub listen: Vec<String>,
    /// The multiaddresses under which others reach it, if those are not where it listens: behind a router that forwards a
    /// port. Empty if they are.
    pub external: Vec<String>,
    /// Multiaddresses of nodes to join by, with or without `/p2p/…`; none for the first node.
    pub bootstrap: Vec<String>,
    /// How long a call may take, from the dial to the last byte of the answer.
    pub call_timeout: Duration,
}

impl Config {
    /// How long a call may take if nothing else is said.
    pub const CALL_TIMEOUT: Duration = Duration::from_secs(10);

    /// A node that listens on what `transport` picks, and knows no other.
    pub fn new(identity: Identity, transport: Transport) -> Self {
        let any = match transport {
            Transport::Tcp => "/ip4/127.0.0.1/tcp/0",
            Transport::Memory => "/memory/0",
        };
        Self {
            identity,
            transport,
            listen: vec![any.to_owned()],
            external: Vec::new(),
            bootstrap: Vec::new(),
            call_timeout: Self::CALL_TIMEOUT,
        }
    }
}

/// What carries connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP.
    Tcp,
    /// Channels within this process, for tests; connections are encrypted all the same.
    Memory,
}

/// Why a node did not start.
#[derive(Debug)]
pub enum StartError {
    /// This is not a multiaddress.
    Address {
        /// What was given.
        address: String,
        /// What is wrong with it.
        why: String,
    },
    /// It cannot listen there.
    Listen {
        /// Where.
        address: String,
        /// What the system says.
        why: String,
    },
    /// The encryption cannot be set up with this identity.
    Encryption {
        /// What it says.
        why: String,
    },
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { address, why } => {
                write!(f, "`{address}` is not a multiaddress ({why}); give one like /ip4/127.0.0.1/tcp/4010")
            }
            Self::Listen { address, why } => {
                write!(f, "cannot listen on {address}: {why}; choose another address, or port 0 for any free one")
            }
            Self::Encryption { why } => write!(f, "cannot set up encryption with this node's key: {why}"),
        }
    }
}

impl std::error::Error for StartError {}
