use std::fmt;

use sha2::{Digest, Sha256};

use super::ContentId;

const DOMAIN: &[u8] = b"furui withdraw";

/// What is kept beside a record, so that whoever published it can take it away again: the hash of a [`LockKey`].
///
/// docs/format.md, "Locks".
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lock([u8; Self::BYTES]);

/// What opens a [`Lock`]: only who has the secret that it was made of knows it before it is used.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct LockKey([u8; Self::BYTES]);

impl Lock {
    /// Its length.
    pub const BYTES: usize = 20;
    /// The lock that no key opens: of a record with more locks than are kept.
    pub const NOBODY: Self = Self([0; Self::BYTES]);

    /// The lock of these bytes.
    pub const fn new(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }
}

impl LockKey {
    /// Its length.
    pub const BYTES: usize = 20;

    /// The key of these bytes.
    pub const fn new(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// The key of a document, made of the node's `secret`: another one after each of `withdrawals`.
    pub fn of(secret: &[u8; 32], id: ContentId, withdrawals: u32) -> Self {
        let hash = Sha256::new().chain_update(DOMAIN).chain_update(secret).chain_update(id.as_bytes());
        Self(first(&hash.chain_update(withdrawals.to_le_bytes()).finalize()))
    }

    /// The lock that it opens.
    pub fn lock(&self) -> Lock {
        Lock(first(&Sha256::digest(self.0)))
    }

    /// Its bytes.
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

/// Not what it is: it may not have been used yet.
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
