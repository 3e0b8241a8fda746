use crate::bits::scale;
use crate::error::{Error, Result};
use crate::filter::ConfigError;
use crate::hash::KeyHash;

/// The maximum number of keys in an exact cache in front of a set.
pub(super) const MAX_CAPACITY: usize = 1 << 30;

/// The memory that a key takes in the hash table of an exact cache, in bytes: 1.25 slots of 4 bytes each.
pub(super) const SLOT_BYTES: usize = 5;

/// A hash table with linear probing that maps keys to the numbers of their entries. The keys themselves are in the
/// entries, so the methods take a function from the number of an entry to its key.
#[derive(Clone, Debug)]
pub(super) struct Index {
    /// The slots of the hash table: the number of an entry plus 1, or 0 in an empty slot.
    slots: Vec<u32>,
}

impl Index {
    /// Creates an empty index for `capacity` entries of `bytes` bytes each, slots included. Returns it with an empty
    /// vector that has room for these entries.
    ///
    /// # Errors
    /// [`ConfigError::OutOfRange`] if the capacity is not 1 to [`MAX_CAPACITY`]; [`Error::NoMemory`]. Both name `what`.
    pub(super) fn new<T>(what: &'static str, capacity: usize, bytes: usize) -> Result<(Self, Vec<T>)> {
        if !(1..=MAX_CAPACITY).contains(&capacity) {
            let (given, most) = (capacity as u64, MAX_CAPACITY as u64);
            return Err(ConfigError::OutOfRange { what, given, least: 1, most }.into());
        }
        let no_memory = |_| Error::NoMemory { what, bytes: capacity.saturating_mul(bytes) };
        let (mut entries, mut slots) = (Vec::new(), Vec::new());
        entries.try_reserve_exact(capacity).map_err(no_memory)?;
        // There is always an empty slot, so that every search ends.
        let count = capacity + capacity / 4 + 1;
        slots.try_reserve_exact(count).map_err(no_memory)?;
        slots.resize(count, 0);
        Ok((Self { slots }, entries))
    }

    /// Finds the entry of `key`, and returns its number. If there is none, the error is the empty slot where the search
    /// ended.
    pub(super) fn find(&self, key: KeyHash, key_of: impl Fn(u32) -> KeyHash) -> std::result::Result<u32, usize> {
        let mut slot = self.home(key);
        loop {
            match self.slots[slot] {
                0 => return Err(slot),
                number if key_of(number - 1) == key => return Ok(number - 1),
                _ => slot = self.next(slot),
            }
        }
    }

    /// Writes the number of an entry into the slot `gap`, at which the search for its key ended.
    pub(super) fn put(&mut self, gap: usize, number: u32) {
        self.slots[gap] = number + 1;
    }

    /// Makes `key` lead to the entry `number` instead of `old`, which has led to it so far. `key` must not be in the
    /// index yet. `key_of` returns the key of an entry. It is called with other entries only, so the entry `number` may
    /// still hold `old`.
    pub(super) fn replace(&mut self, number: u32, old: KeyHash, key: KeyHash, key_of: impl Fn(u32) -> KeyHash) {
        self.remove(number, old, &key_of);
        // The slot for the key is searched for only now, because the removal may have moved the gap.
        if let Err(gap) = self.find(key, key_of) {
            self.put(gap, number);
        }
    }

    /// Empties the slot that leads to the entry `number` of `key`. Later slots are moved back over the gap, unless that
    /// would bring them before the home slots of their keys.
    fn remove(&mut self, number: u32, key: KeyHash, key_of: impl Fn(u32) -> KeyHash) {
        let mut gap = self.home(key);
        while self.slots[gap] != number + 1 {
            gap = self.next(gap);
        }
        let mut slot = self.next(gap);
        while self.slots[slot] != 0 {
            let home = self.home(key_of(self.slots[slot] - 1));
            // Distances wrap around the end of the table.
            let size = self.slots.len();
            let from_home = (slot + size - home) % size;
            let from_gap = (slot + size - gap) % size;
            if from_home >= from_gap {
                self.slots[gap] = self.slots[slot];
                gap = slot;
            }
            slot = self.next(slot);
        }
        self.slots[gap] = 0;
    }

    /// The slot at which the probe sequence of a key begins. Keys with greater hashes begin at the same or later slots.
    fn home(&self, key: KeyHash) -> usize {
        scale(key.get(), self.slots.len())
    }

    fn next(&self, slot: usize) -> usize {
        if slot + 1 == self.slots.len() { 0 } else { slot + 1 }
    }
}
