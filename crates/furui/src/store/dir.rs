use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{DiskFile, Log, MANIFEST, Manifest, Storage, StoreKind};
use crate::error::{Error, Result, StoreProblem};
use crate::format::{
    Access, TEMPORARY, create_directory, is_still, publish, replace, sync_directory, sync_if_writable,
};

/// The file whose lock says that a process writes to the directory. Its bytes, none, do not matter.
const LOCK: &str = "LOCK";

/// Files in a directory, each written under a temporary name, forced to the device, and renamed.
///
/// # Who may use it
///
/// One process at a time opens the directory for writing ([`open`](Self::open)); a second one gets [`StoreProblem::Locked`]. Any
/// number opens it for reading ([`open_read_only`](Self::open_read_only)), beside the writer: nobody waits or fails because
/// of a reader. It finds files gone that a manifest named which was replaced meanwhile, so it opens them through
/// [`Published`](super::Published); once open, a file stays readable when it is removed (Windows does not remove or
/// replace a file while it is mapped: there, drop its handles before a writer starts).
///
/// The lock is the operating system's, on the file `LOCK`: it ends with the process, however that ends, and there is
/// nothing to clean up. Where somebody removes `LOCK` while a writer runs, the writer notices before it changes anything
/// more, and stops; it also does if another process has replaced the manifest.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    mapped: bool,
    /// None if it was opened for reading. Closing it gives up the lock.
    lock: Option<File>,
    /// The manifest that was opened or published last. While it is open, no other file has its identity.
    manifest: Mutex<Option<File>>,
}

impl Directory {
    /// Opens a directory for writing and creates it if it is missing. What a crash left half written is removed.
    ///
    /// # Errors
    /// [`Error::Store`] if another process writes to the directory, if the path is that of a file, or if the directory holds
    /// files that belong to no store (`lost+found` and names that begin with a dot do not count); [`Error::Io`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        if path.metadata().is_ok_and(|found| !found.is_dir()) {
            return Err(error_of(&path, StoreProblem::NotADirectory));
        }
        create_directory(&path)?;
        refuse_foreign(&path)?;
        let lock = lock(&path)?;
        // The last writer may have been killed between a rename and its sync. What is believed from here on, and acted upon,
        // has to be there after a power cut, too.
        sync_directory(&path)?;
        let directory = Self { path, mapped: true, lock: Some(lock), manifest: Mutex::default() };
        for name in directory.names()?.iter().filter(|name| name.ends_with(TEMPORARY)) {
            let path = directory.path.join(name);
            fs::remove_file(&path).map_err(error_at("cannot remove", &path))?;
        }
        Ok(directory)
    }

    /// Opens a directory for reading, also while another process writes to it: nothing in it is created, changed or
    /// locked.
    ///
    /// # Errors
    /// [`Error::Store`] if the path is that of a file, or if the directory holds files that belong to no store;
    /// [`Error::Io`], also if there is no such directory.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        if !fs::metadata(&path).map_err(error_at("cannot open", &path))?.is_dir() {
            return Err(error_of(&path, StoreProblem::NotADirectory));
        }
        refuse_foreign(&path)?;
        Ok(Self { path, mapped: true, lock: None, manifest: Mutex::default() })
    }

    /// Whether files that are opened from now on are mapped into memory, which they are by default; see [`DiskFile`]
    /// for the trade.
    #[must_use]
    pub fn mapped(self, mapped: bool) -> Self {
        Self { mapped, ..self }
    }

    /// The manifest of the store that the directory holds.
    ///
    /// # Errors
    /// [`Error::Store`] if it holds none, or none yet; those of [`Manifest::load`].
    pub fn manifest(&self) -> Result<Manifest> {
        Manifest::load(self)?.ok_or_else(|| self.has_no_manifest())
    }

    pub(super) fn has_no_manifest(&self) -> Error {
        let made_for_a_store = self.path.join(LOCK).exists();
        let problem = if made_for_a_store { StoreProblem::NothingRecorded } else { StoreProblem::NoStore };
        error_of(&self.path, problem)
    }

    /// The names of all regular files, in no order.
    fn names(&self) -> Result<Vec<String>> {
        let error = error_at("cannot list", &self.path);
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(&error)? {
            let entry = entry.map_err(&error)?;
            let is_file = match entry.file_type() {
                // A writer has just removed it.
                Err(gone) if gone.kind() == io::ErrorKind::NotFound => continue,
                kind => kind.map_err(&error)?.is_file(),
            };
            // A name that is not Unicode is none of ours.
            names.extend(entry.file_name().into_string().ok().filter(|_| is_file));
        }
        Ok(names)
    }

    fn file(&self, name: &str) -> Result<PathBuf> {
        let taken = name == LOCK || name.ends_with(TEMPORARY);
        if taken || matches!(name, "" | "." | "..") || name.contains(['/', '\\', ':', '\0']) {
            return Err(error_of(&self.path, StoreProblem::Name(name.to_owned())));
        }
        Ok(self.path.join(name))
    }

    /// The directory's lock, unless this process may not, or no longer, change anything.
    fn own_lock(&self) -> Result<&File> {
        let Some(lock) = &self.lock else {
            return Err(error_of(&self.path, StoreProblem::ReadOnly));
        };
        check_lock(lock, &self.path)?;
        Ok(lock)
    }

    fn last_manifest(&self) -> MutexGuard<'_, Option<File>> {
        // It is only ever replaced as a whole, so it is right even if a holder of the lock panicked.
        self.manifest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Storage for Directory {
    type File = DiskFile;

    fn open(&self, name: &str) -> Result<DiskFile> {
        let path = self.file(name)?;
        let failed = error_at("cannot open", &path);
        let file = File::open(&path).map_err(&failed);
        if name == MANIFEST {
            let mut last = self.last_manifest();
            // What is read out of it, such as numbers, must not be undone by a power cut. The writer may be just before its own
            // sync, or have been killed there. Nobody puts a manifest back that was replaced, so one that is still there was
            // there a line above.
            if self.lock.is_none() && !last.as_ref().is_some_and(|last| is_still(last, &path)) {
                sync_if_writable(&self.path)?;
            }
            *last = file.as_ref().ok().map(File::try_clone).transpose().map_err(&failed)?;
        }
        DiskFile::new(file?, self.mapped).map_err(failed)
    }

    fn publish<T>(&self, name: &str, write: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
        let path = self.file(name)?;
        self.own_lock()?;
        if name != MANIFEST {
            return publish(&path, Access::Default, write);
        }
        let mut last = self.last_manifest();
        if last.as_ref().map_or_else(|| path.exists(), |last| !is_still(last, &path)) {
            return Err(error_of(&path, StoreProblem::Overwritten));
        }
        let (written, file) = replace(&path, Access::Default, write)?;
        *last = Some(file);
        sync_directory(&self.path)?;
        Ok(written)
    }

    fn log(&self, name: &str, head: &[u8]) -> Result<Box<dyn Log>> {
        let path = self.file(name)?;
        let lock = self.own_lock()?;
        publish(&path, Access::Default, |out| out.write_all(head).map_err(error_at("cannot write", &path)))?;
        let file = OpenOptions::new().append(true).open(&path).map_err(error_at("cannot open", &path))?;
        let lock = lock.try_clone().map_err(error_at("cannot open", &path))?;
        Ok(Box::new(DiskLog { file, path, directory: self.path.clone(), lock }))
    }

    fn remove(&self, name: &str) -> Result<()> {
        let path = self.file(name)?;
        self.own_lock()?;
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
    directory: PathBuf,
    /// The directory's lock.
    lock: File,
}

impl Log for DiskLog {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        check_lock(&self.lock, &self.directory)?;
        self.file.write_all(bytes).map_err(error_at("cannot write", &self.path))?;
        self.file.sync_data().map_err(error_at("cannot sync", &self.path))
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
        if !name.to_str().is_some_and(|name| is_ours(name) || is_nobodys(name)) {
            return Err(error_of(path, StoreProblem::Foreign));
        }
    }
    Ok(())
}

fn is_ours(name: &str) -> bool {
    // A manifest that was not there a moment ago is one that a writer has just made.
    matches!(name, LOCK | MANIFEST) || name.ends_with(TEMPORARY) || StoreKind::is_any_part(name)
}

/// Whether a file system or a file manager puts such files into directories of its own accord.
fn is_nobodys(name: &str) -> bool {
    name == "lost+found" || name.starts_with('.')
}

/// Makes sure that `lock` still keeps other writers out of a directory.
fn check_lock(lock: &File, directory: &Path) -> Result<()> {
    if is_still(lock, &directory.join(LOCK)) {
        return Ok(());
    }
    Err(error_of(directory, StoreProblem::LockLost))
}

/// Takes the lock of a directory.
fn lock(directory: &Path) -> Result<File> {
    let path = directory.join(LOCK);
    loop {
        let lock = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(error_at("cannot open", &path))?;
        match lock.try_lock() {
            // Unless it was removed meanwhile, and another process locks another file of this name.
            Ok(()) if is_still(&lock, &path) => return Ok(lock),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(error_of(directory, StoreProblem::Locked)),
            Err(TryLockError::Error(error)) => return Err(error_at("cannot lock", directory)(error)),
        }
    }
}

fn error_of(path: &Path, problem: StoreProblem) -> Error {
    Error::store(path.display().to_string(), problem)
}

fn error_at(action: &'static str, path: &Path) -> impl Fn(io::Error) -> Error {
    let path = path.display().to_string();
    move |source| Error::io(action, path.clone(), source)
}
