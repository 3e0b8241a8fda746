//! The buffer of new keys; see [`WriteBuffer`].

mod sort;
#[cfg(test)]
mod tests;

use std::collections::TryReserveError;
use std::fmt;
use std::iter;
use std::sync::OnceLock;

use super::{Found, MAX_KEY, TrieError};
use crate::format::field::{put, u32_at, u64_at};
use crate::hash::KeyHash;

/// The size of a record without its key, in bytes: its hash, its length with a flag for a deletion, and its value.
const HEADER: usize = 16;
const LENGTH: usize = 8;
const VALUE: usize = 12;
/// The bit in a record's length that marks a deleted key.
const TOMBSTONE: u32 = 1 << 31;

/// The alignment of records, in bytes. Places are counted in units, so that 32 bits suffice for [`MAX_BYTES`].
const UNIT: usize = 8;

/// The maximum size of all records (keys with their hashes and values) of a buffer: 16 GiB.
const MAX_BYTES: u64 = 1 << 34;

/// The maximum number of slots that a search probes before a dictionary freezes the write buffer early. Among a hundred
/// million keys with random hashes, the probability that any key needs more probes is 10⁻⁸.
pub const MAX_PROBE_LENGTH: usize = 1024;

/// The number of slots of the hash table of a new write buffer. It is a power of two, and so is the size of every
/// table, because tables are doubled.
const FIRST_SLOTS: usize = 64;

/// The newest keys of a dictionary, which are looked up at once, and sorted when they are frozen.
///
/// ```text
///   slots   │ hash ¦ at │         │ hash ¦ at │ …     8 bytes each: the upper half of the hash, and where the record is
///                   │                     │
///   arena   │ hash, length, value, key │ hash, length, value, key │ …      in order of arrival
/// ```
///
/// The buffer is a hash table with open addressing: 8-byte slots over one arena. A new key is appended to the arena,
/// without an allocation of its own. Slots are in the order of hashes, so the table is doubled front to back without
/// reading a key. A deletion is a record like any other, because it has to hide the values of older tries.
///
/// This type is a low-level part of [`Dict`](super::Dict): the caller must hash all keys in the same way, which is not
/// checked.
///
/// Space for each key: its bytes and 16 more, 4 on average for alignment, and 11 to 21 for slots. Cost: two cache
/// misses for the look-up of a key, and one if the key is absent.
///
/// Keys are sorted when their order is first needed, and again after new keys. The sort is a multikey quicksort that
/// compares 8 bytes of the keys at a time (J. Bentley and R. Sedgewick, "Fast Algorithms for Sorting and Searching
/// Strings", SODA 1997; keeping the 8 bytes beside each reference is from W. Ng and K. Kakehi, "Cache Efficient Radix
/// Sort for String Sorting", 2007).
///
/// Difference from the paper (T. Koyanagi et al., "Method to Build Bloom Filters for Online Building of LOUDS TRIE",
/// 2011): there the buffer is a dynamic double array, which takes three times the memory of a hash table, and six times
/// as long for an insertion. Its advantage is that it keeps keys in order; here, sorting them once suffices.
///
/// ```
/// use furui::HashSpec;
/// use furui::raw::{Found, WriteBuffer};
///
/// let hash = HashSpec::default().hash(b"seen");
/// let mut buffer = WriteBuffer::new();
/// assert_eq!(buffer.put(b"seen", hash, Found::Value(7)), None);
/// assert_eq!(buffer.get(b"seen", hash), Some(Found::Value(7)));
/// ```
#[derive(Clone, Default)]
pub struct WriteBuffer {
    /// The slots of the hash table: in each the upper half of a key's hash, then the place of the key's record, in
    /// [`UNIT`]s, plus one; 0 in an empty slot.
    slots: Vec<u64>,
    arena: Vec<u8>,
    keys: usize,
    crowded: bool,
    /// The places of the records, in [`UNIT`]s, in order of keys.
    order: OnceLock<Vec<u32>>,
}

impl fmt::Debug for WriteBuffer {
    /// Shows the size of the buffer, but not the keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteBuffer").field("keys", &self.keys).field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

/// A key in a [`WriteBuffer`], with its hash and its value.
///
/// ```
/// use furui::HashSpec;
/// use furui::raw::{Found, WriteBuffer};
///
/// let mut buffer = WriteBuffer::new();
/// for (value, key) in ["b", "a"].iter().enumerate() {
///     buffer.put(key.as_bytes(), HashSpec::default().hash(key.as_bytes()), Found::Value(value as u32));
/// }
/// let first = buffer.nth(0).expect("two keys");
/// assert_eq!((first.key, first.found), (&b"a"[..], Found::Value(1)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The bytes of the key, as they were put.
    pub key: &'a [u8],
    /// The hash with which the key was put.
    pub hash: KeyHash,
    /// The last value that was put for the key, or its deletion.
    pub found: Found,
}

impl WriteBuffer {
    /// The maximum number of bytes that a key takes in the buffer besides its own bytes.
    pub const KEY_BYTES: usize = HEADER + UNIT - 1;

    /// A buffer without keys, which takes no memory yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of keys, deletions included.
    pub fn len(&self) -> usize {
        self.keys
    }

    /// True if there are no keys in the buffer.
    pub fn is_empty(&self) -> bool {
        self.keys == 0
    }

    /// The size of the records (keys with their hashes and values) in the buffer, in bytes.
    pub fn bytes(&self) -> usize {
        self.arena.len()
    }

    /// True if a key of this length in bytes, at most [`MAX_KEY`], still fits into the buffer.
    pub fn has_room(&self, length: usize) -> bool {
        (self.arena.len() + record_len(length)) as u64 <= MAX_BYTES
    }

    /// Makes room for one more key of this length in bytes, so that [`put`](Self::put) does not run out of memory.
    ///
    /// # Errors
    /// If the system has no memory left.
    pub(crate) fn reserve(&mut self, length: usize) -> Result<(), TryReserveError> {
        self.arena.try_reserve(record_len(length))?;
        if self.is_due_to_grow() {
            // This only tests whether there is memory for the larger table. It is freed at once.
            Vec::<u64>::new().try_reserve_exact(self.grown_slots())?;
        }
        Ok(())
    }

    /// True if a search has probed more than [`MAX_PROBE_LENGTH`] slots: an adversary has chosen the keys, and knows
    /// how they are hashed. The buffer still takes keys, ever more slowly, and should be frozen as if it were full.
    pub(in crate::dict) fn is_crowded(&self) -> bool {
        self.crowded
    }

    /// Sets or deletes a key, and returns the value or deletion that this replaces.
    ///
    /// # Panics
    /// If the key is longer than [`MAX_KEY`], or [does not fit](Self::has_room).
    #[inline]
    pub fn put(&mut self, key: &[u8], hash: KeyHash, found: Found) -> Option<Found> {
        assert!(key.len() <= MAX_KEY && self.has_room(key.len()), "a key that fits");
        if self.is_due_to_grow() {
            self.grow();
        }
        match self.find(key, hash) {
            Ok(at) => {
                let old = self.record(at).found;
                self.write_found(at as usize * UNIT, key.len(), found);
                Some(old)
            }
            Err(slot) => {
                let at = self.arena.len();
                let probes = slot.wrapping_sub(home(upper(hash), self.slots.len())) & (self.slots.len() - 1);
                self.crowded |= probes >= MAX_PROBE_LENGTH;
                self.slots[slot] = upper(hash) << 32 | (at / UNIT + 1) as u64;
                self.arena.extend_from_slice(&hash.get().to_le_bytes());
                self.arena.extend_from_slice(&[0; HEADER - LENGTH]);
                self.arena.extend_from_slice(key);
                self.arena.resize(at + record_len(key.len()), 0);
                self.write_found(at, key.len(), found);
                self.keys += 1;
                self.order.take();
                None
            }
        }
    }

    /// The last value or the deletion of a key; `None` if the buffer does not have the key.
    #[inline]
    pub fn get(&self, key: &[u8], hash: KeyHash) -> Option<Found> {
        if self.slots.is_empty() {
            return None;
        }
        self.find(key, hash).ok().map(|at| self.record(at).found)
    }

    /// All keys, in order of arrival.
    pub(in crate::dict) fn arrivals(&self) -> impl Iterator<Item = Record<'_>> {
        let mut at = 0;
        iter::from_fn(move || {
            (at < self.arena.len()).then(|| {
                let record = self.record((at / UNIT) as u32);
                at += record_len(record.key.len());
                record
            })
        })
    }

    /// The key with index `index` in order of keys, counted from 0; `None` if there are fewer keys.
    ///
    /// # Panics
    /// If the keys are not [sorted](Self::sort), and there is no memory to sort them.
    pub fn nth(&self, index: usize) -> Option<Record<'_>> {
        self.order().get(index).map(|&at| self.record(at))
    }

    /// The number of keys that are less than `key`.
    ///
    /// # Panics
    /// Those of [`nth`](Self::nth).
    pub fn rank(&self, key: &[u8]) -> usize {
        self.order().partition_point(|&at| self.record(at).key < key)
    }

    /// Sorts the keys, so that [`nth`](Self::nth) and [`rank`](Self::rank) do not run out of memory before the next
    /// insertion.
    ///
    /// # Errors
    /// [`TrieError::NoMemory`].
    pub fn sort(&self) -> Result<(), TrieError> {
        if self.order.get().is_none() {
            let order = sort::in_order(self)?;
            self.order.get_or_init(|| order);
        }
        Ok(())
    }

    fn order(&self) -> &[u32] {
        self.order.get_or_init(|| sort::in_order(self).expect("memory for the order of keys"))
    }

    /// Finds a key. Returns the place of its record, in [`UNIT`]s, or as an error the index of the slot at which it can
    /// be inserted.
    #[inline]
    fn find(&self, key: &[u8], hash: KeyHash) -> Result<u32, usize> {
        let upper = upper(hash);
        let mut slot = home(upper, self.slots.len());
        loop {
            let found = self.slots[slot];
            if found == 0 {
                return Err(slot);
            }
            if found >> 32 == upper {
                let at = found as u32 - 1;
                if self.key(at) == key {
                    return Ok(at);
                }
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    /// True if one more key would fill more than 3/4 of the slots. Up to that load, searches are short.
    fn is_due_to_grow(&self) -> bool {
        self.keys * 4 >= self.slots.len() * 3
    }

    fn grown_slots(&self) -> usize {
        (2 * self.slots.len()).max(FIRST_SLOTS)
    }

    /// Doubles the number of slots. The new slots are written front to back, because the order of hashes is unchanged.
    fn grow(&mut self) {
        let size = self.grown_slots();
        let old = std::mem::replace(&mut self.slots, vec![0; size]);
        for found in old.into_iter().filter(|&found| found != 0) {
            let mut slot = home(found >> 32, size);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = found;
        }
    }

    fn write_found(&mut self, at: usize, length: usize, found: Found) {
        let (tombstone, value) = match found {
            Found::Value(value) => (0, value),
            Found::Deleted => (TOMBSTONE, 0),
        };
        put(&mut self.arena, at + LENGTH, (length as u32 | tombstone).to_le_bytes());
        put(&mut self.arena, at + VALUE, value.to_le_bytes());
    }

    #[inline]
    fn length(&self, at: usize) -> usize {
        (u32_at(&self.arena, at + LENGTH) & !TOMBSTONE) as usize
    }

    #[inline]
    fn key(&self, at: u32) -> &[u8] {
        let at = at as usize * UNIT;
        &self.arena[at + HEADER..][..self.length(at)]
    }

    #[inline]
    fn record(&self, at: u32) -> Record<'_> {
        let key = self.key(at);
        let at = at as usize * UNIT;
        let found = if u32_at(&self.arena, at + LENGTH) & TOMBSTONE == 0 {
            Found::Value(u32_at(&self.arena, at + VALUE))
        } else {
            Found::Deleted
        };
        Record { key, hash: KeyHash::new(u64_at(&self.arena, at)), found }
    }
}

/// The number of bytes that the record of a key of `key` bytes takes in a write buffer.
#[inline]
fn record_len(key: usize) -> usize {
    (HEADER + key).next_multiple_of(UNIT)
}

/// The upper half of a hash, which the key's slot holds.
#[inline]
fn upper(hash: KeyHash) -> u64 {
    hash.get() >> 32
}

/// The index of the slot at which the probe sequence of a hash begins. `upper` is the upper half of the hash.
#[inline]
fn home(upper: u64, slots: usize) -> usize {
    ((upper * slots as u64) >> 32) as usize
}
