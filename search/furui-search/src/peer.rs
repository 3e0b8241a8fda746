use std::fmt;
use std::sync::Arc;

/// Another node: its identity, which only the network layer understands, and its last known address.
///
/// Two peers are equal if their identities are.
///
/// ```
/// use furui_search::Peer;
///
/// let (here, there) = (Peer::new(b"an identity", b"here"), Peer::new(b"an identity", b"there"));
/// assert_eq!(here, there, "the node has moved");
/// ```
#[derive(Clone)]
pub struct Peer {
    identity: Arc<[u8]>,
    address: Arc<[u8]>,
}

impl Peer {
    /// The maximum length of an identity in a message, in bytes.
    pub const MAX_IDENTITY: usize = 64;
    /// The maximum length of an address in a message, in bytes.
    pub const MAX_ADDRESS: usize = 256;

    /// Makes a peer from its identity and its address. The address may be empty if the network layer knows it.
    pub fn new(identity: &[u8], address: &[u8]) -> Self {
        Self { identity: identity.into(), address: address.into() }
    }

    /// The identity of the peer, as bytes that only the network layer understands.
    pub fn identity(&self) -> &[u8] {
        &self.identity
    }

    /// The last known address of the peer, as bytes that only the network layer understands; empty if it is unknown.
    pub fn address(&self) -> &[u8] {
        &self.address
    }
}

impl PartialEq for Peer {
    fn eq(&self, other: &Self) -> bool {
        self.identity == other.identity
    }
}

impl Eq for Peer {}

impl std::hash::Hash for Peer {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.identity.hash(state);
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("peer ")?;
        self.identity.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
