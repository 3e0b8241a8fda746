use std::fmt;

use sha2::{Digest, Sha256};

use super::{ContentId, PublisherKey};

const DOMAIN: &[u8] = b"furui withdraw";
/// The domain separation prefix of the bytes that a publisher signs.
const SIGNED: &[u8; 15] = b"furui publisher";
/// The offset of the signature in the bytes of a lock.
const SIGNATURE: usize = LockKey::BYTES + PublisherKey::BYTES;

/// The hash of a [`LockKey`], with the public key and the signature of the publisher that has the key. It is stored
/// with a record, which the publisher can withdraw by revealing the key.
///
/// The signature is not checked here, but by any node that needs to know the publishers of a record. See
/// docs/protocol.md, "Locks".
///
/// ```
/// use furui_search::{ContentId, Lock, LockKey, PublisherKey};
///
/// let id = ContentId::of(b"the bytes of a record");
/// let key = LockKey::of(&[7; 32], id, 0);
/// let lock = key.lock().by(PublisherKey::new([1; 32]), [2; 64]);
/// assert!(key.opens(&lock) && !key.opens(&Lock::NOBODY));
/// assert_eq!((lock.publisher(), lock.signature()), (PublisherKey::new([1; 32]), &[2; 64]));
/// assert_eq!(Lock::new(*lock.as_bytes()), lock);
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
    pub const BYTES: usize = SIGNATURE + Self::SIGNATURE_BYTES;
    /// The length of a publisher's signature in bytes.
    pub const SIGNATURE_BYTES: usize = 64;
    /// The lock that no key opens. It replaces a lock of a record that has too many locks.
    pub const NOBODY: Self = Self([0; Self::BYTES]);

    /// Makes a lock from its bytes.
    pub const fn new(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// Returns the lock with this publisher and its signature of the bytes that [`signed`](Self::signed) returns.
    pub fn by(mut self, publisher: PublisherKey, signature: [u8; Self::SIGNATURE_BYTES]) -> Self {
        self.0[LockKey::BYTES..SIGNATURE].copy_from_slice(publisher.as_bytes());
        self.0[SIGNATURE..].copy_from_slice(&signature);
        self
    }

    /// The bytes that the publisher signs when it adds the lock to the record with this id.
    pub fn signed(&self, id: ContentId) -> Vec<u8> {
        [&SIGNED[..], id.as_bytes(), self.key_hash()].concat()
    }

    /// The bytes of the lock.
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// The hash of the key that opens the lock.
    pub fn key_hash(&self) -> &[u8; LockKey::BYTES] {
        let (hash, _) = self.0.split_first_chunk().expect("shorter than a lock");
        hash
    }

    /// The publisher that the lock states. The signature proves it.
    pub fn publisher(&self) -> PublisherKey {
        let (_, rest) = self.0.split_at(LockKey::BYTES);
        PublisherKey::new(*rest.first_chunk().expect("shorter than a lock"))
    }

    /// The signature of the publisher.
    pub fn signature(&self) -> &[u8; Self::SIGNATURE_BYTES] {
        self.0.last_chunk().expect("shorter than a lock")
    }
}

impl LockKey {
    /// The length of a key in bytes.
    pub const BYTES: usize = 20;

    /// Makes the key of a lock from its bytes.
    pub const fn new(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// Derives the key of a document from the node's `secret`. `withdrawals` is the number of earlier withdrawals of
    /// the document, each of which changes the key.
    pub fn of(secret: &[u8; 32], id: ContentId, withdrawals: u32) -> Self {
        let hash = Sha256::new().chain_update(DOMAIN).chain_update(secret).chain_update(id.as_bytes());
        Self(first(&hash.chain_update(withdrawals.to_le_bytes()).finalize()))
    }

    /// Makes a lock that the key opens, without a publisher.
    pub fn lock(&self) -> Lock {
        let mut lock = Lock::NOBODY;
        lock.0[..Self::BYTES].copy_from_slice(&self.hash());
        lock
    }

    /// True if the key opens the lock, whichever publisher the lock states.
    pub fn opens(&self, lock: &Lock) -> bool {
        *lock.key_hash() == self.hash()
    }

    /// The hash of the key, which the locks that it opens contain.
    pub fn hash(&self) -> [u8; Self::BYTES] {
        first(&Sha256::digest(self.0))
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
        self.key_hash().iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        write!(f, " of {:?}", self.publisher())
    }
}

/// Hides the key in debug output, because it is secret until it is used.
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
        assert_eq!(key.lock().as_bytes()[..20], Sha256::digest(&hash[..20])[..20]);
        let signed = [&b"furui publisher"[..], &[2; 20], key.lock().key_hash()].concat();
        assert_eq!(key.lock().signed(id(2)), signed);
    }
}
