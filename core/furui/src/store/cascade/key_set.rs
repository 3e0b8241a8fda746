use std::fmt;
use std::io::Write;

use super::memtable::{MemTable, range_of};
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
/// A large set is sixteen tables, each with an equal range of the hashes, so that no insertion waits until all of its
/// keys have moved into a larger table.
///
/// Memory: 256 bytes for an empty set, and 8.9 to 12.9 bytes a key, of which it asks at once for at most an eighth more
/// plus 16 MiB, of a table. Cost: one cache miss a key; growing takes 2 ns a key of a table, at once.
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
pub struct KeySet {
    /// One table while the set is small; later [`PARTS`] of them, each with an equal range of the hashes.
    tables: Vec<MemTable>,
}

/// The number of tables of a large set.
const PARTS: usize = 16;
/// The number of keys at which one table becomes [`PARTS`] of them, when it is full.
const LARGE: usize = 1 << 19;

/// The number of keys that are read from a run, or written to one, at a time.
const PART: usize = 4096;

impl KeySet {
    /// A set without keys, which takes no memory yet.
    pub fn new() -> Self {
        Self { tables: vec![MemTable::small()] }
    }

    /// The index of the table that a hash belongs to.
    #[inline]
    fn part(&self, hash: u64) -> usize {
        range_of(hash, self.tables.len())
    }

    /// Inserts a key. Returns true if it is new.
    ///
    /// # Errors
    /// [`Error::NoMemory`] if there is not enough memory to grow, or if the hashes are not uniform, so that too many
    /// lie at one place. The set is unchanged then.
    #[inline]
    pub fn insert(&mut self, key: KeyHash) -> Result<bool> {
        let hash = Fingerprints::EXACT.place_of(key);
        let mut part = self.part(hash);
        if self.tables[part].growth(1) > 0 && !self.contains(key) {
            if self.tables.len() == 1 && self.len() >= LARGE {
                self.divide(self.len())?;
                part = self.part(hash);
            }
            self.grow(part, 1)?;
        }
        let mut is_new = false;
        self.tables[part].insert_all(&[hash], |_| is_new = true);
        Ok(is_new)
    }

    /// Allocates memory for `more` additional keys of a table.
    fn grow(&mut self, part: usize, more: usize) -> Result<()> {
        let bytes = self.bytes();
        match self.tables[part].reserve(more, usize::MAX) {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(Error::NoMemory { what: "the table of a set", bytes }),
        }
    }

    /// Divides one table into [`PARTS`] of them, each with room for its share of `keys` keys and some more.
    fn divide(&mut self, keys: usize) -> Result<()> {
        let bytes = self.bytes();
        let mut tables = vec![];
        let slots = self.tables[0].slots();
        let mut from = 0;
        for part in 0..PARTS {
            let mut table = MemTable::of_range(part, PARTS);
            let mut hashes = vec![];
            reserve(&mut hashes, self.len() / PARTS)?;
            while let Some(&hash) = slots.get(from).filter(|&&hash| hash == 0 || range_of(hash, PARTS) == part) {
                hashes.extend((hash != 0).then_some(hash));
                from += 1;
            }
            let room = hashes.len().max(keys / PARTS);
            if !table.grow_for(room, table_bytes(room)).is_ok_and(|has_room| has_room) {
                return Err(Error::NoMemory { what: "the tables of a set", bytes });
            }
            table.insert_all(&hashes, |_| {});
            tables.push(table);
        }
        self.tables = tables;
        Ok(())
    }

    /// The number of bytes by which the set grows before it takes `keys` more new keys; 0 if it has room for them.
    pub fn growth(&self, keys: usize) -> usize {
        if let [table] = &self.tables[..] {
            let growth = table.growth(keys);
            if growth == 0 || table.len() < LARGE {
                return growth;
            }
            // Some tables have more than their share.
            let share = (table.len() + keys) / PARTS;
            let divided = PARTS * table_bytes(share + 3 * share.isqrt());
            return divided.saturating_sub(table.bytes()).max(1);
        }
        // Uniform hashes give no table many more keys than the others.
        let share = keys.div_ceil(PARTS);
        let share = if keys < PARTS { keys } else { share + 3 * share.isqrt() };
        self.tables.iter().map(|table| table.growth(share)).sum()
    }

    /// True if a key is in the set.
    #[inline]
    pub fn contains(&self, key: KeyHash) -> bool {
        let hash = Fingerprints::EXACT.place_of(key);
        self.tables[self.part(hash)].contains(hash)
    }

    /// Removes a key. Returns false if it is not in the set.
    pub fn remove(&mut self, key: KeyHash) -> bool {
        let hash = Fingerprints::EXACT.place_of(key);
        let part = self.part(hash);
        self.tables[part].remove(hash)
    }

    /// The number of keys in the set. Cost: the sum of at most sixteen numbers.
    pub fn len(&self) -> usize {
        self.tables.iter().map(MemTable::len).sum()
    }

    /// True if there are no keys in the set.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory that the keys of the set take, in bytes.
    pub fn bytes(&self) -> usize {
        self.tables.iter().map(MemTable::bytes).sum()
    }

    /// The keys, in ascending order of their hashes.
    pub fn iter(&self) -> impl Iterator<Item = KeyHash> {
        let slots = self.tables.iter().flat_map(MemTable::slots);
        slots.filter(|&&slot| slot != 0).map(|&slot| KeyHash::new(slot))
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
        let all = before.saturating_add(usize::try_from(run.len()).unwrap_or(usize::MAX));
        if self.tables.len() == 1 && all < LARGE {
            self.grow(0, all - before)?;
        } else if self.tables.len() == 1 {
            self.divide(all)?;
        } else {
            let share = (all - before) / PARTS + 1;
            (0..PARTS).try_for_each(|part| self.grow(part, share + share / 8))?;
        }
        loop {
            let keys = reader.fill()?;
            let Some(&first) = keys.first() else { return Ok((self.len() - before) as u64) };
            let part = range_of(first, self.tables.len());
            let count = keys.partition_point(|&key| range_of(key, self.tables.len()) == part);
            if self.tables[part].growth(count) > 0 {
                self.grow(part, count)?;
            }
            self.tables[part].insert_all(&keys[..count], |_| {});
            reader.consume(count);
        }
    }
}

/// The maximum number of bytes of a table that is made for this number of keys: it is 75 % full then.
fn table_bytes(keys: usize) -> usize {
    (keys + keys / 3 + 2048) * size_of::<u64>()
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
