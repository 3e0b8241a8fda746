//! `furui dict delete`: deletes the keys of lines from a dictionary.

use std::process::ExitCode;

use super::changing::Changing;
use super::records::{Key, Records};
use super::values::Values;
use super::{NONE, SIGNALLED, has_bytes, open};
use crate::cli::{DictFiles, EntryChange, EntryLines, WaitOptions};
use crate::complain;
use crate::error::Error;
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
    let DictFiles { input, lines, .. } = &options.files;
    let mut records = Records::new(input, lines, options.form.escape)?;
    let mut missing = 0;
    let changing = Changing { lines, input, job: None, is_kept: true };
    let signal = changing.run(&mut dict, &mut records, |dict, block, records| {
        block.lines().enumerate().try_for_each(|(index, line)| {
            match records.key(line, block, index)? {
                // Only a key that is in the dictionary needs a tombstone.
                Key::Is(key) if dict.contains(&key)? => dict.delete(&key)?,
                // A line without a key counts as one whose key is missing, unless it is dropped.
                Key::Is(_) | Key::Lacking(Fate::Kept) => missing += 1,
                Key::Lacking(_) => {}
            }
            Ok(())
        })
    })?;
    if let Some(signal) = signal {
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
