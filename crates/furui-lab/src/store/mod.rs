//! The exact set on storage, alone and against stores of others (feature `rivals`): what a key costs, and what it
//! weighs.

mod counted;
mod large;
mod ours;
#[cfg(feature = "rivals")]
mod rivals;
mod small;
mod sort_merge;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use crate::clock::thread_ns;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Runs one of the two experiments, in a new directory below `place`, or below that for temporary files.
pub(crate) fn run(size: Option<&str>, place: Option<String>) -> Result<()> {
    let place = place.map_or_else(std::env::temp_dir, PathBuf::from);
    let directory = WorkDirectory(place.join(format!("furui-lab-{}", std::process::id())));
    fs::create_dir(&directory.0)?;
    match size {
        Some("small") => small::run(&directory.0),
        Some("large") => large::run(&directory.0),
        _ => Err("say store small or store large".into()),
    }
}

/// A directory that is removed in the end, with all that is in it.
struct WorkDirectory(PathBuf);

impl Drop for WorkDirectory {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("cannot remove {}: {error}", self.0.display());
        }
    }
}

/// What `work` costs, in nanoseconds of CPU for each of `items`, and what it returns.
fn timed<T>(items: u64, work: impl FnOnce() -> Result<T>) -> Result<(f64, T)> {
    let start = thread_ns();
    let value = work()?;
    Ok(((thread_ns() - start) as f64 / items as f64, value))
}

/// Bytes of all files in a directory.
fn stored(directory: &Path) -> Result<u64> {
    fs::read_dir(directory)?.try_fold(0, |sum, entry| Ok(sum + entry?.metadata()?.len()))
}
