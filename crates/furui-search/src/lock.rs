use std::fmt;

use sha2::{Digest, Sha256};

use super::ContentId;

const DOMAIN: &[u8] = b"furui withdraw";

/// The hash of a [`LockKey`], kept beside a record. The publisher of the record can withdraw it with the key.
///
/// See docs/format.md, "Locks".
///
/// ```
/// use furui_search::{ContentId, Lock, LockKey};
///
/// let key = LockKey::of(&[7; 32], ContentId::of(b"the bytes of a record"), 0);
/// assert_eq!(Lock::new(*key.lock().as_bytes()), key.lock());
/// assert_ne!(key.lock(), Lock::NOBODY);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lock([u8; Self::BYTES]);

/// The key of a [`Lock`]. Until a key is used, it is known only to the node that derived it from its own secret.
///
/// ```
/// use furui_search::{ContentId, LockKey};
///
/// // The lock is published with the record. The publisher keeps the secret.
/// let id = ContentId::of(b"the bytes of a record");
/// let lock = LockKey::of(&[7; 32], id, 0).lock();
/// assert_eq!(LockKey::of(&[7; 32], id, 0).lock(), lock);
/// assert_ne!(LockKey::of(&[8; 32], id, 0).lock(), lock);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct LockKey([u8; Self::BYTES]);

impl Lock {
    /// The length of a lock in bytes.
    pub const BYTES: usize = 20;
    /// The lock that no key opens. It replaces a lock of a record that has too many locks.
    pub const NOBODY: Self = Self([0; Self::BYTES]);

    /// Makes a lock from its bytes.
    pub const fn new(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// The bytes of the lock.
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }
}

impl LockKey {
    /// The length of a key in bytes.
    pub const BYTES: usize = 20;

    /// Makes a key from its bytes.
    pub const fn new(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// Derives the key of a document from the node's `secret`. `withdrawals` is the number of the document's earlier
    /// withdrawals, each of which changes the key.
    pub fn of(secret: &[u8; 32], id: ContentId, withdrawals: u32) -> Self {
        let hash = Sha256::new().chain_update(DOMAIN).chain_update(secret).chain_update(id.as_bytes());
        Self(first(&hash.chain_update(withdrawals.to_le_bytes()).finalize()))
    }

    /// The lock that the key opens.
    pub fn lock(&self) -> Lock {
        Lock(first(&Sha256::digest(self.0)))
    }

    /// The bytes of the key.
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }
}

fn first(hash: &[u8]) -> [u8; 20] {
    let mut bytes = [0; 20];
    bytes.copy_from_slice(&hash[..20]);
    bytes
}

impl fmt::Debug for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Hides the key, which is a secret until it is used.
impl fmt::Debug for LockKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key of {:?}", self.lock())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_made_of_all_their_parts() {
        let id = |byte| ContentId::new([byte; 20]);
        let key = LockKey::of(&[1; 32], id(2), 0);
        assert_eq!(key, LockKey::of(&[1; 32], id(2), 0));
        let others =
            [LockKey::of(&[2; 32], id(2), 0), LockKey::of(&[1; 32], id(1), 0), LockKey::of(&[1; 32], id(2), 1)];
        assert!(others.iter().all(|other| *other != key && other.lock() != key.lock()));
        let hash = Sha256::digest([&b"furui withdraw"[..], &[1; 32], &[2; 20], &[0; 4]].concat());
        assert_eq!(key.as_bytes(), &hash[..20]);
        assert_eq!(key.lock().as_bytes(), &Sha256::digest(&hash[..20])[..20]);
    }
}
