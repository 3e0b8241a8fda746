//! Distinguishes files of furui from texts.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use furui::format::{END_MAGIC, MAGIC};

use crate::error::Error;
use crate::say::number::counted;

/// A file that begins with at least this many of the magic bytes is a furui file, perhaps one that was cut off, and not
/// a text.
const BEGINNING: usize = 5;

/// True if a regular file is one of furui's, even if its beginning or its end is damaged.
pub fn is_furui_file(path: &Path) -> Result<bool, Error> {
    let failed = |error| Error::io("cannot read", path.display().to_string(), error);
    if path.as_os_str() == "-" || path.metadata().is_ok_and(|data| !data.is_file()) {
        return Ok(false);
    }
    let mut file = File::open(path).map_err(failed)?;
    let mut head = vec![];
    Read::by_ref(&mut file).take(MAGIC.len() as u64).read_to_end(&mut head).map_err(failed)?;
    if is_beginning(&head) {
        return Ok(true);
    }
    let mut tail = vec![];
    if file.metadata().map_err(failed)?.len() >= END_MAGIC.len() as u64 {
        file.seek(SeekFrom::End(-(END_MAGIC.len() as i64))).map_err(failed)?;
        file.read_to_end(&mut tail).map_err(failed)?;
    }
    Ok(tail == END_MAGIC)
}

/// Returns an error if a regular file is empty, or so short that it may be a truncated furui file.
pub fn refuse_cut(path: &Path) -> Result<(), Error> {
    let failed = |error| Error::io("cannot read", path.display().to_string(), error);
    if path.as_os_str() == "-" || path.metadata().is_ok_and(|data| !data.is_file()) {
        return Ok(());
    }
    let mut head = vec![];
    File::open(path).map_err(failed)?.take(MAGIC.len() as u64).read_to_end(&mut head).map_err(failed)?;
    if !MAGIC.starts_with(&head) {
        return Ok(());
    }
    Err(Error::Message(format!(
        "{}: has {}, and may be a filter that was cut off: restore it from a copy, or say --set-lines for a list of lines",
        path.display(),
        counted(head.len() as u64, "byte")
    )))
}

/// Returns an error if the first bytes of an input show that it is not a text.
pub fn refuse_binary(first: &[u8], name: &str) -> Result<(), Error> {
    let reason = if is_beginning(first) {
        "holds a furui file, which cannot be read from a pipe or from compressed data: write it to a regular file first"
    } else if memchr::memchr(0, first).is_some() {
        "has NUL bytes, and so is neither a furui file nor a text of lines; --null reads lines that end in NUL"
    } else {
        return Ok(());
    };
    Err(Error::Message(format!("{name}: {reason}")))
}

fn is_beginning(bytes: &[u8]) -> bool {
    bytes.len() >= BEGINNING && bytes.iter().zip(MAGIC).all(|(&byte, magic)| byte == magic)
}
