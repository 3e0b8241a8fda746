use std::fmt;
use std::sync::Arc;

/// Another node: its identity, in bytes that only the network beneath understands, and where it was last heard of.
///
/// Two are equal if their identities are.
#[derive(Clone)]
pub struct Peer {
    identity: Arc<[u8]>,
    address: Arc<[u8]>,
}

impl Peer {
    /// The longest identity in a message.
    pub const MAX_IDENTITY: usize = 64;
    /// The longest address in a message.
    pub const MAX_ADDRESS: usize = 256;

    /// A peer; the address may be empty if the network knows where it is.
    pub fn new(identity: &[u8], address: &[u8]) -> Self {
        Self { identity: identity.into(), address: address.into() }
    }

    /// Who it is.
    pub fn identity(&self) -> &[u8] {
        &self.identity
    }

    /// Where it is; empty if that is not known.
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
