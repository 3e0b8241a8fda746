use thiserror::Error;

/// The reason that a node does not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// A text is not a multiaddress.
    #[error("`{address}` is not a multiaddress ({why}); give one like /ip4/127.0.0.1/tcp/4010")]
    Address {
        /// The text that is not a multiaddress.
        address: String,
        /// The reason that the text is not a multiaddress.
        why: String,
    },
    /// One of the bootstrap addresses, at which a starting node looks for nodes that are already in the network, does
    /// not lead to a node: it is of another kind than those that the message names.
    #[error(
        "no node is reached by an address like `{address}`; give one like /ip4/192.0.2.1/tcp/4001, \
         /dns4/node.example/tcp/4001 or /dnsaddr/node.example"
    )]
    Bootstrap {
        /// The address that the configuration names.
        address: String,
    },
    /// The node cannot listen on an address.
    #[error("cannot listen on {address}: {why}; choose another address, or port 0 for any free one")]
    Listen {
        /// The address that the configuration names.
        address: String,
        /// The error message of the system.
        why: String,
    },
    /// The system does not tell the interfaces of the machine, by which nodes find each other.
    #[error("cannot look for nodes in the local network: {why}; say --no-mdns, and others by --bootstrap")]
    Mdns {
        /// The error message of the system.
        why: String,
    },
    /// The encryption cannot be set up with this identity.
    #[error("cannot set up encryption with this node's key: {why}")]
    Encryption {
        /// The error message of the encryption.
        why: String,
    },
}
