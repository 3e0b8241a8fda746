//! The time per key and the size of the exact set on storage, alone and compared with other stores.

mod large;
mod small;

use std::path::PathBuf;

use crate::clock::thread_ns;
use crate::report::Result;
use crate::store::WorkDirectory;

/// Runs one of the two experiments in a new directory below `place`, by default the directory for temporary files.
pub(crate) fn run(size: Option<&str>, place: Option<String>) -> Result<()> {
    let directory = WorkDirectory::create(&place.map_or_else(std::env::temp_dir, PathBuf::from))?;
    match size {
        Some("small") => small::run(directory.path()),
        Some("large") => large::run(directory.path()),
        _ => Err("which experiment? store small or store large".into()),
    }
}

/// The cost of `work` in nanoseconds of CPU for each of `items`, and its result.
fn timed<T>(items: u64, work: impl FnOnce() -> Result<T>) -> Result<(f64, T)> {
    let start = thread_ns();
    let value = work()?;
    Ok(((thread_ns() - start) as f64 / items as f64, value))
}
