use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::WriteError;

/// What the name of a file ends with until the file is whole.
pub(crate) const TEMPORARY: &str = ".furui-tmp";

/// How many bytes are gathered before the operating system gets them.
pub(crate) const WRITE_BUFFER: usize = 128 << 10;

/// Writes a file whole: under a temporary name beside `path`, forced to the device, renamed, and the name forced too.
/// Whatever happens on the way, `path` is what it was or what `write` wrote.
///
/// # Errors
/// Those of `write`, and a [`WriteError`] that says what the operating system refused.
pub fn publish<T, E: From<WriteError>>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<T, E>,
) -> Result<T, E> {
    let mut temporary = OsString::from(path);
    temporary.push(TEMPORARY);
    let temporary = PathBuf::from(temporary);
    let published = write_durably(&temporary, write).and_then(|written| {
        fs::rename(&temporary, path).map_err(WriteError::at("cannot rename to", path))?;
        Ok(written)
    });
    if published.is_err() {
        // Only to give room back at once; if it fails too, the next writer replaces the file.
        let _ = fs::remove_file(&temporary);
    }
    let written = published?;
    sync_directory(parent_of(path))?;
    Ok(written)
}

fn write_durably<T, E: From<WriteError>>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<T, E>,
) -> Result<T, E> {
    let file = File::create(path).map_err(WriteError::at("cannot create", path))?;
    let mut out = BufWriter::with_capacity(WRITE_BUFFER, &file);
    let written = write(&mut out)?;
    out.flush().and_then(|()| file.sync_all()).map_err(WriteError::at("cannot write", path))?;
    Ok(written)
}

/// The directory that a file's name is in.
pub(crate) fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Forces a directory's names to the device.
#[cfg(unix)]
pub(crate) fn sync_directory(path: &Path) -> Result<(), WriteError> {
    File::open(path).and_then(|directory| directory.sync_all()).map_err(WriteError::at("cannot sync", path))
}

/// Directories cannot be forced to the device here; the file system orders a rename after the file's own sync.
#[cfg(not(unix))]
pub(crate) fn sync_directory(_path: &Path) -> Result<(), WriteError> {
    Ok(())
}

impl WriteError {
    /// Makes an error of the operating system's answer.
    pub(crate) fn at(action: &'static str, path: &Path) -> impl Fn(io::Error) -> Self {
        let file = path.display().to_string();
        move |source| Self { action, file: file.clone(), source }
    }
}
