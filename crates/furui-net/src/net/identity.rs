use std::fmt;

use libp2p::identity::Keypair;

/// A node's Ed25519 key: who it is, and where it stands among all nodes.
#[derive(Clone)]
pub struct Identity(Keypair);

impl Identity {
    /// A new one.
    pub fn generate() -> Self {
        Self(Keypair::generate_ed25519())
    }

    /// From the 32 secret bytes.
    ///
    /// # Errors
    /// If there are not 32 of them.
    pub fn from_secret(secret: &[u8]) -> Result<Self, IdentityError> {
        Keypair::ed25519_from_bytes(secret.to_vec())
            .map(Self)
            .map_err(|_| IdentityError::Length { found: secret.len() })
    }

    pub(super) fn keypair(&self) -> &Keypair {
        &self.0
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "identity {}", self.0.public().to_peer_id())
    }
}

/// Why there is no identity.
#[derive(Debug)]
pub enum IdentityError {
    /// A secret key has 32 bytes.
    Length {
        /// How many were given.
        found: usize,
    },
}

impl fmt::Display for IdentityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { found } => write!(f, "a secret key has 32 bytes, here are {found}"),
        }
    }
}

impl std::error::Error for IdentityError {}
