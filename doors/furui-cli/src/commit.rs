//! `furui commit`: records the keys of files that `furui seen --pending` wrote.

use std::io::Write;
use std::process::ExitCode;

use furui::seen::Pending;
use furui::store::Note;
use furui::store::cascade::{Cascade, CascadeOptions, ExpectedNote};

use crate::cli::CommitOptions;
use crate::error::Error;
use crate::files::Files;
use crate::memory;
use crate::opening::{kind_of, open_to_write};
use crate::say::number::{counted, grouped};

/// Adds the keys of all files to the store, with the note, in one change.
pub fn run(options: &CommitOptions) -> Result<ExitCode, Error> {
    // A directory that is no store is refused before anything is written to it.
    kind_of(&options.store)?;
    let files = options.files.iter().map(Pending::open).collect::<Result<Vec<_>, _>>()?;
    let mut parts = files.iter().map(Pending::keys);
    let Some(mut keys) = parts.next() else { return Ok(ExitCode::SUCCESS) };
    parts.try_for_each(|part| keys.join(part))?;
    let note = match &options.note {
        Some(text) => Some(Note::new(text).ok_or_else(|| {
            Error::Message(format!(
                "--note: {} bytes, where at most {} fit",
                grouped(text.len() as u64),
                Note::MAX_BYTES
            ))
        })?),
        None => None,
    };
    let expected = match options.after.as_deref() {
        None => ExpectedNote::Any,
        Some("") => ExpectedNote::None,
        Some(text) => ExpectedNote::Text(text),
    };
    let settings = CascadeOptions { memory: memory::quarter(), hash: None, form: None, journal: false };
    let mut set = Cascade::open(Files::Store(open_to_write(&options.store, &options.wait)?.mapped(false)), settings)?;
    let (lines, before) = (keys.len(), set.len());
    set.commit(keys, note, expected)?;
    let new = set.len().saturating_sub(before);
    let report = format!("{} recorded; {} were there already\n", counted(new, "line"), grouped(lines - new));
    // If standard error cannot be written to, the lines are recorded nevertheless.
    let _ = std::io::stderr().write_all(report.as_bytes());
    Ok(ExitCode::SUCCESS)
}
