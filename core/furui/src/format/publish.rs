use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::WriteError;

/// The suffix of the temporary name that a file has until it is complete.
pub(crate) const TEMPORARY: &str = ".furui-tmp";

/// The size of the write buffer in front of the operating system, in bytes.
pub(crate) const WRITE_BUFFER: usize = 128 << 10;

/// The number of random digits in a temporary name, between the file's name and [`TEMPORARY`].
const DIGITS: usize = 8;

/// The maximum number of names that are tried for a temporary file. One name is enough unless another process creates
/// files with these names on purpose.
const MAX_NAME_TRIES: u32 = 16;

/// The permissions of a new file. A file that replaces another one gets the permissions of the old file.
///
/// ```
/// use furui::format::{Access, WriteError, publish};
///
/// # let dir = std::env::temp_dir().join(format!("furui-access-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir).unwrap();
/// # let path = dir.join("secret");
/// publish(&path, Access::Owner, |out| {
///     out.write_all(b"a key").map_err(|source| WriteError { action: "cannot write", file: "secret".into(), source })
/// })?;
/// assert_eq!(std::fs::read(&path)?, b"a key");
/// # std::fs::remove_dir_all(dir).unwrap();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access<'a> {
    /// The file can be read by everybody whom the process's umask allows.
    Default,
    /// The file can be read only by its owner, from its creation on.
    Owner,
    /// The file has the permissions of the file at this path; only the owner can read it if there is no such file.
    Like(&'a Path),
}

/// Writes a file atomically and durably: the file is written under a temporary name beside `path`, synced and renamed,
/// and then the directory is synced. If anything fails, `path` has either its old contents or those that `write` wrote.
/// A file that is replaced passes on its permissions, and its owner and group where the system allows that.
///
/// Each call takes a new temporary name: nobody waits for a lock, no symbolic link is followed, and the last of two
/// writers of one `path` wins. Temporary files that killed writers of `path` left behind are removed first, so that
/// they do not fill the disk.
///
/// # Errors
/// Those of `write`, and a [`WriteError`] that says what the operating system refused.
pub fn publish<T, E: From<WriteError>>(
    path: impl AsRef<Path>,
    access: Access<'_>,
    write: impl FnOnce(&mut dyn Write) -> Result<T, E>,
) -> Result<T, E> {
    let path = path.as_ref();
    let (written, _) = replace(path, access, write)?;
    sync_name(path)?;
    Ok(written)
}

/// Works like [`publish`], but does not sync the directory. It also returns the open file, with which the caller can
/// append to the file, or tell whether `path` is still a name of it.
///
/// # Errors
/// Those of `write`; [`WriteError`] if the operating system refuses to create, write, sync or rename the file. `path`
/// is unchanged then.
pub(crate) fn replace<T, E: From<WriteError>>(
    path: &Path,
    access: Access<'_>,
    write: impl FnOnce(&mut dyn Write) -> Result<T, E>,
) -> Result<(T, File), E> {
    let model = match access {
        Access::Like(model) => path.metadata().or_else(|_| model.metadata()).ok(),
        Access::Default | Access::Owner => path.metadata().ok(),
    };
    remove_left_over(path);
    let is_private = access != Access::Default || model.is_some();
    // The file stays open, and so locked, until it has its name or is removed.
    let (file, temporary) = create(path, is_private).map_err(WriteError::at("cannot create a file beside", path))?;
    let published = write_durably(&file, &temporary, write).and_then(|written| {
        if let Some(model) = model {
            inherit(&file, &model).map_err(WriteError::at("cannot set the permissions of", &temporary))?;
        }
        fs::rename(&temporary, path).map_err(WriteError::at("cannot rename to", path))?;
        // Only temporary files are taken for left-overs.
        let _ = file.unlock();
        Ok(written)
    });
    if published.is_err() {
        // This frees the space at once. If the removal fails too, the next writer removes the file.
        let _ = fs::remove_file(&temporary);
    }
    Ok((published?, file))
}

/// A buffer of this many bytes before a file.
///
/// # Errors
/// [`io::ErrorKind::OutOfMemory`] if there is no memory for the buffer; the standard library would end the process.
pub(crate) fn buffered<W: Write>(room: usize, out: W) -> io::Result<BufWriter<W>> {
    let mut tried: Vec<u8> = Vec::new();
    tried.try_reserve_exact(room).map_err(|_| io::ErrorKind::OutOfMemory)?;
    // Otherwise the compiler leaves out an allocation that nobody uses.
    drop(std::hint::black_box(tried));
    Ok(BufWriter::with_capacity(room, out))
}

fn write_durably<T, E: From<WriteError>>(
    file: &File,
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<T, E>,
) -> Result<T, E> {
    let mut out = buffered(WRITE_BUFFER, file).map_err(WriteError::at("cannot write", path))?;
    let written = write(&mut out)?;
    out.flush().and_then(|()| file.sync_all()).map_err(WriteError::at("cannot write", path))?;
    Ok(written)
}

/// Creates the temporary file, empty and locked.
fn create(path: &Path, is_private: bool) -> io::Result<(File, PathBuf)> {
    let mut options = File::options();
    // An existing file or symbolic link with this name is neither opened nor followed.
    options.write(true).create_new(true);
    #[cfg(unix)]
    if is_private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = is_private;
    for tries in 0..MAX_NAME_TRIES {
        // A new RandomState has random keys, and more randomness is not needed: the name must only be free.
        let number = RandomState::new().hash_one(tries) as u32;
        let mut temporary = OsString::from(path);
        temporary.push(format!(".{number:0DIGITS$x}{TEMPORARY}"));
        let temporary = PathBuf::from(temporary);
        let file = match options.open(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            opened => opened?,
        };
        // Just before this lock, another writer may have locked or removed the file, which it mistook for that of a
        // killed writer. Where files cannot be locked, no writer removes files of others.
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {}
            _ if !is_still(&file, &temporary) => {}
            _ => return Ok((file, temporary)),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "other processes take every temporary name"))
}

/// Removes the temporary files that killed writers of `path` left behind: those that nobody has locked. Files that
/// cannot be removed do no harm.
fn remove_left_over(path: &Path) {
    let (Some(name), Ok(entries)) = (path.file_name(), fs::read_dir(parent_of(path))) else { return };
    for entry in entries.flatten() {
        if is_temporary_of(name, &entry.file_name()) && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let left = entry.path();
            // The file is removed and never truncated, because a process that has it mapped would be killed.
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

/// True if `path` is a name of this open file, and not of a file that has replaced it.
#[cfg(unix)]
pub fn is_still(file: &File, path: impl AsRef<Path>) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), path.as_ref().metadata()) {
        (Ok(held), Ok(named)) => (held.dev(), held.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

/// True, because an open file keeps its name on this platform.
#[cfg(not(unix))]
pub fn is_still(_: &File, _: impl AsRef<Path>) -> bool {
    true
}

/// Gives the new file the owner and the permissions of the file `model`, which it replaces or belongs to.
#[cfg(unix)]
fn inherit(file: &File, model: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    // Only root may change the owner, but an owner may choose any group of which he is a member.
    let (owner, group) = (Some(model.uid()), Some(model.gid()));
    let _ = fchown(file, owner, group).or_else(|_| fchown(file, None, group));
    file.set_permissions(model.permissions())
}

/// On this platform, a file inherits its permissions from its directory.
#[cfg(not(unix))]
fn inherit(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// The directory of a file: `.` if the path is only a name, because the empty path cannot be opened.
fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Creates a directory and its parents if they are missing, and makes their names durable.
///
/// # Errors
/// The operating system's error. It is of kind [`NotADirectory`](io::ErrorKind::NotADirectory) if a file is in the way.
pub fn create_directory(path: impl AsRef<Path>) -> Result<(), WriteError> {
    let path = path.as_ref();
    let failed = WriteError::at("cannot create", path);
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            // The process that made the directory may have been killed before the directory's name was durable.
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

/// Makes the name of a file or directory durable by a sync of its parent directory. The process that created the name
/// may have been killed before that sync.
///
/// # Errors
/// The operating system's error.
pub fn sync_name(path: impl AsRef<Path>) -> Result<(), WriteError> {
    sync_directory(parent_of(path.as_ref()))
}

/// Syncs a directory, so that the names in it are durable.
#[cfg(unix)]
pub(crate) fn sync_directory(path: &Path) -> Result<(), WriteError> {
    File::open(path).and_then(|directory| directory.sync_all()).map_err(WriteError::at("cannot sync", path))
}

/// Does nothing, because directories cannot be synced on this platform. Its file system orders a rename after the
/// file's own sync.
#[cfg(not(unix))]
pub(crate) fn sync_directory(_path: &Path) -> Result<(), WriteError> {
    Ok(())
}

/// Syncs a directory as [`sync_directory`] does, unless this process may not open it, or its medium is read-only and so
/// has nothing to sync.
///
/// # Errors
/// [`WriteError`] if the system refuses to sync for any other reason: names in the directory may then be lost.
pub(crate) fn sync_if_writable(path: &Path) -> Result<(), WriteError> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, ReadOnlyFilesystem, Unsupported};
    match sync_directory(path).map_err(|error| (error.source.kind(), error)) {
        Err((PermissionDenied | ReadOnlyFilesystem | InvalidInput | Unsupported, _)) => Ok(()),
        synced => synced.map_err(|(_, error)| error),
    }
}

impl WriteError {
    /// Returns a function that makes this error from one of the operating system: `action` on the file at `path` has
    /// failed.
    pub fn at(action: &'static str, path: &Path) -> impl Fn(io::Error) -> Self {
        let file = path.display().to_string();
        move |source| Self { action, file: file.clone(), source }
    }
}
