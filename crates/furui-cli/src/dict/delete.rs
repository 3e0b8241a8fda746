//! `furui dict delete`.

use std::process::ExitCode;

use furui::dict::Dict;
use furui::store::Directory;

use super::values::{Lines, Values, chosen};
use super::worker::Worker;
use super::{NONE, SIGNALLED, kind_of, open};
use crate::cli::{EntryChange, EntryLines, ValuesName, WaitOptions};
use crate::complain;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::report::counted;

/// Runs the command.
pub fn run(EntryChange { lines, wait }: &EntryChange) -> Result<ExitCode, Error> {
    match chosen(&lines.form, Some(kind_of(&lines.files.dict.store)?)) {
        ValuesName::Numbers => delete::<u32>(lines, wait),
        ValuesName::Bytes => delete::<[u8]>(lines, wait),
    }
}

fn delete<V: Values + ?Sized>(options: &EntryLines, wait: &WaitOptions) -> Result<ExitCode, Error> {
    let mut dict = open::<V>(&options.files.dict.store, wait)?;
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
    let store = options.files.dict.store.display();
    complain(&Error::Message(format!("{store}: {} {rest}", counted(missing, "line"))));
    Ok(ExitCode::from(NONE))
}

/// Deletes the keys that the lines name. Returns how many lines were not keys.
fn delete_all<V: Values + ?Sized>(
    dict: &mut Dict<Directory, V>,
    options: &EntryLines,
    interrupt: &Interrupt,
    worker: &mut Worker,
) -> Result<u64, Error> {
    let lines = Lines { separator: options.files.input.separator(), escape: options.form.escape };
    let mut blocks = options.files.input.blocks(interrupt);
    let mut missing = 0;
    while let Some(block) = blocks.next()? {
        worker.tend(dict, block.len(), block.bytes().len())?;
        for (index, line) in block.lines().enumerate() {
            let key = lines.read(line, block, index)?;
            // Only a key that exists needs a mark that it is deleted.
            if dict.contains(&key)? {
                dict.delete(&key)?;
            } else {
                missing += 1;
            }
        }
    }
    Ok(missing)
}
