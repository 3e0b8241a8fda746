use std::io::Write;

use furui::Result;
use furui::store::{Bytes, Directory, DiskFile, Log, Memory, OverlayFile, Storage};

/// The storage of the dictionary of a shelf's words: a directory or memory.
#[derive(Debug)]
pub(super) enum Place {
    Directory(Directory),
    Memory(Memory),
}

impl Storage for Place {
    type File = OverlayFile<DiskFile, Bytes>;

    fn open(&self, name: &str) -> Result<Self::File> {
        match self {
            Self::Directory(directory) => directory.open(name).map(OverlayFile::Base),
            Self::Memory(memory) => memory.open(name).map(OverlayFile::Top),
        }
    }

    fn publish<T>(&self, name: &str, write: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
        match self {
            Self::Directory(directory) => directory.publish(name, write),
            Self::Memory(memory) => memory.publish(name, write),
        }
    }

    fn log(&self, name: &str, head: &[u8]) -> Result<Box<dyn Log>> {
        match self {
            Self::Directory(directory) => directory.log(name, head),
            Self::Memory(memory) => memory.log(name, head),
        }
    }

    fn remove(&self, name: &str) -> Result<()> {
        match self {
            Self::Directory(directory) => directory.remove(name),
            Self::Memory(memory) => memory.remove(name),
        }
    }

    fn list(&self) -> Result<Vec<String>> {
        match self {
            Self::Directory(directory) => directory.list(),
            Self::Memory(memory) => memory.list(),
        }
    }

    fn path(&self, name: &str) -> String {
        match self {
            Self::Directory(directory) => directory.path(name),
            Self::Memory(memory) => memory.path(name),
        }
    }
}
