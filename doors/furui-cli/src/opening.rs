//! Opens stores, in a server or in a directory: to find out their kind, for reading, or for writing, at once or when
//! the process that writes to them has ended.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use furui::error::{StoreError, StoreProblem};
use furui::store::cascade::{Cascade, CascadeOptions};
use furui::store::{Directory, StoreKind};

use crate::cli::WaitOptions;
use crate::error::Error;
use crate::files::Files;
use crate::remote::RemoteSet;
use crate::schemes::is_url;

/// The first pause before a store that another process has locked is tried again. Each further pause is twice as long
/// as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
/// The maximum pause before a store that another process has locked is tried again.
const LONGEST_PAUSE: Duration = Duration::from_millis(200);

/// Reads the kind of a store: a set, a filter or a dictionary. A directory that is no store is an error, and is not
/// changed.
pub fn kind_of(path: &Path) -> Result<StoreKind, Error> {
    Ok(Directory::open_read_only(path)?.manifest()?.store)
}

/// Opens a store for reading. The keys of its journal take at most `memory` bytes of memory; the others are written to
/// temporary files. A set in a server is copied to temporary files.
pub fn open_to_read(path: &Path, memory: u64) -> Result<Cascade<Files>, Error> {
    if is_url(path) {
        return RemoteSet::open_existing(path)?.fetch();
    }
    // A directory without a manifest is an error, and not an empty set.
    kind_of(path)?;
    Ok(Cascade::open(Files::unchanged(path, 0)?, CascadeOptions { memory, hash: None, form: None, journal: false })?)
}

/// Opens the directory of a store for writing. If another process writes to it, waits as long as the options say;
/// meanwhile signals have their default effect.
pub fn open_to_write(path: &Path, options: &WaitOptions) -> Result<Directory, Error> {
    let start = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        let store = match Directory::open(path) {
            Err(furui::Error::Store(StoreError { path, problem: StoreProblem::Locked })) => path,
            opened => return Ok(opened?),
        };
        let Some(seconds) = options.wait else {
            return Err(Error::Message(format!("{store}: in use by another process; --wait waits for it to end")));
        };
        // `None` if the wait is infinite.
        let left = Duration::try_from_secs_f64(seconds).ok().map(|wait| wait.saturating_sub(start.elapsed()));
        if left.is_some_and(|left| left.is_zero()) {
            return Err(Error::Message(format!("{store}: in use by another process, still after {seconds} s")));
        }
        thread::sleep(left.map_or(pause, |left| left.min(pause)));
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
