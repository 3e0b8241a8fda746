//! `furui dict delete`: deletes the keys of lines from a dictionary.

use std::process::ExitCode;

use furui::dict::Dict;

use super::records::{Key, Records};
use super::values::Values;
use super::worker::Worker;
use super::{NONE, SIGNALLED, has_bytes, open};
use crate::cli::{DictFiles, EntryChange, EntryLines, WaitOptions};
use crate::complain;
use crate::error::Error;
use crate::files::Files;
use crate::interrupt::Interrupt;
use crate::keys::{self, Fate};
use crate::say::number::counted;

/// Runs `furui dict delete`: deletes the keys of the inputs from a dictionary.
pub fn run(EntryChange { lines, wait }: &EntryChange) -> Result<ExitCode, Error> {
    match has_bytes(&lines.files.dict.store, lines.form.values)? {
        true => delete::<[u8]>(lines, wait),
        false => delete::<u32>(lines, wait),
    }
}

fn delete<V: Values + ?Sized>(options: &EntryLines, wait: &WaitOptions) -> Result<ExitCode, Error> {
    let store = &options.files.dict.store;
    let mut dict = open::<V>(store, options.form.values, wait)?;
    keys::check(store.display(), dict.manifest().form, &options.files.lines)?;
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
    let store = store.display();
    complain(&Error::Message(format!("{store}: {} {rest}", counted(missing, "line"))));
    Ok(ExitCode::from(NONE))
}

/// Deletes the keys that the lines of a block name. Returns the number of lines whose key is not in the dictionary. A
/// line without a key is one of these, unless it is dropped.
fn delete_all<V: Values + ?Sized>(
    dict: &mut Dict<Files, V>,
    options: &EntryLines,
    interrupt: &Interrupt,
    worker: &mut Worker,
) -> Result<u64, Error> {
    let DictFiles { input, lines, .. } = &options.files;
    let mut records = Records::new(input, lines, options.form.escape)?;
    let mut blocks = lines.blocks(input, interrupt);
    let mut missing = 0;
    while let Some(block) = blocks.next()? {
        if records.header(block)?.is_some() {
            continue;
        }
        worker.tend(dict, block.len(), block.bytes().len())?;
        for (index, line) in block.lines().enumerate() {
            match records.key(line, block, index)? {
                // Only a key that is in the dictionary needs a tombstone.
                Key::Is(key) if dict.contains(&key)? => dict.delete(&key)?,
                Key::Is(_) | Key::Lacking(Fate::Kept) => missing += 1,
                Key::Lacking(_) => {}
            }
        }
    }
    Ok(missing)
}
