//! The time per key and the size of the exact set on storage, alone and compared with other stores.

mod large;
mod small;

use std::path::PathBuf;

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
