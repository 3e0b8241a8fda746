//! The time per key and the size of the exact set on storage, alone and compared with other stores (features `rivals`
//! and `rocksdb`).

pub(crate) mod counted;
mod large;
pub(crate) mod ours;
#[cfg(feature = "rivals")]
pub(crate) mod rivals;
#[cfg(feature = "rocksdb")]
pub(crate) mod rocksdb;
mod small;
pub(crate) mod sort_merge;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::clock::thread_ns;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Runs one of the two experiments in a new directory below `place`, by default the directory for temporary files.
pub(crate) fn run(size: Option<&str>, place: Option<String>) -> Result<()> {
    let directory = WorkDirectory::create(&place.map_or_else(std::env::temp_dir, PathBuf::from))?;
    match size {
        Some("small") => small::run(directory.path()),
        Some("large") => large::run(directory.path()),
        _ => Err("which experiment? store small or store large".into()),
    }
}

/// A directory that is removed, with its contents, when this value is dropped.
pub(crate) struct WorkDirectory(PathBuf);

impl WorkDirectory {
    /// Creates a directory in `place`.
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

/// The cost of `work` in nanoseconds of CPU for each of `items`, and its result.
fn timed<T>(items: u64, work: impl FnOnce() -> Result<T>) -> Result<(f64, T)> {
    let start = thread_ns();
    let value = work()?;
    Ok(((thread_ns() - start) as f64 / items as f64, value))
}

/// The size in bytes of all files in a directory and its subdirectories.
pub(crate) fn stored(directory: &Path) -> Result<u64> {
    fs::read_dir(directory)?.try_fold(0, |sum, entry| {
        let entry = entry?;
        let metadata = entry.metadata()?;
        Ok(sum + if metadata.is_dir() { stored(&entry.path())? } else { metadata.len() })
    })
}
