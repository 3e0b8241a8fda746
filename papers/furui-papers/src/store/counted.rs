//! A storage that counts reads.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use furui::Result;
use furui::store::{Log, ReadAt, Storage};

/// The number of reads of files, and the total number of bytes read.
#[derive(Default)]
pub(crate) struct Reads {
    calls: AtomicU64,
    bytes: AtomicU64,
}

impl Reads {
    /// Returns the numbers of reads and bytes since the previous call of this function, and counts anew from 0.
    pub(crate) fn take(&self) -> (u64, u64) {
        (self.calls.swap(0, Ordering::Relaxed), self.bytes.swap(0, Ordering::Relaxed))
    }
}

/// Wraps another storage so that its files are never mapped: no read escapes the counter.
pub(crate) struct Counted<S> {
    pub(crate) storage: S,
    pub(crate) reads: Arc<Reads>,
}

pub(crate) struct CountedFile<F> {
    file: F,
    reads: Arc<Reads>,
}

impl<S: Storage> Storage for Counted<S> {
    type File = CountedFile<S::File>;

    fn open(&self, name: &str) -> Result<Self::File> {
        Ok(CountedFile { file: self.storage.open(name)?, reads: Arc::clone(&self.reads) })
    }

    fn publish<T>(&self, name: &str, write: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
        self.storage.publish(name, write)
    }

    fn log(&self, name: &str, head: &[u8]) -> Result<Box<dyn Log>> {
        self.storage.log(name, head)
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.storage.remove(name)
    }

    fn list(&self) -> Result<Vec<String>> {
        self.storage.list()
    }

    fn path(&self, name: &str) -> String {
        self.storage.path(name)
    }
}

impl<F: ReadAt> ReadAt for CountedFile<F> {
    fn len(&self) -> u64 {
        self.file.len()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.reads.calls.fetch_add(1, Ordering::Relaxed);
        self.reads.bytes.fetch_add(buf.len() as u64, Ordering::Relaxed);
        self.file.read_at(offset, buf)
    }
}
