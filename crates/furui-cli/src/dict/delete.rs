//! `furui dict delete`.

use std::io::Write;
use std::process::ExitCode;

use furui::dict::Dict;
use furui::store::Directory;

use super::worker::Worker;
use super::{NONE, SIGNALLED, open};
use crate::cli::{DictChange, DictFiles};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::report::counted;

/// Runs the command.
pub fn run(DictChange { lines: options, wait }: &DictChange) -> Result<ExitCode, Error> {
    let mut dict = open(&options.dict.store, wait)?;
    let interrupt = Interrupt::listen().map_err(|error| Error::io("cannot wait for", "signals", error))?;
    let mut worker = Worker::default();
    let read = delete_all(&mut dict, options, &interrupt, &mut worker);
    // The keys before an error are deleted.
    let kept = worker.finish(&mut dict).and_then(|()| Ok(dict.sync()?));
    let missing = read?;
    kept?;
    if let Some(signal) = interrupt.signal() {
        return Ok(ExitCode::from(SIGNALLED + signal));
    }
    if missing == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    let rest = if missing == 1 {
        "was not a key, and nothing was deleted for it"
    } else {
        "were not keys, and nothing was deleted for them"
    };
    // If standard error cannot be written to, the keys are deleted nevertheless.
    let _ = writeln!(std::io::stderr(), "furui: {}: {} {rest}", options.dict.store.display(), counted(missing, "line"));
    Ok(ExitCode::from(NONE))
}

/// Deletes the keys that the lines name. Returns how many lines were not keys.
fn delete_all(
    dict: &mut Dict<Directory>,
    options: &DictFiles,
    interrupt: &Interrupt,
    worker: &mut Worker,
) -> Result<u64, Error> {
    let mut blocks = options.input.blocks(interrupt);
    let mut missing = 0;
    while let Some(block) = blocks.next()? {
        worker.tend(dict, block.len(), block.bytes.len())?;
        for line in block.lines() {
            // Only a key that exists needs a mark that it is deleted.
            if dict.contains(line)? {
                dict.delete(line)?;
            } else {
                missing += 1;
            }
        }
    }
    Ok(missing)
}
