use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use furui::format::{Access, WriteError, publish, sync_name};
use furui_search::{Act, ContentId, PublisherKey, Signature};
use libp2p::identity::Keypair;
use thiserror::Error;

/// A node's Ed25519 key, which is its identity and determines its place among all nodes.
#[derive(Clone)]
pub struct Identity(Keypair);

impl Identity {
    const SECRET: u64 = 32;

    /// Generates a new identity: a random Ed25519 key.
    pub fn generate() -> Self {
        Self(Keypair::generate_ed25519())
    }

    /// Makes an identity from its 32 secret bytes.
    ///
    /// # Errors
    /// If there are not exactly 32 bytes.
    pub fn from_secret(secret: &[u8]) -> Result<Self, IdentityError> {
        Keypair::ed25519_from_bytes(secret.to_vec())
            .map(Self)
            .map_err(|_| IdentityError::Length { found: secret.len() })
    }

    /// Loads the identity from a file of 32 bytes, or generates one and stores it there, readable only by the owner. A
    /// new identity is durable when this returns.
    ///
    /// # Errors
    /// If the file cannot be read or written, if other users may read it, or if it does not hold exactly 32 bytes.
    pub fn load_or_create(path: &Path) -> Result<Self, IdentityError> {
        let failed = |error| IdentityError::File { path: path.to_owned(), error };
        match File::open(path) {
            Ok(file) => {
                if is_open_to_others(&file.metadata().map_err(failed)?) {
                    return Err(IdentityError::Exposed { path: path.to_owned() });
                }
                let mut secret = Vec::new();
                // One byte more than the length of a secret is read, to detect longer files.
                file.take(Self::SECRET + 1).read_to_end(&mut secret).map_err(failed)?;
                let identity =
                    Self::from_secret(&secret).map_err(|_| IdentityError::Damaged { path: path.to_owned() })?;
                // If a process was killed after it had created the file, the directory entry may not be durable yet, so
                // it is synced.
                sync_name(path).map_err(|error| failed(error.source))?;
                Ok(identity)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let identity = Self::generate();
                // The file is created atomically, because a partial key, left by a full disk, would be invalid.
                publish(path, Access::Owner, |out| {
                    out.write_all(&identity.secret()).map_err(WriteError::at("cannot write", path))
                })
                .map_err(|error| failed(error.source))?;
                Ok(identity)
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// The peer id of the node, as text.
    pub(crate) fn name(&self) -> String {
        self.0.public().to_peer_id().to_base58()
    }

    /// The 32 bytes of the node's secret key.
    pub(crate) fn secret(&self) -> [u8; 32] {
        let pair = self.0.clone().try_into_ed25519().expect("it was generated or read as one");
        let mut secret = [0; 32];
        secret.copy_from_slice(pair.secret().as_ref());
        secret
    }

    /// The key under which this node publishes.
    pub fn publisher(&self) -> PublisherKey {
        let key = self.0.public().try_into_ed25519().expect("it was generated or read as one");
        PublisherKey::new(key.to_bytes())
    }

    /// Signs, as its publisher, that the record with this id is published or withdrawn at the time `at`.
    pub fn sign(&self, act: Act, id: ContentId, at: u32) -> Signature {
        let pair = self.0.clone().try_into_ed25519().expect("it was generated or read as one");
        let bytes = pair.sign(&act.signed(id, at)).try_into().expect("an Ed25519 signature has 64 bytes");
        Signature { at, bytes }
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

/// True if users other than the owner may use a file or directory.
#[cfg(unix)]
pub(crate) fn is_open_to_others(entry: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::mode(entry) & 0o077 != 0
}

/// On this system, a file inherits the permissions of its directory.
#[cfg(not(unix))]
pub(crate) fn is_open_to_others(_: &Metadata) -> bool {
    false
}

/// The reason that a node's secret key is not available.
#[derive(Debug, Error)]
pub enum IdentityError {
    /// The secret key does not have 32 bytes.
    #[error("a secret key has 32 bytes, but this one has {found}")]
    Length {
        /// The number of bytes that the key has.
        found: usize,
    },
    /// The file with the secret key cannot be read or written.
    #[error("cannot keep the node's key in {}: {error}", .path.display())]
    File {
        /// The path of the file with the secret key.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The file with the secret key does not have 32 bytes.
    #[error(
        "{} is not the 32 bytes of a node's key; put it back from a copy, or remove it: then the node is a new one, and \
         cannot withdraw what it has published",
        .path.display()
    )]
    Damaged {
        /// The path of the file with the secret key.
        path: PathBuf,
    },
    /// Users other than the owner may read the file with the secret key.
    #[error(
        "other users may read the node's key in {0}; run `chmod 600 {0}` if the key can still be trusted",
        .path.display()
    )]
    Exposed {
        /// The path of the file with the secret key.
        path: PathBuf,
    },
}
