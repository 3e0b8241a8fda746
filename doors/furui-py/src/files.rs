use std::io::Write;
use std::sync::Arc;

use furui::Result;
use furui::store::{Directory, DiskFile, Log, Overlay, OverlayFile, Scratch, Storage};

/// The storage of a set. One type for all sets keeps the module small, because the code of a set is compiled once.
pub enum Files {
    /// The files of a directory that this process alone writes to.
    Stored(Directory),
    /// Temporary files of a set that is never opened again.
    Temporary(Scratch),
    /// The files of a directory that is only read. Files that a look-up must write go to temporary files.
    Lent(Overlay<Directory, Scratch>),
}

impl Files {
    /// Creates a storage of temporary files in the system's directory for them.
    pub fn temporary() -> Self {
        Self::Temporary(Scratch::new(std::env::temp_dir()))
    }
}

/// Evaluates an expression with the storage of a [`Files`], whatever its variant.
macro_rules! each {
    ($files:expr, $storage:ident => $value:expr) => {
        match $files {
            Files::Stored($storage) => $value,
            Files::Temporary($storage) => $value,
            Files::Lent($storage) => $value,
        }
    };
}

impl Storage for Files {
    type File = OverlayFile<DiskFile, Arc<DiskFile>>;

    fn open(&self, name: &str) -> Result<Self::File> {
        match self {
            Self::Stored(storage) => storage.open(name).map(OverlayFile::Base),
            Self::Temporary(storage) => storage.open(name).map(OverlayFile::Top),
            Self::Lent(storage) => storage.open(name),
        }
    }

    fn publish<T>(&self, name: &str, write: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
        each!(self, storage => storage.publish(name, write))
    }

    fn log(&self, name: &str, head: &[u8]) -> Result<Box<dyn Log>> {
        each!(self, storage => storage.log(name, head))
    }

    fn remove(&self, name: &str) -> Result<()> {
        each!(self, storage => storage.remove(name))
    }

    fn list(&self) -> Result<Vec<String>> {
        each!(self, storage => storage.list())
    }

    fn path(&self, name: &str) -> String {
        each!(self, storage => storage.path(name))
    }
}
