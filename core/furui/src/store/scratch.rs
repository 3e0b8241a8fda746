use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{DiskFile, Log, Storage};
use crate::error::{Error, Result, StoreProblem};
use crate::format::{WRITE_BUFFER, buffered};

/// The maximum number of names that are tried for a new file. The first name is free unless another process takes such
/// names on purpose.
const MAX_NAME_TRIES: u32 = 16;

/// A storage of temporary files on disk, which vanish however the process ends.
///
/// The files have no names in the directory, so that there is nothing to clean up and nothing for other processes to
/// open. Nothing is synced, so files that fit into the operating system's cache may never reach the device.
///
/// ```
/// use furui::seen::{Seen, SeenOptions};
/// use furui::store::Scratch;
///
/// let mut seen = Seen::open_with(Scratch::new(std::env::temp_dir()), SeenOptions::default())?;
/// assert!(seen.insert("a")?);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Debug)]
pub struct Scratch {
    directory: PathBuf,
    /// The maximum size in bytes of a file that is mapped into memory when it is opened.
    mapped: u64,
    files: Mutex<BTreeMap<String, Arc<DiskFile>>>,
}

impl Scratch {
    /// A storage in `directory`, which must exist. Files are mapped, unless [`mapped`](Self::mapped) says otherwise.
    pub fn new(directory: impl AsRef<Path>) -> Self {
        Self { directory: directory.as_ref().to_path_buf(), mapped: u64::MAX, files: Mutex::default() }
    }

    /// Chooses whether files are mapped into memory; [`DiskFile`] describes the cost.
    #[must_use]
    pub fn mapped(self, mapped: bool) -> Self {
        self.mapped_up_to(if mapped { u64::MAX } else { 0 })
    }

    /// Maps files of at most `bytes` bytes when they are published. Longer files are read by system calls, because a
    /// map of a file larger than memory reads more around each page than is asked for.
    #[must_use]
    pub fn mapped_up_to(self, bytes: u64) -> Self {
        Self { mapped: bytes, ..self }
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<String, Arc<DiskFile>>> {
        // Every change is a single insertion or removal, so the map is valid even if a thread panicked while it held
        // the mutex.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn not_found(&self, action: &'static str, name: &str) -> Error {
        Error::io(action, self.path(name), io::ErrorKind::NotFound.into())
    }

    fn create(&self) -> io::Result<File> {
        let mut tries = 0;
        loop {
            // A new RandomState has random keys, and more randomness is not needed: the name must only be free.
            let random = RandomState::new().hash_one(tries);
            match anonymous(&self.directory.join(format!(".furui-{random:016x}"))) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < MAX_NAME_TRIES => tries += 1,
                created => return created,
            }
        }
    }
}

/// Creates a file that vanishes when its last handle is closed.
#[cfg(not(windows))]
fn anonymous(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    std::fs::remove_file(path)?;
    Ok(file)
}

/// Creates a file that vanishes when its last handle is closed.
#[cfg(windows)]
fn anonymous(path: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    const FILE_ATTRIBUTE_TEMPORARY: u32 = 0x0000_0100;
    const FILE_FLAG_DELETE_ON_CLOSE: u32 = 0x0400_0000;
    OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .attributes(FILE_ATTRIBUTE_TEMPORARY)
        .custom_flags(FILE_FLAG_DELETE_ON_CLOSE)
        .open(path)
}

impl Storage for Scratch {
    type File = Arc<DiskFile>;

    fn open(&self, name: &str) -> Result<Self::File> {
        self.files().get(name).cloned().ok_or_else(|| self.not_found("cannot open", name))
    }

    fn publish<T>(&self, name: &str, write: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
        let error = |action| move |source| Error::io(action, self.path(name), source);
        let file = self.create().map_err(error("cannot create"))?;
        let mut out = buffered(WRITE_BUFFER, &file).map_err(error("cannot write"))?;
        let written = write(&mut out)?;
        out.flush().map_err(error("cannot write"))?;
        drop(out);
        let file = DiskFile::new(file, self.mapped).map_err(error("cannot open"))?;
        self.files().insert(name.to_owned(), Arc::new(file));
        Ok(written)
    }

    /// Returns an error, because a log is of no use where nothing outlives the process.
    fn log(&self, name: &str, _head: &[u8]) -> Result<Box<dyn Log>> {
        Err(Error::store(self.path(name), StoreProblem::NoLog))
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.files().remove(name).map(drop).ok_or_else(|| self.not_found("cannot remove", name))
    }

    fn list(&self) -> Result<Vec<String>> {
        Ok(self.files().keys().cloned().collect())
    }

    fn path(&self, name: &str) -> String {
        format!("{} (temporary, in {})", name, self.directory.display())
    }
}
