//! Filters in files.

use std::fs::File;
use std::path::Path;

use furui::Error;
use furui::filter::AnyFilter;
use furui::format::publish;

/// Writes a filter, whole or not at all. "-" is standard output; what is no regular file, such as a pipe, is written to
/// as it is.
pub fn save(filter: &AnyFilter, path: &Path) -> Result<(), Error> {
    let name = path.display().to_string();
    let failed = |error| Error::io("cannot write", &name, error);
    if path.as_os_str() == "-" {
        return filter.write_to(&mut std::io::stdout().lock()).map(drop).map_err(failed);
    }
    if path.metadata().is_ok_and(|data| !data.is_file()) {
        let mut file = File::options().write(true).open(path).map_err(failed)?;
        return filter.write_to(&mut file).map(drop).map_err(failed);
    }
    publish(path, |out| filter.write_to(out).map(drop).map_err(failed))
}

/// A filter that is about to be replaced: nobody else replaces it meanwhile.
pub struct Held {
    pub filter: AnyFilter,
    /// Held, not used: closing it gives up the lock.
    _lock: File,
}

impl Held {
    /// Opens a filter to change it.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        loop {
            let lock = File::open(path).map_err(|error| Error::io("cannot open", &name, error))?;
            match lock.try_lock() {
                Ok(()) => {}
                Err(std::fs::TryLockError::WouldBlock) => return Err(Error::Locked(name)),
                Err(std::fs::TryLockError::Error(error)) => return Err(Error::io("cannot lock", name, error)),
            }
            // Another process may have replaced the file between the opening and the lock.
            if is_still(&lock, path) {
                return Ok(Self { filter: AnyFilter::open(path)?, _lock: lock });
            }
        }
    }
}

#[cfg(unix)]
fn is_still(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), path.metadata()) {
        (Ok(held), Ok(named)) => (held.dev(), held.ino()) == (named.dev(), named.ino()),
        // Whatever is wrong, opening the filter will say it.
        _ => true,
    }
}

/// Here a file that is open is not replaced.
#[cfg(not(unix))]
fn is_still(_: &File, _: &Path) -> bool {
    true
}
