use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::WriteError;

/// What the name of a file ends with until the file is whole.
pub(crate) const TEMPORARY: &str = ".furui-tmp";

/// How many bytes are gathered before the operating system gets them.
pub(crate) const WRITE_BUFFER: usize = 128 << 10;

/// Digits of the number between a file's name and [`TEMPORARY`].
const DIGITS: usize = 8;

/// How many names are tried for a temporary file before giving up; one is enough but for hostile company.
const MAX_NAME_TRIES: u32 = 16;

/// Who may read a new file. One that replaces another has the permissions of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Whom the process's umask lets.
    Default,
    /// Its owner alone, from the first moment on.
    Owner,
}

/// Writes a file whole: under a temporary name beside `path`, forced to the device, renamed, and the name forced too.
/// Whatever happens on the way, `path` is what it was or what `write` wrote. A file that is replaced passes its
/// permissions on, and its owner and group where the system lets it.
///
/// The temporary name is a new one each time: nobody is waited for, no link is followed, and of two writers of one `path`
/// the last one stays. What killed writers of `path` left is removed first, so that they do not fill the disk.
///
/// # Errors
/// Those of `write`, and a [`WriteError`] that says what the operating system refused.
pub fn publish<T, E: From<WriteError>>(
    path: &Path,
    access: Access,
    write: impl FnOnce(&mut dyn Write) -> Result<T, E>,
) -> Result<T, E> {
    let (written, _) = replace(path, access, write)?;
    sync_name(path)?;
    Ok(written)
}

/// As [`publish`], but the file's name is not forced to the device yet. The file comes along: it tells whether the name
/// still stands for it.
pub(crate) fn replace<T, E: From<WriteError>>(
    path: &Path,
    access: Access,
    write: impl FnOnce(&mut dyn Write) -> Result<T, E>,
) -> Result<(T, File), E> {
    let replaced = path.metadata().ok();
    remove_left_over(path);
    let access = if replaced.is_some() { Access::Owner } else { access };
    // Open, and so locked, until it has its name or is gone.
    let (file, temporary) = create(path, access).map_err(WriteError::at("cannot create a file beside", path))?;
    let published = write_durably(&file, &temporary, write).and_then(|written| {
        if let Some(replaced) = replaced {
            inherit(&file, &replaced).map_err(WriteError::at("cannot set the permissions of", &temporary))?;
        }
        fs::rename(&temporary, path).map_err(WriteError::at("cannot rename to", path))?;
        Ok(written)
    });
    if published.is_err() {
        // Only to give room back at once; if it fails too, the next writer removes the file.
        let _ = fs::remove_file(&temporary);
    }
    Ok((published?, file))
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

/// Makes the file that is written first, empty and locked.
fn create(path: &Path, access: Access) -> io::Result<(File, PathBuf)> {
    let mut options = File::options();
    // What has the name already, be it a link, is neither followed nor opened.
    options.write(true).create_new(true);
    #[cfg(unix)]
    if access == Access::Owner {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = access;
    for tries in 0..MAX_NAME_TRIES {
        // A fresh RandomState is randomly keyed, and that is all the randomness needed: the name must only be free.
        let number = RandomState::new().hash_one(tries) as u32;
        let mut temporary = OsString::from(path);
        temporary.push(format!(".{number:0DIGITS$x}{TEMPORARY}"));
        let temporary = PathBuf::from(temporary);
        let file = match options.open(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            opened => opened?,
        };
        // Another writer may have taken it for a killed one's, just before the lock. Where nothing can be locked, none does.
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {}
            _ if !is_still(&file, &temporary) => {}
            _ => return Ok((file, temporary)),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "other processes take every temporary name"))
}

/// Removes what killed writers of `path` left: files of their temporary names that nobody has locked. Where that fails, they
/// are in nobody's way.
fn remove_left_over(path: &Path) {
    let (Some(name), Ok(entries)) = (path.file_name(), fs::read_dir(parent_of(path))) else { return };
    for entry in entries.flatten() {
        if is_temporary_of(name, &entry.file_name()) && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let left = entry.path();
            // Only removed, never cut short: who has it mapped would be killed.
            if File::open(&left).is_ok_and(|file| file.try_lock().is_ok() && is_still(&file, &left)) {
                let _ = fs::remove_file(&left);
            }
        }
    }
}

fn is_temporary_of(name: &OsStr, other: &OsStr) -> bool {
    let middle = other.as_encoded_bytes().strip_prefix(name.as_encoded_bytes());
    let digits = middle.and_then(|middle| middle.strip_prefix(b".")?.strip_suffix(TEMPORARY.as_bytes()));
    digits.is_some_and(|digits| digits.len() == DIGITS && digits.iter().all(u8::is_ascii_hexdigit))
}

/// Whether a path names, or still names, this file.
#[cfg(unix)]
pub fn is_still(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), path.metadata()) {
        (Ok(held), Ok(named)) => (held.dev(), held.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

/// Whether a path names, or still names, this file: here a file that is open keeps its name.
#[cfg(not(unix))]
pub fn is_still(_: &File, _: &Path) -> bool {
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
fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Creates a directory if it is missing, and its parents, and makes their names durable.
///
/// # Errors
/// What the operating system refuses; of kind [`NotADirectory`](io::ErrorKind::NotADirectory) if a file is in the way.
pub fn create_directory(path: &Path) -> Result<(), WriteError> {
    let failed = WriteError::at("cannot create", path);
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            // Who made it may have been killed before its name was durable.
            return sync_if_writable(parent_of(path));
        }
        Ok(_) => return Err(failed(io::ErrorKind::NotADirectory.into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    create_directory(parent_of(path))?;
    match fs::create_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(failed(error)),
        _ => sync_name(path),
    }
}

/// Forces the name of a file or directory to the device, if it has one: who made it may have been killed before that.
///
/// # Errors
/// What the operating system refuses.
pub fn sync_name(path: &Path) -> Result<(), WriteError> {
    sync_directory(parent_of(path))
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

/// As [`sync_directory`], for one that may be closed to this process, or on a medium that cannot be written to: there,
/// nothing waits to be synced.
pub(crate) fn sync_if_writable(path: &Path) -> Result<(), WriteError> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, ReadOnlyFilesystem, Unsupported};
    match sync_directory(path).map_err(|error| (error.source.kind(), error)) {
        Err((PermissionDenied | ReadOnlyFilesystem | InvalidInput | Unsupported, _)) => Ok(()),
        synced => synced.map_err(|(_, error)| error),
    }
}

impl WriteError {
    /// Makes an error of the operating system's answer.
    pub fn at(action: &'static str, path: &Path) -> impl Fn(io::Error) -> Self {
        let file = path.display().to_string();
        move |source| Self { action, file: file.clone(), source }
    }
}
