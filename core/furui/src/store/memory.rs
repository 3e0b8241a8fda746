use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Bytes, Log, Storage};
use crate::error::{Error, Result};

/// Files in memory. A clone is another handle to the same files, so a store can be dropped and opened again.
///
/// ```
/// use furui::seen::{Seen, SeenOptions};
/// use furui::store::Memory;
///
/// let memory = Memory::new();
/// let mut seen = Seen::open_with(memory.clone(), SeenOptions::default())?;
/// seen.insert("a")?;
/// seen.sync()?;
/// drop(seen);
/// assert!(Seen::open_with(memory, SeenOptions::default())?.contains("a")?);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Memory {
    files: Arc<Mutex<BTreeMap<String, Bytes>>>,
}

impl Memory {
    /// A storage without files, of which nothing is ever written to a disk.
    pub fn new() -> Self {
        Self::default()
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<String, Bytes>> {
        // Every change is a single insertion or removal, so the map is valid even if a thread panicked while it held
        // the mutex.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn not_found(&self, action: &'static str, name: &str) -> Error {
        Error::io(action, self.path(name), io::ErrorKind::NotFound.into())
    }
}

impl Storage for Memory {
    type File = Bytes;

    fn open(&self, name: &str) -> Result<Self::File> {
        self.files().get(name).cloned().ok_or_else(|| self.not_found("cannot open", name))
    }

    fn publish<T>(&self, name: &str, write: impl FnOnce(&mut dyn io::Write) -> Result<T>) -> Result<T> {
        let mut bytes = Vec::new();
        let written = write(&mut bytes)?;
        self.files().insert(name.to_owned(), Arc::<[u8]>::from(bytes).into());
        Ok(written)
    }

    fn log(&self, name: &str, head: &[u8]) -> Result<Box<dyn Log>> {
        self.files().insert(name.to_owned(), Arc::<[u8]>::from(head).into());
        Ok(Box::new(MemoryLog { memory: self.clone(), name: name.to_owned() }))
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.files().remove(name).map(drop).ok_or_else(|| self.not_found("cannot remove", name))
    }

    fn list(&self) -> Result<Vec<String>> {
        Ok(self.files().keys().cloned().collect())
    }

    fn path(&self, name: &str) -> String {
        format!("memory:{name}")
    }
}

/// A log in memory. Appending copies the file, so that handles that are open already show the bytes they had.
struct MemoryLog {
    memory: Memory,
    name: String,
}

impl Log for MemoryLog {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let mut files = self.memory.files();
        let file = files.get_mut(&self.name).ok_or_else(|| self.memory.not_found("cannot append to", &self.name))?;
        *file = Arc::<[u8]>::from([file.as_ref(), bytes].concat()).into();
        Ok(())
    }
}
