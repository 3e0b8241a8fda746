use std::fmt;
use std::io::Write;

use super::memtable::MemTable;
use super::room::reserve;
use super::{Run, RunWriter, SortedSource};
use crate::error::{Error, Result};
use crate::format::{ReadAt, Seal};
use crate::hash::{HashSpec, KeyHash};
use crate::store::Fingerprints;

/// An exact set of hashes in RAM alone, without files: one of the many small sets of a server, or the share of a large
/// one.
///
/// It takes bare hashes, as [`Cascade`](super::Cascade) does: the caller must have made them all by one
/// [`HashSpec`], which the set does not know. The hashes 0 and 1 are one key.
///
/// Memory: 256 bytes for an empty set, and 8.9 to 12.9 bytes a key, of which it asks at once for at most an eighth more
/// plus 16 MiB. Cost: one cache miss a key; growing takes 2 ns a key, at once.
///
/// ```
/// use furui::KeyHash;
/// use furui::store::cascade::KeySet;
///
/// let mut set = KeySet::new();
/// let key = KeyHash::new(0x1234_5678_9ABC_DEF0);
/// assert!(set.insert(key)? && !set.insert(key)?);
/// assert!(set.contains(key) && set.len() == 1);
/// assert!(set.remove(key) && set.is_empty());
/// # Ok::<(), furui::Error>(())
/// ```
pub struct KeySet(MemTable);

/// The number of keys that are read from a run, or written to one, at a time.
const PART: usize = 4096;

impl KeySet {
    /// A set without keys, which takes no memory yet.
    pub fn new() -> Self {
        Self(MemTable::small())
    }

    /// Inserts a key. Returns true if it is new.
    ///
    /// # Errors
    /// [`Error::NoMemory`] if there is not enough memory to grow, or if the hashes are not uniform, so that too many
    /// lie at one place. The set is unchanged then.
    #[inline]
    pub fn insert(&mut self, key: KeyHash) -> Result<bool> {
        let hash = Fingerprints::EXACT.place_of(key);
        if self.growth(1) > 0 && !self.contains(key) {
            self.grow(1)?;
        }
        let mut is_new = false;
        self.0.insert_all(&[hash], |_| is_new = true);
        Ok(is_new)
    }

    /// Allocates memory for `more` additional keys.
    fn grow(&mut self, more: usize) -> Result<()> {
        let bytes = self.0.bytes();
        match self.0.reserve(more, usize::MAX) {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(Error::NoMemory { what: "the table of a set", bytes }),
        }
    }

    /// The number of bytes by which the set grows before it takes `keys` more new keys; 0 if it has room for them.
    pub fn growth(&self, keys: usize) -> usize {
        self.0.growth(keys)
    }

    /// True if a key is in the set.
    #[inline]
    pub fn contains(&self, key: KeyHash) -> bool {
        self.0.contains(Fingerprints::EXACT.place_of(key))
    }

    /// Removes a key. Returns false if it is not in the set.
    pub fn remove(&mut self, key: KeyHash) -> bool {
        self.0.remove(Fingerprints::EXACT.place_of(key))
    }

    /// The number of keys in the set.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if there are no keys in the set.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory that the keys of the set take, in bytes.
    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// The keys, in ascending order of their hashes.
    pub fn iter(&self) -> impl Iterator<Item = KeyHash> {
        self.0.slots().iter().filter(|&&slot| slot != 0).map(|&slot| KeyHash::new(slot))
    }

    /// Writes the keys as the file of a run (docs/format.md), of 5 to 6 bytes a key. `name` stands for the file in
    /// errors.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write_run(&self, out: &mut dyn Write, name: &str, hash: HashSpec) -> Result<Seal> {
        let mut writer = RunWriter::new(out, name, hash, self.len() as u64)?;
        let mut part = vec![];
        reserve(&mut part, PART)?;
        for key in self.iter() {
            part.push(key.get());
            if part.len() == PART {
                writer.push(&part)?;
                part.clear();
            }
        }
        writer.push(&part)?;
        Ok(writer.finish()?.seal)
    }

    /// Inserts the keys of a run, whose checksums, order and number are checked while it is read. Returns how many of
    /// them are new. Room is made for as many keys as the run claims to have: at most 32,768 for each 4 KiB of it.
    ///
    /// # Errors
    /// [`Error::Format`] if the run is damaged, and those of [`insert`](Self::insert). The keys before the error are
    /// in the set then.
    pub fn read_run<F: ReadAt>(&mut self, run: &Run<F>) -> Result<u64> {
        let (mut reader, before) = (run.reader(), self.len());
        // All keys of the run need room at once: they come in ascending order, so that in a smaller table the first of
        // them would crowd at its beginning.
        self.grow(usize::try_from(run.len()).unwrap_or(usize::MAX))?;
        loop {
            let keys = reader.fill()?;
            if keys.is_empty() {
                return Ok((self.len() - before) as u64);
            }
            let count = keys.len();
            self.0.insert_all(keys, |_| {});
            reader.consume(count);
        }
    }
}

impl Default for KeySet {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for KeySet {
    /// Shows the number of keys, but not the keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeySet").field("len", &self.len()).field("bytes", &self.bytes()).finish()
    }
}
