//! The minimum work of an exact set on storage: a buffer that is sorted when full and merged with one sorted file.
//!
//! This is the core of DRUM (Lee et al., "IRLbot: Scaling to 6 Billion Pages and Beyond", 2009) and of the test in the
//! crawler Mercator whether a URL was seen before. Whether a key is new is known only at the merge, millions of keys
//! later. To report this for each inserted key, the set would also have to store where the key came from.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use super::Store;
use crate::report::Result;

const IO_BUFFER: usize = 1 << 20;

pub(crate) struct SortMerge {
    file: PathBuf,
    buffer: Vec<u64>,
    limit: usize,
    /// The number of keys in the sorted file.
    pub(crate) len: u64,
}

impl SortMerge {
    /// Creates a set in `directory` that buffers `memory` bytes of keys.
    pub(crate) fn create(directory: &Path, memory: u64) -> std::io::Result<Self> {
        let file = directory.join("sorted");
        File::create(&file)?;
        let limit = memory as usize / size_of::<u64>();
        Ok(Self { file, buffer: Vec::with_capacity(limit), limit, len: 0 })
    }

    /// Merges the buffer with the file into a new file, durably.
    fn merge(&mut self) -> std::io::Result<()> {
        self.buffer.sort_unstable();
        self.buffer.dedup();
        let merged = self.file.with_extension("new");
        let mut out = BufWriter::with_capacity(IO_BUFFER, File::create(&merged)?);
        let mut old = BufReader::with_capacity(IO_BUFFER, File::open(&self.file)?);
        let mut new = self.buffer.drain(..).peekable();
        self.len = 0;
        let mut put = |key: u64| {
            self.len += 1;
            out.write_all(&key.to_le_bytes())
        };
        while let Some(key) = next_key(&mut old)? {
            while let Some(less) = new.next_if(|&new| new < key) {
                put(less)?;
            }
            new.next_if_eq(&key);
            put(key)?;
        }
        new.try_for_each(put)?;
        out.into_inner()?.sync_all()?;
        fs::rename(merged, &self.file)
    }
}

impl Store for SortMerge {
    fn insert(&mut self, keys: &[u64]) -> Result<Option<u64>> {
        for &key in keys {
            self.buffer.push(key);
            if self.buffer.len() == self.limit {
                self.merge()?;
            }
        }
        Ok(None)
    }

    fn count(&mut self, _: &[u64]) -> Result<Option<usize>> {
        Ok(None)
    }

    fn sync(&mut self) -> Result<()> {
        Ok(self.merge()?)
    }
}

fn next_key(file: &mut impl Read) -> std::io::Result<Option<u64>> {
    let mut bytes = [0; size_of::<u64>()];
    match file.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(u64::from_le_bytes(bytes))),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}
