//! The file of `--repeats`, to which repeated lines are appended.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use furui::seen::Verdict;

use crate::error::Error;
use crate::input::block::Block;
use crate::keys::Fate;
use crate::output::ends_with;
use crate::streams::refuse_input;

/// A file to which the repeated lines are appended.
pub struct Repeats {
    file: File,
    name: String,
    /// The bytes of repeated lines that are not written to the file yet.
    pending: Vec<u8>,
    /// True if the file is empty, so that a header is written first.
    wants_header: bool,
}

impl Repeats {
    /// Opens the file of `--repeats` to append to it. If its last line has no separator, because a run was killed, one
    /// is appended first. A file that is an input, too, is refused: the run would never end.
    pub fn open(path: &Path, separator: u8, inputs: &[&Path]) -> Result<Self, Error> {
        let name = path.display().to_string();
        if path.as_os_str() == "-" {
            return Err(Error::Message(
                "--repeats takes a file: on standard output, --invert prints only the repeats, and --mark=line all lines".into(),
            ));
        }
        let file = File::options().append(true).create(true).open(path).map_err(|error| failed(&name, error))?;
        refuse_input(&file, Some(path), "the file of --repeats", inputs)?;
        let length = file.metadata().map_err(|error| failed(&name, error))?.len();
        let mut pending = vec![];
        if ends_with(path, length).is_some_and(|last| last != separator) {
            pending.push(separator);
        }
        Ok(Self { file, name, pending, wants_header: length == 0 })
    }

    /// Prepares a header to be written. Only the first header is written, and only if the file is empty.
    pub fn header(&mut self, header: &[u8]) {
        if std::mem::take(&mut self.wants_header) {
            self.pending.extend_from_slice(header);
        }
    }

    /// Keeps lines, with their line breaks, for the next call of [`write`](Self::write).
    pub fn note(&mut self, repeats: &[u8]) {
        self.pending.extend_from_slice(repeats);
    }

    /// Writes the noted header and repeats.
    pub fn write(&mut self) -> Result<(), Error> {
        let written = self.file.write_all(&self.pending).map_err(|error| failed(&self.name, error));
        self.pending.clear();
        written
    }

    /// Writes everything that was noted. A regular file is then synced, because the system may report a full disk only
    /// then.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.write()?;
        if self.file.metadata().is_ok_and(|data| data.is_file()) {
            self.file.sync_all().map_err(|error| failed(&self.name, error))?;
        }
        Ok(())
    }
}

/// Appends the repeated lines of a block to `out`.
pub fn append(block: &Block, fates: &[Fate], out: &mut Vec<u8>) {
    for (index, &fate) in fates.iter().enumerate() {
        if fate == Fate::Observed(Verdict::Repeat) {
            out.extend_from_slice(&block.bytes()[block.start(index)..block.next_line(index)]);
        }
    }
}

fn failed(name: &str, error: io::Error) -> Error {
    Error::io("cannot write to", name, error)
}
