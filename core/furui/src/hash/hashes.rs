use std::collections::TryReserveError;

use super::{HashSpec, KeyHash, KeyHasher};

/// A batch of hashes, and the hasher that made them.
///
/// It serves a caller that hashes keys itself: once for several structures, or in several threads. A structure that
/// takes such a batch compares the batch's [`spec`](Self::spec) with its own, once a batch. If they differ, the call
/// returns an error. If bare hashes were passed, the mistake would not be noticed, and the keys would not be found.
///
/// A batch that is [cleared](Self::clear) keeps its memory for the next keys.
///
/// ```
/// use furui::Hashes;
/// use furui::filter::{Bloom, Mismatch};
/// use furui::HashSpec;
///
/// let mut words = Bloom::with_rate(1000, 0.01)?;
/// let mut batch = Hashes::new(&words.hash_spec().hasher());
/// batch.extend(["以前", "珠玉"]);
/// assert_eq!(words.insert_hashes(&batch)?, 2);
///
/// batch.clear();
/// batch.push("以前");
/// batch.push("another");
/// let mut answers = vec![];
/// words.contains_hashes(&batch, &mut answers)?;
/// assert_eq!(answers, [true, false]);
///
/// let otherwise = HashSpec::random().hasher().hash_all(["以前"]);
/// assert!(matches!(words.contains_hashes(&otherwise, &mut answers), Err(Mismatch::Hash { .. })));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Hashes {
    hasher: KeyHasher,
    keys: Vec<KeyHash>,
}

impl Hashes {
    /// An empty batch, whose keys will be hashed by `hasher`.
    pub fn new(hasher: &KeyHasher) -> Self {
        Self { hasher: hasher.clone(), keys: vec![] }
    }

    /// The spec (algorithm and seed) by which the keys are hashed.
    pub fn spec(&self) -> HashSpec {
        self.hasher.spec()
    }

    /// Hashes `key`, and appends the hash.
    #[inline]
    pub fn push(&mut self, key: impl AsRef<[u8]>) {
        self.keys.push(self.hasher.hash(key.as_ref()));
    }

    /// Appends the hash of a key that was hashed elsewhere. The caller vouches that it was made by
    /// [`spec`](Self::spec): nothing can check it.
    #[inline]
    pub fn push_hash(&mut self, hash: KeyHash) {
        self.keys.push(hash);
    }

    /// Makes room for `more` hashes.
    ///
    /// # Errors
    /// If there is not enough memory. Without this call, a [`push`](Self::push) that finds no memory ends the process.
    pub fn reserve(&mut self, more: usize) -> Result<(), TryReserveError> {
        self.keys.try_reserve(more)
    }

    /// Removes all hashes from the batch, which keeps its allocated memory.
    pub fn clear(&mut self) {
        self.keys.clear();
    }

    /// Keeps the first `keys` hashes, and removes the others.
    pub fn truncate(&mut self, keys: usize) {
        self.keys.truncate(keys);
    }

    /// The number of hashes in the batch. A key that occurs twice counts twice.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// True if there are no hashes.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The bare hashes, in the order in which they were added.
    pub fn as_slice(&self) -> &[KeyHash] {
        &self.keys
    }

    /// The bare hashes, in the order in which they were added, for a structure that keeps or sorts them.
    pub fn into_vec(self) -> Vec<KeyHash> {
        self.keys
    }
}

impl KeyHasher {
    /// Hashes many keys. To reuse a batch's memory, call [`clear`](Hashes::clear) and [`extend`](Extend::extend) on the
    /// batch instead.
    pub fn hash_all(&self, keys: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Hashes {
        let mut hashes = Hashes::new(self);
        hashes.extend(keys);
        hashes
    }
}

impl<K: AsRef<[u8]>> Extend<K> for Hashes {
    /// Hashes every key, and appends the hashes.
    #[inline]
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        self.keys.extend(keys.into_iter().map(|key| self.hasher.hash(key.as_ref())));
    }
}
