use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{DiskFile, Log, MANIFEST, Storage, StoreKind};
use crate::error::{Error, Result};
use crate::format::{TEMPORARY, parent_of, publish, sync_directory};

/// The file whose lock says that a process uses the directory. Its bytes, none, do not matter.
const LOCK: &str = "LOCK";

/// Files in a directory, each written under a temporary name, forced to the device, and renamed.
///
/// # Who may use it
///
/// One process at a time opens the directory for writing ([`open`](Self::open)), or any number for reading
/// ([`open_read_only`](Self::open_read_only)); the other gets [`Error::Locked`]. Readers are kept apart from a writer
/// because it removes files that they are about to open. The lock is the operating system's, on the file `LOCK`: it
/// ends with the process, however that ends, and there is nothing to clean up.
///
/// Windows does not remove or replace a file while it is mapped: there, drop its handles first.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    writable: bool,
    mapped: bool,
    /// Held, not used: closing it gives up the lock. None if there is nothing to lock and nobody may write.
    _lock: Option<File>,
}

impl Directory {
    /// Opens a directory for writing and creates it if it is missing. What a crash left half written is removed.
    ///
    /// # Errors
    /// [`Error::Locked`] if another process uses it; [`Error::Config`] if the path is that of a file, or of a directory
    /// with files that are none of a store's; [`Error::Io`].
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        create_durably(&path)?;
        let lock_path = path.join(LOCK);
        refuse_foreign(&path)?;
        let lock = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&lock_path)
            .map_err(error_at("cannot open", &lock_path))?;
        locked(lock.try_lock(), &path)?;
        let directory = Self { path, writable: true, mapped: true, _lock: Some(lock) };
        for name in directory.names()?.iter().filter(|name| name.ends_with(TEMPORARY)) {
            let path = directory.path.join(name);
            fs::remove_file(&path).map_err(error_at("cannot remove", &path))?;
        }
        Ok(directory)
    }

    /// Opens a directory for reading: nothing in it is created or changed. A directory without `LOCK`, such as a copy
    /// on a read-only medium, is opened without a lock.
    ///
    /// # Errors
    /// [`Error::Locked`] if another process writes to it; [`Error::Config`] if the path is that of a file;
    /// [`Error::Io`], also if there is no such directory.
    pub fn open_read_only(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        if !fs::metadata(&path).map_err(error_at("cannot open", &path))?.is_dir() {
            return Err(not_a_directory(&path));
        }
        refuse_foreign(&path)?;
        let lock_path = path.join(LOCK);
        let lock = match File::open(&lock_path) {
            Ok(lock) => {
                locked(lock.try_lock_shared(), &path)?;
                Some(lock)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error_at("cannot open", &lock_path)(error)),
        };
        Ok(Self { path, writable: false, mapped: true, _lock: lock })
    }

    /// Whether files that are opened from now on are mapped into memory, which they are by default; see [`DiskFile`]
    /// for the trade.
    #[must_use]
    pub fn mapped(self, mapped: bool) -> Self {
        Self { mapped, ..self }
    }

    /// The names of all regular files, in no order.
    fn names(&self) -> Result<Vec<String>> {
        let error = error_at("cannot list", &self.path);
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(&error)? {
            let entry = entry.map_err(&error)?;
            // A name that is not Unicode is none of ours.
            if let Ok(name) = entry.file_name().into_string()
                && entry.file_type().map_err(&error)?.is_file()
            {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn file(&self, name: &str) -> Result<PathBuf> {
        let taken = name == LOCK || name.ends_with(TEMPORARY);
        if taken || matches!(name, "" | "." | "..") || name.contains(['/', '\\', ':', '\0']) {
            return Err(Error::Config(format!("{name:?} cannot be the name of a file in {}", self.path.display())));
        }
        Ok(self.path.join(name))
    }

    fn file_to_change(&self, name: &str) -> Result<PathBuf> {
        if !self.writable {
            return Err(Error::Config(format!("{}: opened for reading only", self.path.display())));
        }
        self.file(name)
    }
}

impl Storage for Directory {
    type File = DiskFile;

    fn open(&self, name: &str) -> Result<DiskFile> {
        let path = self.file(name)?;
        File::open(&path).and_then(|file| DiskFile::new(file, self.mapped)).map_err(error_at("cannot open", &path))
    }

    fn publish<T>(&self, name: &str, write: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
        let path = self.file_to_change(name)?;
        publish(&path, write)
    }

    fn log(&self, name: &str, head: &[u8]) -> Result<Box<dyn Log>> {
        let path = self.file_to_change(name)?;
        publish(&path, |out| out.write_all(head).map_err(error_at("cannot write", &path)))?;
        let file = OpenOptions::new().append(true).open(&path).map_err(error_at("cannot open", &path))?;
        Ok(Box::new(DiskLog { file, path }))
    }

    fn remove(&self, name: &str) -> Result<()> {
        let path = self.file_to_change(name)?;
        fs::remove_file(&path).map_err(error_at("cannot remove", &path))
    }

    fn list(&self) -> Result<Vec<String>> {
        let mut names = self.names()?;
        names.retain(|name| name != LOCK && !name.ends_with(TEMPORARY));
        names.sort_unstable();
        Ok(names)
    }

    fn path(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }
}

/// The end of a file of a [`Directory`].
struct DiskLog {
    file: File,
    path: PathBuf,
}

impl Log for DiskLog {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(error_at("cannot write", &self.path))?;
        self.file.sync_data().map_err(error_at("cannot sync", &self.path))
    }
}

/// Creates the directory if it is missing, and its parents, and makes that durable.
fn create_durably(path: &Path) -> Result<()> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => return Ok(()),
        Ok(_) => return Err(not_a_directory(path)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error_at("cannot open", path)(error)),
    }
    let parent = parent_of(path);
    create_durably(parent)?;
    match fs::create_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error_at("cannot create", path)(error)),
        _ => Ok(sync_directory(parent)?),
    }
}

/// Refuses a directory that holds other things than a store's: a slip of the pen must not mix the two.
fn refuse_foreign(path: &Path) -> Result<()> {
    if path.join(MANIFEST).exists() {
        return Ok(());
    }
    for entry in fs::read_dir(path).map_err(error_at("cannot list", path))? {
        let name = entry.map_err(error_at("cannot list", path))?.file_name();
        // Other programs have a LOCK, too, but never alone.
        let ours =
            name.to_str().is_some_and(|name| name == LOCK || name.ends_with(TEMPORARY) || StoreKind::is_any_part(name));
        if !ours {
            return Err(Error::Config(format!(
                "{}: holds other files and is no store; name an empty or a new directory",
                path.display()
            )));
        }
    }
    Ok(())
}

fn locked(outcome: std::result::Result<(), TryLockError>, path: &Path) -> Result<()> {
    match outcome {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(Error::Locked(path.display().to_string())),
        Err(TryLockError::Error(error)) => Err(error_at("cannot lock", path)(error)),
    }
}

fn not_a_directory(path: &Path) -> Error {
    Error::Config(format!("{}: a file, where the directory of a store belongs; name another path", path.display()))
}

fn error_at(action: &'static str, path: &Path) -> impl Fn(io::Error) -> Error {
    let path = path.display().to_string();
    move |source| Error::io(action, path.clone(), source)
}
