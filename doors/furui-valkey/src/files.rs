//! The files of a value, by which it is saved, loaded and transferred.

use furui::store::{MANIFEST, Memory, ReadAt, Storage};

use crate::io::{In, Out, PIECE};
use crate::refusal::Refusal;

/// The maximum number of files of a value: one more than the runs of the largest store.
const MAX_FILES: usize = furui::store::MAX_RUNS + 1;

/// The files of a value, in the order in which they are sent. They have the formats of the program `furui` and of the
/// other libraries: the file of a filter, or the files of a store, which has a manifest.
#[derive(Clone, Default)]
pub struct Files(Vec<(String, Vec<u8>)>);

impl Files {
    pub fn of(name: &str, bytes: Vec<u8>) -> Self {
        Self(vec![(name.to_owned(), bytes)])
    }

    /// Appends bytes to the last file if it has this name, or else begins a new file.
    ///
    /// # Errors
    /// If the name is not a plain file name, or there are too many files.
    pub fn append(&mut self, name: &str, bytes: &[u8]) -> Result<(), Refusal> {
        match self.0.last_mut() {
            Some((last, so_far)) if last == name => so_far.extend_from_slice(bytes),
            _ => {
                let is_plain = !name.is_empty() && name.len() <= 255 && !name.contains(['/', '\\', '\0']);
                if !is_plain || name.starts_with('.') || self.0.iter().any(|(other, _)| other == name) {
                    return Err(Refusal::because(
                        "a file name is empty, too long, hidden or a path, or the pieces of a file are not in sequence",
                    ));
                }
                if self.0.len() == MAX_FILES {
                    return Err(Refusal::because(format!("a value has at most {MAX_FILES} files")));
                }
                self.0.push((name.to_owned(), bytes.to_vec()));
            }
        }
        Ok(())
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
    }

    /// The pieces of all files, in order, each with the name of its file. An empty file has one empty piece.
    pub fn pieces(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.iter().flat_map(|(name, bytes)| {
            let pieces = bytes.len().div_ceil(PIECE).max(1);
            (0..pieces).map(move |i| (name, &bytes[i * PIECE..bytes.len().min((i + 1) * PIECE)]))
        })
    }

    /// The total size of all files and their names, in bytes.
    pub fn bytes(&self) -> usize {
        self.0.iter().map(|(name, bytes)| name.len() + bytes.len()).sum()
    }

    /// The bytes of the file with this name; `None` if there is no such file.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.iter().find(|(other, _)| *other == name).map(|(_, bytes)| bytes)
    }

    /// True if the files are those of a store.
    pub fn is_store(&self) -> bool {
        self.0.iter().any(|(name, _)| name == MANIFEST)
    }

    /// The name and the bytes of the only file. `None` if there are several files or none.
    pub fn only(&self) -> Option<(&str, &[u8])> {
        let mut files = self.iter();
        files.next().filter(|_| files.len() == 0)
    }

    /// Writes the files to an RDB file.
    pub fn save(&self, out: &mut Out) {
        out.number(self.0.len() as u64);
        for (name, bytes) in self.iter() {
            out.bytes(name.as_bytes());
            out.bytes(bytes);
        }
    }

    /// Reads from an RDB file what [`save`](Self::save) has written.
    pub fn load(from: &mut In) -> Result<Self, Refusal> {
        let mut files = Self::default();
        for _ in 0..from.number()? {
            let name = String::from_utf8(from.bytes()?)?;
            files.append(&name, &from.bytes()?)?;
        }
        Ok(files)
    }

    pub fn into_storage(self) -> Result<Memory, Refusal> {
        let memory = Memory::new();
        for (name, bytes) in self.0 {
            memory.publish(&name, |out| {
                out.write_all(&bytes).map_err(|error| furui::Error::io("cannot write", name.as_str(), error))
            })?;
        }
        Ok(memory)
    }

    pub fn of_storage(storage: &Memory) -> Result<Self, Refusal> {
        let mut files = vec![];
        for name in storage.list()? {
            let file = storage.open(&name)?;
            let mut bytes = vec![0; usize::try_from(file.len()).unwrap_or(usize::MAX)];
            file.read_at(0, &mut bytes).map_err(|error| furui::Error::io("cannot read", name.as_str(), error))?;
            files.push((name, bytes));
        }
        Ok(Self(files))
    }
}
