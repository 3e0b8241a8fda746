//! `furui filter insert` and `furui filter remove`.

use std::io::Write;
use std::process::ExitCode;

use furui::KeyHash;

use super::build::{no_room, warn_if_too_full};
use super::file::{Held, save};
use crate::cli::{ChangeOptions, InsertOptions};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::keys::Keys;
use crate::progress::Progress;
use crate::report::counted;

/// The exit code if some lines were not in the filter.
const SOME_MISSING: u8 = 1;

/// Inserts lines into a filter in a file.
pub fn insert(options: &InsertOptions) -> Result<ExitCode, Error> {
    let stray = [("--memory", options.memory.is_some()), ("--wait", options.wait.wait.is_some())];
    if let Some((name, _)) = stray.iter().find(|(_, given)| *given) {
        let filter = options.change.filter.display();
        return Err(Error::Message(format!("{name} goes with a cascade filter, and {filter} is none")));
    }
    let options = &options.change;
    let mut held = Held::open(&options.filter)?;
    each_block(options, &mut held, |held, hashes| {
        held.filter.insert_all(hashes).map(drop).map_err(|full| no_room(&options.filter, full))
    })?;
    save(&held.filter, &options.filter)?;
    warn_if_too_full(&held.filter, &options.filter);
    Ok(ExitCode::SUCCESS)
}

/// Removes lines from a filter.
pub fn remove(options: &ChangeOptions) -> Result<ExitCode, Error> {
    let mut held = Held::open(&options.filter)?;
    let mut missing: u64 = 0;
    // Most kinds of filters cannot remove keys, so this is checked before any line is read.
    held.filter.check_removable().map_err(|error| named(options, error))?;
    each_block(options, &mut held, |held, hashes| {
        for &hash in hashes {
            missing += u64::from(!held.filter.remove_hash(hash).map_err(|error| named(options, error))?);
        }
        Ok(())
    })?;
    save(&held.filter, &options.filter)?;
    if missing == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    let were = if missing == 1 { "was" } else { "were" };
    let _ = writeln!(
        std::io::stderr(),
        "furui: {}: {} {were} not in the filter, and nothing was removed for them",
        options.filter.display(),
        counted(missing, "line")
    );
    Ok(ExitCode::from(SOME_MISSING))
}

fn named(options: &ChangeOptions, error: furui::filter::ConfigError) -> Error {
    Error::Message(format!("{}: {error}", options.filter.display()))
}

fn each_block(
    options: &ChangeOptions,
    held: &mut Held,
    mut change: impl FnMut(&mut Held, &[KeyHash]) -> Result<(), Error>,
) -> Result<(), Error> {
    let keys = Keys::new(held.filter.hash_spec(), &options.lines);
    let interrupt = Interrupt::ignore();
    let mut blocks = options.input.blocks(&interrupt);
    let mut progress = Progress::new("reading", &options.input.files);
    let mut hashes = Vec::new();
    while let Some(block) = blocks.next()? {
        keys.hash_all(&block, &mut hashes);
        progress.advance(block.bytes.len());
        change(held, &hashes)?;
    }
    Ok(())
}
