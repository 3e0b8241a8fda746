//! Removes keys from a set, as a request to delete data demands.

use super::pipeline::Seen;
use crate::error::Result;
use crate::store::{Storage, TIERS};

impl<S: Storage> Seen<S> {
    /// Removes the keys of the set `gone`, and returns the number of removed keys. A removed key is new when it is
    /// inserted again, and no file of the store has its hash. If this call fails, either no key was removed, or the
    /// error names a file that could not be removed; a second call tries again.
    ///
    /// `gone` may be larger than memory, like any set. It needs the hash of this set, and must not have dropped keys,
    /// so its cache must not be [`Cache::LruStable`](super::Cache::LruStable). If this set has that cache, or keeps its
    /// tiers in the storage, the tiers begin anew without any key, because a stable filter cannot forget a single key.
    /// Everything that was recorded becomes durable, as by [`sync`](Self::sync).
    ///
    /// Cost: a look-up of each key in each run on storage, and a sequential pass over each run that has one.
    ///
    /// ```
    /// use furui::seen::{Seen, SeenOptions};
    /// use furui::store::Memory;
    ///
    /// let mut seen = Seen::open_with(Memory::new(), SeenOptions::default())?;
    /// seen.extend(["a", "b"])?;
    /// let options = SeenOptions { hash: Some(seen.hash_spec()), ..SeenOptions::default() };
    /// let mut gone = Seen::open_with(Memory::new(), options)?;
    /// gone.extend(["b", "c"])?;
    /// assert_eq!(seen.remove_all(&gone)?, 1);
    /// assert!(seen.insert("b")?);
    /// # Ok::<(), furui::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cascade::remove_all`](crate::store::cascade::Cascade::remove_all).
    pub fn remove_all<T: Storage>(&mut self, gone: &Seen<T>) -> Result<u64> {
        self.empty_tiers()?;
        let removed = self.set.remove_all(&gone.set)?;
        // The saved tiers are outdated by this removal, but their file may still have hashes of keys to remove, even of
        // keys that are not in the set because they were dropped as repeats.
        match self.set.storage().remove(TIERS) {
            Err(error) if !error.is_not_found() => Err(error),
            _ => Ok(removed),
        }
    }
}
