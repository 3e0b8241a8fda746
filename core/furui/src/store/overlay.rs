use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Bytes, DiskFile, Log, ReadAt, Storage};
use crate::error::{Error, Result};

/// A storage that shows another storage and never changes it: its own changes are kept apart, for a dry run on a store.
///
/// ```text
/// publish, remove ──► top   what was published here
///            open ──► top, else base
/// ```
///
/// A published file goes to `top` and hides the file of that name in `base`; a removed file is no longer visible. `top`
/// must be empty: files that it has already are not visible.
///
/// ```
/// use furui::seen::{Seen, SeenOptions};
/// use furui::store::{Memory, Overlay, Storage};
///
/// let base = Memory::new();
/// let mut seen = Seen::open_with(Overlay::new(base.clone(), Memory::new()), SeenOptions::default())?;
/// seen.insert("a")?;
/// seen.sync()?;
/// assert!(base.list()?.is_empty());
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Debug)]
pub struct Overlay<B, T> {
    base: B,
    top: T,
    changed: Mutex<BTreeMap<String, Change>>,
}

/// The last change of a file name in an overlay: published or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Published,
    Removed,
}

/// A file of an [`Overlay`].
///
/// ```
/// use furui::Error;
/// use furui::store::{Memory, Overlay, OverlayFile, Storage};
///
/// let base = Memory::new();
/// base.publish("old", |_| Ok(()))?;
/// let both = Overlay::new(base, Memory::new());
/// both.publish("new", |_| Ok(()))?;
/// assert!(matches!(both.open("old")?, OverlayFile::Base(_)));
/// assert!(matches!(both.open("new")?, OverlayFile::Top(_)));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Debug)]
pub enum OverlayFile<B, T> {
    /// The file is in the base storage.
    Base(B),
    /// The file was published in the overlay.
    Top(T),
}

impl<T> From<DiskFile> for OverlayFile<DiskFile, T> {
    fn from(file: DiskFile) -> Self {
        Self::Base(file)
    }
}

impl<B: Storage, T: Storage> Overlay<B, T> {
    /// An overlay that shows `base` and keeps changes in `top`.
    pub fn new(base: B, top: T) -> Self {
        Self { base, top, changed: Mutex::default() }
    }

    fn changed(&self) -> MutexGuard<'_, BTreeMap<String, Change>> {
        // Every change is a single insertion, so the map is valid even if a thread panicked while it held the mutex.
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, name: &str) -> Option<Change> {
        self.changed().get(name).copied()
    }

    fn not_found(&self, action: &'static str, name: &str) -> Error {
        Error::io(action, self.path(name), io::ErrorKind::NotFound.into())
    }
}

impl<B: Storage, T: Storage> Storage for Overlay<B, T> {
    type File = OverlayFile<B::File, T::File>;

    fn open(&self, name: &str) -> Result<Self::File> {
        match self.change(name) {
            Some(Change::Published) => self.top.open(name).map(OverlayFile::Top),
            Some(Change::Removed) => Err(self.not_found("cannot open", name)),
            None => self.base.open(name).map(OverlayFile::Base),
        }
    }

    fn publish<R>(&self, name: &str, write: impl FnOnce(&mut dyn io::Write) -> Result<R>) -> Result<R> {
        let written = self.top.publish(name, write)?;
        self.changed().insert(name.to_owned(), Change::Published);
        Ok(written)
    }

    fn log(&self, name: &str, head: &[u8]) -> Result<Box<dyn Log>> {
        let log = self.top.log(name, head)?;
        self.changed().insert(name.to_owned(), Change::Published);
        Ok(log)
    }

    fn remove(&self, name: &str) -> Result<()> {
        match self.change(name) {
            Some(Change::Published) => self.top.remove(name)?,
            Some(Change::Removed) => return Err(self.not_found("cannot remove", name)),
            None => drop(self.base.open(name)?),
        }
        self.changed().insert(name.to_owned(), Change::Removed);
        Ok(())
    }

    fn list(&self) -> Result<Vec<String>> {
        let mut names = self.base.list()?;
        let changed = self.changed();
        names.retain(|name| !changed.contains_key(name));
        names.extend(changed.iter().filter(|(_, change)| **change == Change::Published).map(|(name, _)| name.clone()));
        names.sort_unstable();
        Ok(names)
    }

    fn path(&self, name: &str) -> String {
        match self.change(name) {
            Some(Change::Published) => self.top.path(name),
            _ => self.base.path(name),
        }
    }
}

impl<B: ReadAt, T: ReadAt> ReadAt for OverlayFile<B, T> {
    fn len(&self) -> u64 {
        match self {
            Self::Base(file) => file.len(),
            Self::Top(file) => file.len(),
        }
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        match self {
            Self::Base(file) => file.read_at(offset, buf),
            Self::Top(file) => file.read_at(offset, buf),
        }
    }

    fn mapped(&self) -> Option<&[u8]> {
        match self {
            Self::Base(file) => file.mapped(),
            Self::Top(file) => file.mapped(),
        }
    }

    fn bytes(&self, offset: u64, length: u64) -> io::Result<Bytes> {
        match self {
            Self::Base(file) => file.bytes(offset, length),
            Self::Top(file) => file.bytes(offset, length),
        }
    }
}
