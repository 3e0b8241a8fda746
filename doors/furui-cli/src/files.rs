//! The storage of the files of a set: one type for all places, so that the code that works on sets is compiled once.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use furui::Result;
use furui::store::{Directory, DiskFile, Log, Overlay, OverlayFile, Scratch, Storage};

/// The place where the files of a set are: in a directory for good, or only as long as the command runs.
pub enum Files {
    /// The directory of a store: files that are created there stay.
    Store(Directory),
    /// Temporary files, which vanish when the process ends.
    Temporary(Scratch),
    /// The files of a store that is only read. Files that are created are temporary, and vanish when the process ends.
    Unchanged(Overlay<Directory, Scratch>),
}

impl Files {
    /// Creates a storage of temporary files. Files of at most `mapped` bytes are mapped into memory.
    pub fn temporary(mapped: u64) -> Self {
        Self::Temporary(scratch(mapped))
    }

    /// Opens a store only for reading. Files of at most `mapped` bytes are mapped into memory.
    pub fn unchanged(path: &Path, mapped: u64) -> Result<Self> {
        let store = Directory::open_read_only(path)?.mapped_up_to(mapped);
        Ok(Self::Unchanged(Overlay::new(store, scratch(mapped))))
    }
}

fn scratch(mapped: u64) -> Scratch {
    Scratch::new(std::env::temp_dir()).mapped_up_to(mapped)
}

/// A file of a set, in any of the storages of [`Files`].
pub type AnyFile = OverlayFile<DiskFile, Arc<DiskFile>>;

impl Storage for Files {
    type File = AnyFile;

    fn open(&self, name: &str) -> Result<AnyFile> {
        match self {
            Self::Store(files) => files.open(name).map(OverlayFile::Base),
            Self::Temporary(files) => files.open(name).map(OverlayFile::Top),
            Self::Unchanged(files) => files.open(name),
        }
    }

    fn publish<T>(&self, name: &str, write: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
        match self {
            Self::Store(files) => files.publish(name, write),
            Self::Temporary(files) => files.publish(name, write),
            Self::Unchanged(files) => files.publish(name, write),
        }
    }

    fn log(&self, name: &str, head: &[u8]) -> Result<Box<dyn Log>> {
        match self {
            Self::Store(files) => files.log(name, head),
            Self::Temporary(files) => files.log(name, head),
            Self::Unchanged(files) => files.log(name, head),
        }
    }

    fn remove(&self, name: &str) -> Result<()> {
        match self {
            Self::Store(files) => files.remove(name),
            Self::Temporary(files) => files.remove(name),
            Self::Unchanged(files) => files.remove(name),
        }
    }

    fn list(&self) -> Result<Vec<String>> {
        match self {
            Self::Store(files) => files.list(),
            Self::Temporary(files) => files.list(),
            Self::Unchanged(files) => files.list(),
        }
    }

    fn path(&self, name: &str) -> String {
        match self {
            Self::Store(files) => files.path(name),
            Self::Temporary(files) => files.path(name),
            Self::Unchanged(files) => files.path(name),
        }
    }
}
