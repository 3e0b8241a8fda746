//! Seeds that are stored in separate files, for filters whose files do not hold them.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use furui::{HashSpec, text};

use super::file::holds_seed;
use crate::cli::SeedOptions;
use crate::complain;
use crate::error::Error;

/// The maximum size, in bytes, of a file that holds the seed of a hash: a number and an end of line.
const MAX_BYTES: u64 = 64;

/// Reads the seed from the file that the options name; `None` if they name none. Returns an error if each of these
/// filters or stores holds its own seed, so that the option has no use.
pub fn given<'p>(options: &SeedOptions, of: impl IntoIterator<Item = &'p PathBuf>) -> Result<Option<u64>, Error> {
    let Some(file) = options.seed_file.as_deref() else { return Ok(None) };
    if of.into_iter().all(|path| holds_seed(path)) {
        let reason = "--seed-file is for filters that were built with it, and none of those named here was";
        return Err(Error::Message(reason.into()));
    }
    read(file).map(Some)
}

/// Reads the seed from the file at `path`; `None` without a path. A file that does not exist is created with a random
/// seed.
pub fn read_or_made(path: Option<&Path>) -> Result<Option<u64>, Error> {
    path.map(|path| if path.exists() { read(path) } else { make(path) }).transpose()
}

fn read(path: &Path) -> Result<u64, Error> {
    let name = path.display();
    let failed = |error| Error::io("cannot read", name.to_string(), error);
    let file = File::open(path).map_err(failed)?;
    let mut text = String::new();
    io::Read::read_to_string(&mut io::Read::take(file, MAX_BYTES), &mut text).map_err(failed)?;
    text::seed(text.trim()).map_err(|reason| {
        Error::Message(format!("{name}: {reason}: the file of a seed must hold the seed and nothing else"))
    })
}

/// Creates a file with a random seed that only its owner can read.
fn make(path: &Path) -> Result<u64, Error> {
    let seed = HashSpec::random().seed;
    let failed = |error| Error::io("cannot write", path.display().to_string(), error);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(failed)?;
    writeln!(file, "{seed:#018x}").and_then(|()| file.sync_all()).map_err(failed)?;
    complain(&Error::Message(format!(
        "{}: made, with a random seed: give it to those who share the filter, and to nobody else",
        path.display()
    )));
    Ok(seed)
}
