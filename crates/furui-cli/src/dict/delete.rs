//! `furui dict delete`.

use std::process::ExitCode;

use furui::Error;
use furui::dict::Dict;
use furui::store::Directory;

use super::worker::Worker;
use super::{SIGNALLED, found_or_none, open};
use crate::blocks::Blocks;
use crate::cli::{DictChange, DictFiles};
use crate::interrupt::Interrupt;

/// Runs the command.
pub fn run(DictChange { lines: options, wait }: &DictChange) -> Result<ExitCode, Error> {
    let mut dict = open(&options.dict.store, wait)?;
    let interrupt = Interrupt::listen().map_err(|error| Error::io("cannot wait for", "signals", error))?;
    let mut worker = Worker::default();
    let read = delete_all(&mut dict, options, &interrupt, &mut worker);
    // What came before an error is done.
    let kept = worker.finish(&mut dict).and_then(|()| dict.sync());
    let found = read?;
    kept?;
    Ok(interrupt.signal().map_or(found_or_none(found), |signal| ExitCode::from(SIGNALLED + signal)))
}

/// Whether any line was there.
fn delete_all(
    dict: &mut Dict<Directory>,
    options: &DictFiles,
    interrupt: &Interrupt,
    worker: &mut Worker,
) -> Result<bool, Error> {
    let mut blocks = Blocks::new(&options.files, options.dict.separator(), interrupt);
    let mut found = false;
    while let Some(block) = blocks.next()? {
        worker.tend(dict, block.len(), block.bytes.len())?;
        for line in block.lines() {
            // What is not there needs no mark that it is gone.
            if dict.contains(line)? {
                dict.delete(line)?;
                found = true;
            }
        }
    }
    Ok(found)
}
