//! `furui seen --pending`: the new keys go to a file, and are recorded by `furui commit`.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use furui::seen::{Pending, Seen};
use furui::store::{Directory, Manifest};

use super::judge::Judge;
use super::recorder::Recorder;
use crate::cli::SeenOptions;
use crate::error::Error;
use crate::files::Files;
use crate::opening::open_to_write;
use crate::output::Sink;

/// Opens a set over the store, which is made if it does not exist. The file of an earlier attempt is removed, so that
/// nobody commits it in place of the one that this run writes.
pub fn open(store: &Path, file: &Path, mapped: u64, options: &SeenOptions) -> Result<Judge, Error> {
    match file.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        _ => {
            // Another file, which the user named by mistake, is an error.
            Pending::open(file)?;
            fs::remove_file(file).map_err(|error| Error::io("cannot remove", file.display().to_string(), error))?;
        }
    }
    let is_there = store.exists() && Manifest::load(&Directory::open_read_only(store)?)?.is_some();
    if !is_there {
        let files = Files::Store(open_to_write(store, &options.wait)?);
        let settings = super::settings(&files, options)?;
        Seen::open_with(files, settings)?.sync()?;
    }
    let base = Files::Store(Directory::open_read_only(store)?.mapped_up_to(mapped));
    let settings = super::settings(&base, options)?;
    let seen = Seen::open_over(&base, Files::temporary(mapped), settings)?;
    Ok(Judge::Set(seen.into(), options.protect.clone()))
}

/// Writes the new keys to the file, after all lines were delivered. If the reader of the pipe has closed it, nothing is
/// written, because it is not known what it has read.
pub fn save(file: &Path, recorder: &mut Recorder, judge: &mut Judge) -> Result<(), Error> {
    if recorder.settle(judge, 0)? == Sink::Open
        && let Some(seen) = judge.set()
    {
        Pending::save(seen.set().new_keys()?, file)?;
    }
    Ok(())
}
