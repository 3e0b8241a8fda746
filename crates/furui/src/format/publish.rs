use std::ffi::OsString;
use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::WriteError;

/// What the name of a file ends with until the file is whole.
pub(crate) const TEMPORARY: &str = ".furui-tmp";

/// The most processes that write one path at a time.
const MAX_WRITERS: u32 = 64;

/// How many bytes are gathered before the operating system gets them.
pub(crate) const WRITE_BUFFER: usize = 128 << 10;

/// Writes a file whole: under a temporary name beside `path`, forced to the device, renamed, and the name forced too.
/// Whatever happens on the way, `path` is what it was or what `write` wrote. A file that is replaced passes its
/// permissions on, and its owner and group where the system lets it.
///
/// The temporary name is the first that no other writer holds, so that killed writers do not fill the disk, and nobody
/// waits for a lock; of several writers of one `path` at a time, the last to end has it. What has that name and is no
/// regular file, such as a link, is nothing of ours and left alone.
///
/// # Errors
/// Those of `write`, and a [`WriteError`] that says what the operating system refused.
pub fn publish<T, E: From<WriteError>>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<T, E>,
) -> Result<T, E> {
    let replaced = path.metadata().ok();
    // Open, and so locked, until it has its name or is gone.
    let (file, temporary) = create(path, replaced.is_some())?;
    let published = write_durably(&file, &temporary, write).and_then(|written| {
        if let Some(replaced) = replaced {
            inherit(&file, &replaced).map_err(WriteError::at("cannot set the permissions of", &temporary))?;
        }
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
    file: &File,
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<T, E>,
) -> Result<T, E> {
    let mut out = BufWriter::with_capacity(WRITE_BUFFER, file);
    let written = write(&mut out)?;
    out.flush().and_then(|()| file.sync_all()).map_err(WriteError::at("cannot write", path))?;
    Ok(written)
}

/// Makes the file that is written first, empty and locked, and says under which name. A private one is its owner's alone
/// until it is whole.
fn create(path: &Path, private: bool) -> Result<(File, PathBuf), WriteError> {
    for other in 0..MAX_WRITERS {
        let mut name = OsString::from(path);
        if other > 0 {
            name.push(format!(".{other}"));
        }
        name.push(TEMPORARY);
        let name = PathBuf::from(name);
        if let Some(file) = claim(&name, private).map_err(WriteError::at("cannot create", &name))? {
            return Ok((file, name));
        }
    }
    let busy = io::Error::new(io::ErrorKind::ResourceBusy, "too many other processes write it: wait for them to end");
    Err(WriteError::at("cannot write", path)(busy))
}

/// Makes and locks a file of this name; none if another writer has it.
fn claim(path: &Path, private: bool) -> io::Result<Option<File>> {
    // A new file is never where a link leads.
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = private;
    loop {
        match options.open(path) {
            // Where nothing can be locked, that a path has one writer is the caller's affair.
            Ok(file) if !is_held(&file) && is_still(&file, path) => return Ok(Some(file)),
            // Another writer took it for a killed one's.
            Ok(_) => continue,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        if fs::symlink_metadata(path).is_ok_and(|there| !there.is_file()) {
            return Err(io::Error::other("it is in the way, and no regular file: remove it"));
        }
        let left = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            left => left?,
        };
        if is_held(&left) {
            return Ok(None);
        }
        // A killed writer's. Not cut short: who has it mapped would be killed too.
        if is_still(&left, path) {
            fs::remove_file(path)?;
        }
    }
}

/// Whether another process has locked a file; if not, this one has from now on.
fn is_held(file: &File) -> bool {
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// Whether a path still names this file.
#[cfg(unix)]
fn is_still(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(held), Ok(named)) => (held.dev(), held.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

/// Here a file that is open keeps its name.
#[cfg(not(unix))]
fn is_still(_: &File, _: &Path) -> bool {
    true
}

/// Passes the owner and the permissions of the file that is replaced on to its successor.
#[cfg(unix)]
fn inherit(file: &File, replaced: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    // Only root gives files away, but owners choose among the groups that they are in.
    let (owner, group) = (Some(replaced.uid()), Some(replaced.gid()));
    let _ = fchown(file, owner, group).or_else(|_| fchown(file, None, group));
    file.set_permissions(replaced.permissions())
}

/// Here a file inherits from its directory.
#[cfg(not(unix))]
fn inherit(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
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
