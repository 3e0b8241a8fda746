//! The exact set on storage, and the stores that are compared with it (features `rivals` and `rocksdb`).

pub(crate) mod counted;
pub(crate) mod ours;
#[cfg(feature = "rivals")]
pub(crate) mod rivals;
#[cfg(feature = "rocksdb")]
pub(crate) mod rocksdb;
pub(crate) mod sort_merge;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::report::Result;

/// The number of keys that are inserted into a store in one transaction.
pub(crate) const TRANSACTION: u64 = 100_000;

/// A set of 64-bit keys on storage.
pub(crate) trait Store {
    /// Inserts keys in one batch or transaction. Returns how many were new, if that is known before the next `sync`.
    fn insert(&mut self, keys: &[u64]) -> Result<Option<u64>>;
    /// The number of these keys that the store has, or `None` if it cannot tell.
    fn count(&mut self, keys: &[u64]) -> Result<Option<usize>>;
    /// Makes durable everything that was inserted.
    fn sync(&mut self) -> Result<()>;
}

/// A directory that is removed, with its contents, when this value is dropped.
pub(crate) struct WorkDirectory(PathBuf);

impl WorkDirectory {
    /// Creates a directory in `place` with a name that no other of these directories has.
    pub(crate) fn create(place: &Path) -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let directory = Self(place.join(format!("furui-papers-{}-{number}", std::process::id())));
        fs::create_dir(&directory.0)?;
        Ok(directory)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for WorkDirectory {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("cannot remove {}: {error}", self.0.display());
        }
    }
}

/// The size in bytes of all files in a directory and its subdirectories.
pub(crate) fn stored(directory: &Path) -> Result<u64> {
    fs::read_dir(directory)?.try_fold(0, |sum, entry| {
        let entry = entry?;
        let metadata = entry.metadata()?;
        Ok(sum + if metadata.is_dir() { stored(&entry.path())? } else { metadata.len() })
    })
}
