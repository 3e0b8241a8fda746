//! `furui seen --filter`: the lines that a filter does not have, which are inserted.

use std::path::Path;
use std::process::ExitCode;

use furui::filter::{AnyFilter, Filter, FilterMut, Full, InsertError};
use furui::seen::Verdict;
use furui::{Hashes, KeyHash};

use super::build::{not_inserted, warn_if_too_full};
use super::file::{Held, is_cascade, save};
use super::resize::{double, tell};
use crate::cli;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::keys::{self, Fate, Keys};
use crate::output::{Output, Sink};

/// If a signal ended a process, a shell reports this number plus the number of the signal.
const SIGNALLED: u8 = 128;

/// Prints the lines that the filter in `path` does not have, or with `--invert` those that it has, and inserts all
/// lines. The filter's file is replaced when the lines have been delivered, but not with `--dry-run`.
pub fn observe(path: &Path, options: &cli::SeenOptions) -> Result<ExitCode, Error> {
    if is_cascade(path)? {
        return Err(Error::Message(format!(
            "{}: a cascade filter, which --filter does not support; use `furui seen --store`, which drops no new line",
            path.display()
        )));
    }
    let mut held = Held::open(path, None)?;
    keys::check(path.display(), held.label.form, &options.lines)?;
    let slots = slots(&held.filter);
    let interrupt = Interrupt::listen().map_err(|error| Error::io("cannot wait for", "signals", error))?;
    let wanted = if options.invert { Verdict::Repeat } else { Verdict::New };
    let mut output = Output::new(options.quiet)?;
    let mut keys = Keys::new(held.filter.hash_spec(), &options.lines)?.printed_to(&output);
    output.mend(options.input.separator())?;
    let mut blocks = options.lines.blocks(&options.input, &interrupt);
    let (mut hashes, mut verdicts, mut fates) = (Hashes::new(keys.hasher()), vec![], vec![]);
    let mut sink = Sink::Open;
    let mut run = || -> Result<(), Error> {
        while let Some(block) = blocks.next()? {
            if let Some(is_first) = keys.header(block)? {
                if is_first {
                    sink = output.print(block.bytes())?;
                }
            } else {
                keys.hash_all(block, &mut hashes);
                let full = insert_all(&mut held.filter, hashes.as_slice(), &mut verdicts, path);
                let inserted = verdicts.len();
                verdicts.resize(hashes.len(), Verdict::Repeat);
                keys.fates(&verdicts, &mut fates);
                if full.is_err() {
                    // The lines before the first one for which there was no room are printed.
                    block.truncate(keys.with_key()(inserted));
                }
                let is_wanted =
                    |&fate: &Fate| fate == Fate::Observed(wanted) || wanted == Verdict::New && fate == Fate::Kept;
                sink = output.write(block, fates.iter().map(is_wanted))?;
                full?;
                keys.failure()?;
            }
            if sink == Sink::Closed {
                break;
            }
        }
        Ok(())
    };
    let mut outcome = run();
    if !options.dry_run && sink != Sink::Closed && output.settle(None)? == Sink::Open {
        // The lines that were printed are recorded even after an error.
        let saved = save(&held.filter, path, held.label);
        outcome = outcome.and(saved);
        if let AnyFilter::Quotient(filter) = &held.filter
            && Some(filter.slots()) != slots
        {
            tell(path, filter);
        }
        warn_if_too_full(&held.filter, path);
    }
    keys.report("not recorded");
    outcome?;
    Ok(interrupt.signal().map_or(ExitCode::SUCCESS, |signal| ExitCode::from(SIGNALLED + signal)))
}

fn slots(filter: &AnyFilter) -> Option<u64> {
    match filter {
        AnyFilter::Quotient(filter) => Some(filter.slots()),
        _ => None,
    }
}

/// Looks up and inserts keys one after the other. If a key cannot be inserted, there are verdicts on the keys before
/// it.
fn insert_all(filter: &mut AnyFilter, keys: &[KeyHash], verdicts: &mut Vec<Verdict>, path: &Path) -> Result<(), Error> {
    verdicts.clear();
    for &key in keys {
        // These filters count how often a key was inserted, so a key that they contain is not inserted again.
        let counts = matches!(filter, AnyFilter::Counting(_) | AnyFilter::Quotient(_));
        let is_new = if counts && filter.contains_hash(key) { false } else { insert(filter, key, path)? };
        verdicts.push(if is_new { Verdict::New } else { Verdict::Repeat });
    }
    Ok(())
}

fn insert(filter: &mut AnyFilter, key: KeyHash, path: &Path) -> Result<bool, Error> {
    loop {
        match (filter.insert_hash(key), &mut *filter) {
            (Ok(is_new), _) => return Ok(is_new),
            (Err(Full::AtCapacity { .. }), AnyFilter::Quotient(filter)) => double(filter, path)?,
            (Err(full), _) => return Err(not_inserted(path, InsertError::Full(full))),
        }
    }
}
