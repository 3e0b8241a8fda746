use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{DiskFile, Log, MANIFEST, Manifest, Storage, StoreKind};
use crate::error::{Error, Result, StoreProblem};
use crate::format::{Access, TEMPORARY, create_directory, is_still, replace, sync_directory, sync_if_writable};

/// The name of the lock file of a directory. The process that writes to the directory holds a lock on it. The file is
/// empty.
const LOCK: &str = "LOCK";

/// A storage in a directory. Each file is written under a temporary name, synced, and renamed.
///
/// # Readers and writers
///
/// One process at a time opens the directory for writing ([`open`](Self::open)); a second one gets
/// [`StoreProblem::Locked`]. Any number of processes open it for reading ([`open_read_only`](Self::open_read_only))
/// beside the writer, and no process waits or fails because of a reader. A reader may find that files are gone because
/// the manifest that named them was replaced, so it opens them through [`Published`](super::Published). An open file
/// stays readable when it is removed. (Windows does not remove or replace a file while it is mapped: there, drop all
/// handles before a writer starts.)
///
/// The lock is a lock of the operating system on the file `LOCK`. It ends however the process ends, so there is
/// nothing to clean up. If `LOCK` is removed while a writer runs, or another process replaces the manifest, the writer
/// notices that before its next change, and stops.
///
/// ```
/// use furui::Error;
/// use furui::error::{StoreError, StoreProblem};
/// use furui::store::Directory;
///
/// # let path = std::env::temp_dir().join(format!("furui-doc-directory-{}", std::process::id()));
/// let writer = Directory::open(&path)?;
/// let second = Directory::open(&path).unwrap_err();
/// assert!(matches!(second, Error::Store(StoreError { problem: StoreProblem::Locked, .. })));
/// let reader = Directory::open_read_only(&path)?;
/// # drop((writer, reader));
/// # std::fs::remove_dir_all(path).unwrap();
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    /// The maximum size in bytes of a file that is mapped into memory when it is opened.
    mapped: u64,
    /// The lock of the directory; `None` if the directory was opened for reading only.
    lock: Option<Arc<Lock>>,
    /// The manifest that was opened or published last. While it is open, no other file has its inode.
    manifest: Mutex<Option<File>>,
}

impl Directory {
    /// Opens a directory for writing, and creates it if it is missing. Files that a crash left half written are
    /// removed.
    ///
    /// # Errors
    /// [`Error::Store`] if another process writes to the directory, if the path is that of a file, or if the directory
    /// holds files that belong to no store (`lost+found` and names that begin with a dot do not count); [`Error::Io`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        if path.metadata().is_ok_and(|found| !found.is_dir()) {
            return Err(error_of(&path, StoreProblem::NotADirectory));
        }
        create_directory(&path)?;
        refuse_foreign(&path)?;
        let lock = Lock::take(&path)?;
        // The last writer may have been killed between a rename and its sync. Everything that this process reads and
        // acts on must survive a power cut.
        sync_directory(&path)?;
        let directory = Self { path, mapped: u64::MAX, lock: Some(Arc::new(lock)), manifest: Mutex::default() };
        for name in directory.names()?.iter().filter(|name| name.ends_with(TEMPORARY)) {
            let path = directory.path.join(name);
            fs::remove_file(&path).map_err(error_at("cannot remove", &path))?;
        }
        Ok(directory)
    }

    /// Opens a directory for reading, even while another process writes to it. Nothing in it is created, changed or
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
        Ok(Self { path, mapped: u64::MAX, lock: None, manifest: Mutex::default() })
    }

    /// Chooses whether files that are opened later are mapped into memory, as they are by default; [`DiskFile`]
    /// describes the cost.
    #[must_use]
    pub fn mapped(self, mapped: bool) -> Self {
        self.mapped_up_to(if mapped { u64::MAX } else { 0 })
    }

    /// Maps files of at most `bytes` bytes when they are opened. Longer files are read by system calls, because a map
    /// of a file larger than memory reads more around each page than is asked for.
    #[must_use]
    pub fn mapped_up_to(self, bytes: u64) -> Self {
        Self { mapped: bytes, ..self }
    }

    /// The manifest of the store that the directory holds.
    ///
    /// # Errors
    /// [`Error::Store`] if the directory holds no store, or one in which nothing was recorded yet; those of
    /// [`Manifest::load`].
    pub fn manifest(&self) -> Result<Manifest> {
        Manifest::load(self)?.ok_or_else(|| self.has_no_manifest())
    }

    pub(super) fn has_no_manifest(&self) -> Error {
        let made_for_a_store = self.path.join(LOCK).exists();
        let problem = if made_for_a_store { StoreProblem::NothingRecorded } else { StoreProblem::NoStore };
        error_of(&self.path, problem)
    }

    /// The names of all regular files in the directory, in any order.
    fn names(&self) -> Result<Vec<String>> {
        let error = error_at("cannot list", &self.path);
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(&error)? {
            let entry = entry.map_err(&error)?;
            let is_file = match entry.file_type() {
                // A writer has removed the file since the directory was read.
                Err(gone) if gone.kind() == io::ErrorKind::NotFound => continue,
                kind => kind.map_err(&error)?.is_file(),
            };
            // A name that is not Unicode belongs to no store.
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

    /// Returns the lock of the directory, after a check that this process may still change the directory.
    fn own_lock(&self) -> Result<&Arc<Lock>> {
        let Some(lock) = &self.lock else {
            return Err(error_of(&self.path, StoreProblem::ReadOnly));
        };
        lock.check(&self.path)?;
        Ok(lock)
    }

    /// Writes a file as [`publish`](crate::format::publish) does, and returns it, too. The files of a store have its
    /// secret seed, so they have the permissions of its manifest; the first one is for its owner alone.
    fn publish_file<T>(&self, path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<(T, File)> {
        let published = replace(path, Access::Like(&self.path.join(MANIFEST)), write)?;
        sync_directory(&self.path)?;
        Ok(published)
    }

    fn last_manifest(&self) -> MutexGuard<'_, Option<File>> {
        // The value is only replaced as a whole, so it is valid even if a thread panicked while it held the mutex.
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
            // The caller may act on what this manifest says, such as numbers that were given, so a power cut must not
            // undo it. But the writer may not have synced the directory yet, or may have been killed before it did. A
            // manifest that was replaced never comes back, so if the last manifest still has the name now, it is also
            // the one that was opened above.
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
            return self.publish_file(&path, write).map(|(written, _)| written);
        }
        let mut last = self.last_manifest();
        if last.as_ref().map_or_else(|| path.exists(), |last| !is_still(last, &path)) {
            return Err(error_of(&path, StoreProblem::Overwritten));
        }
        let (written, file) = self.publish_file(&path, write)?;
        *last = Some(file);
        Ok(written)
    }

    fn log(&self, name: &str, head: &[u8]) -> Result<Box<dyn Log>> {
        let path = self.file(name)?;
        let lock = Arc::clone(self.own_lock()?);
        let write = |out: &mut dyn Write| out.write_all(head).map_err(error_at("cannot write", &path));
        let ((), file) = self.publish_file(&path, write)?;
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

/// An append-only log, a file in a [`Directory`].
struct DiskLog {
    file: File,
    path: PathBuf,
    directory: PathBuf,
    /// The lock of the directory, which is held as long as the log is open.
    lock: Arc<Lock>,
}

impl Log for DiskLog {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.lock.check(&self.directory)?;
        self.file.write_all(bytes).map_err(error_at("cannot write", &self.path))?;
        self.file.sync_data().map_err(error_at("cannot sync", &self.path))
    }
}

/// Returns an error if the directory holds files of other programs, so that a mistyped path does not mix such files
/// with a store.
fn refuse_foreign(path: &Path) -> Result<()> {
    if path.join(MANIFEST).exists() {
        return Ok(());
    }
    for entry in fs::read_dir(path).map_err(error_at("cannot list", path))? {
        let name = entry.map_err(error_at("cannot list", path))?.file_name();
        // Other programs also create a file named `LOCK`, but never as the only file of a directory.
        if !name.to_str().is_some_and(|name| is_ours(name) || is_system_file(name)) {
            return Err(error_of(path, StoreProblem::Foreign));
        }
    }
    Ok(())
}

fn is_ours(name: &str) -> bool {
    // A manifest may have appeared since `refuse_foreign` looked for one, because a writer has just made it.
    matches!(name, LOCK | MANIFEST) || name.ends_with(TEMPORARY) || StoreKind::is_any_part(name)
}

/// True for names that file systems and file managers create by themselves.
fn is_system_file(name: &str) -> bool {
    name == "lost+found" || name.starts_with('.')
}

/// The lock of a directory: the open file `LOCK`, locked by the process that opened it.
#[derive(Debug)]
struct Lock {
    file: File,
    process: u32,
}

impl Lock {
    /// Locks a directory for writing. It is an error if another process has the lock.
    fn take(directory: &Path) -> Result<Self> {
        let path = directory.join(LOCK);
        loop {
            let file = match open_lock(&path) {
                // Another process has removed the file just now.
                Err(error) if error.kind() == io::ErrorKind::NotFound && directory.exists() => continue,
                opened => opened.map_err(error_at("cannot open", &path))?,
            };
            match file.try_lock() {
                // If the file was removed meanwhile, another process may have locked another file of this name.
                Ok(()) if is_still(&file, &path) => return Ok(Self { file, process: process::id() }),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(error_of(directory, StoreProblem::Locked)),
                Err(TryLockError::Error(error)) => return Err(error_at("cannot lock", directory)(error)),
            }
        }
    }

    /// Returns an error if the lock does not keep other writers out of its directory any more, for example because its
    /// file was removed.
    fn check(&self, directory: &Path) -> Result<()> {
        if is_still(&self.file, directory.join(LOCK)) {
            return Ok(());
        }
        Err(error_of(directory, StoreProblem::LockLost))
    }
}

impl Drop for Lock {
    /// Releases the lock, even while a process that was forked from this one still has the file open, until it runs
    /// another program or ends. Such a forked process does not release the lock, which is not its own.
    fn drop(&mut self) {
        if self.process == process::id() {
            // If this fails, the lock ends as the file is closed.
            let _ = self.file.unlock();
        }
    }
}

/// Opens the file `LOCK`, and creates it if it is missing. A link is not followed.
fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.clone().create_new(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        created => return created,
    }
    if !path.symlink_metadata()?.is_file() {
        return Err(io::Error::other("it is a link or a special file, where an empty file belongs: remove it"));
    }
    options.open(path)
}

fn error_of(path: &Path, problem: StoreProblem) -> Error {
    Error::store(path.display().to_string(), problem)
}

fn error_at(action: &'static str, path: &Path) -> impl Fn(io::Error) -> Error {
    let path = path.display().to_string();
    move |source| Error::io(action, path.clone(), source)
}
