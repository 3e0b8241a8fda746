//! `furui seen --remove`: removes lines from a store.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use furui::KeyHash;
use furui::seen::{Cache, Seen, SeenOptions};
use furui::store::cascade::{Cascade, CascadeOptions};
use furui::store::{Directory, Manifest, StoreKind};

use crate::cli::{self, StatsFormat};
use crate::error::Error;
use crate::files::Files;
use crate::has::{Text, TextLines};
use crate::interrupt::Interrupt;
use crate::keys;
use crate::memory;
use crate::opening::open_to_write;
use crate::say::number::{counted, grouped};
use crate::say::report::Report;
use crate::say::size;

/// Removes the lines of `file` from the store. In a dry run, only counts the lines that the store has.
pub fn run(file: &Path, store: &Path, options: &cli::SeenOptions) -> Result<ExitCode, Error> {
    if let Some(other) = options.input.files.first() {
        return Err(Error::Message(format!(
            "{}: --remove reads only its own FILE, {}, and prints no lines: remove them first, and then run `furui seen` without --remove",
            other.display(),
            file.display()
        )));
    }
    // A directory that is not a set is refused before anything in it is written or locked.
    let manifest = Directory::open_read_only(store)?.manifest()?;
    if manifest.store != StoreKind::Seen {
        let (store, kind) = (store.display(), manifest.store);
        return Err(Error::Message(format!(
            "{store}: this is {kind}: --remove takes lines out of {}",
            StoreKind::Seen
        )));
    }
    keys::check(store.display(), manifest.form, &options.lines)?;
    let mapped = if options.no_mmap { 0 } else { memory::mappable() };
    // The lines to remove share the memory with the keys of a journal, if a crash left one.
    let memory = options.memory.unwrap_or_else(memory::quarter) / 2;
    if options.dry_run {
        let settings = CascadeOptions { memory, hash: Some(manifest.hash), form: None, journal: false };
        let mut set = Cascade::open(Files::unchanged(store, mapped)?, settings)?;
        let text = read(file, &manifest, memory, mapped, options)?;
        let there = count(&mut set, &text)?;
        report(&text, there, set.len(), options.stats.unwrap_or(StatsFormat::Text), true);
        return Ok(ExitCode::SUCCESS);
    }
    let storage = Files::Store(open_to_write(store, &options.wait)?.mapped_up_to(mapped));
    let text = read(file, &manifest, memory, mapped, options)?;
    let settings = SeenOptions { cache: Cache::None, memory, hash: Some(manifest.hash), ..SeenOptions::default() };
    let mut seen = Seen::open_with(storage, settings)?;
    let removed = seen.remove_all(&text.seen)?;
    if let Some(format) = options.stats {
        report(&text, removed, seen.set().len(), format, false);
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads the keys of the lines to remove. While they are read, a signal ends the command, and nothing is changed.
fn read(file: &Path, store: &Manifest, memory: u64, mapped: u64, options: &cli::SeenOptions) -> Result<Text, Error> {
    let settings = SeenOptions {
        cache: Cache::None,
        memory,
        hash: Some(store.hash),
        // The options may make keys in another way than this form says: with `--as-is`, an earlier check has allowed
        // that.
        form: Some(store.form),
        ..SeenOptions::default()
    };
    let (lines, input) = (&options.lines, &options.input);
    let lines = TextLines { lines, input, are_keys: false, lacking: "nothing to remove", hint: "" };
    Text::read(file, lines, settings, mapped, &Interrupt::ignore())
}

/// The number of those keys of a text that a set has.
fn count(set: &mut Cascade<Files>, text: &Text) -> Result<u64, Error> {
    let (mut hashes, mut answers, mut there) = (vec![], vec![], 0);
    let mut keys = text.seen.set().sorted()?;
    while let some @ [_, ..] = keys.next_keys()? {
        hashes.clear();
        hashes.extend(some.iter().copied().map(KeyHash::new));
        set.contains_all(&hashes, &mut answers)?;
        there += answers.iter().filter(|&&answer| answer).count() as u64;
    }
    Ok(there)
}

/// Prints the summary of a removal. After a dry run it tells how many lines would have been removed.
fn report(text: &Text, removed: u64, left: u64, format: StatsFormat, is_dry: bool) {
    let absent = text.seen.set().len() - removed;
    let report = match format {
        StatsFormat::Text => format!(
            "{} ({}): {} {}, {} not there; {} in the set now\n",
            counted(text.lines, "line"),
            size::display(text.bytes),
            counted(removed, "key"),
            if is_dry { "would be removed" } else { "removed" },
            grouped(absent),
            counted(left, "key"),
        ),
        StatsFormat::Json => {
            let mut report = Report::default();
            report
                .number("lines", text.lines)
                .number("bytes", text.bytes)
                .number(if is_dry { "would_be_removed" } else { "removed" }, removed)
                .number("absent", absent)
                .number("set_keys", left);
            report.json()
        }
    };
    // If standard error cannot be written to, the lines are removed nevertheless.
    let _ = std::io::stderr().write_all(report.as_bytes());
}
