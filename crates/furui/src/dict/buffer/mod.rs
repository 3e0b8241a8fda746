//! What was put last; see [`WriteBuffer`].

mod sort;

use std::collections::TryReserveError;
use std::fmt;
use std::iter;
use std::sync::OnceLock;

use super::{Found, MAX_KEY, TrieError};
use crate::format::field::{put, u32_at, u64_at};
use crate::hash::KeyHash;

/// What stands before the bytes of a key in the arena: its hash, its length and whether it is deleted, its value.
const HEADER: usize = 16;
const LENGTH: usize = 8;
const VALUE: usize = 12;
/// Set in the length of a key that is deleted.
const TOMBSTONE: u32 = 1 << 31;

/// Records begin at multiples of this, so that 32 bits reach [`MAX_BYTES`].
const UNIT: usize = 8;

/// The most bytes of records a buffer takes: 16 GiB.
const MAX_BYTES: u64 = 1 << 34;

/// The most slots that a search looks at before the buffer is [crowded](WriteBuffer::is_crowded). Of a hundred million keys
/// whose hashes are random none is so far from its place but with a chance of 10⁻⁸.
pub const MAX_PROBE_LENGTH: usize = 1024;

/// Slots of a new table; a power of two, as it stays.
const FIRST_SLOTS: usize = 64;

/// The newest keys: "what was put last?", answered at once, and in order when it is time to freeze them.
///
/// ```text
///   slots   │ hash ¦ at │         │ hash ¦ at │ …     8 bytes each: the upper half of the hash, and where the record is
///                   │                     │
///   arena   │ hash, length, value, key │ hash, length, value, key │ …      in order of arrival
/// ```
///
/// An open-addressing table of 8-byte slots over one arena: a new key is appended, never allocated by itself. The place
/// of a slot is that of its hash among all hashes, so that the table is doubled front to back without a look at a key.
/// A deleted key is a record like any other, for it has to hide what older tries say.
///
/// Space: the key, 16 bytes, 4 on average to the next multiple of 8, and 11 to 21 of slots. Cost: two cache misses a
/// lookup; none but the slot's for a key that is not there.
///
/// The order of keys is worked out when it is first asked for, and again after new keys came: a multikey quicksort
/// that looks at 8 bytes of the keys at a time (J. Bentley and R. Sedgewick, "Fast Algorithms for Sorting and Searching
/// Strings", SODA 1997; the 8 bytes beside each reference are those of W. Ng and K. Kakehi, "Cache Efficient Radix Sort for
/// String Sorting", 2007).
///
/// Difference from the paper (T. Koyanagi et al., "Method to Build Bloom Filters for Online Building of LOUDS TRIE",
/// 2011): there the buffer is a dynamic double array, which takes three times the memory of a hash table and six times
/// as long to insert into; the order that it would give is found by sorting once.
#[derive(Clone, Default)]
pub struct WriteBuffer {
    /// The upper half of the hash, then where its record begins in [`UNIT`]s, plus one; 0 if the slot is free.
    slots: Vec<u64>,
    arena: Vec<u8>,
    keys: usize,
    crowded: bool,
    /// Where the records begin, in [`UNIT`]s, in the order of their keys.
    order: OnceLock<Vec<u32>>,
}

impl fmt::Debug for WriteBuffer {
    /// Shows how much it holds, not the keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteBuffer").field("keys", &self.keys).field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

/// A key in a [`WriteBuffer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The key.
    pub key: &'a [u8],
    /// Its hash, as it was given.
    pub hash: KeyHash,
    /// What was put last.
    pub found: Found,
}

impl WriteBuffer {
    /// How many bytes a record takes at most beyond its key.
    pub const KEY_BYTES: usize = HEADER + UNIT - 1;

    /// An empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many keys it holds, deleted ones too.
    pub fn len(&self) -> usize {
        self.keys
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.keys == 0
    }

    /// How many bytes its records take.
    pub fn bytes(&self) -> usize {
        self.arena.len()
    }

    /// Whether a key of this length, at most [`MAX_KEY`], still fits.
    pub fn has_room(&self, length: usize) -> bool {
        (self.arena.len() + record_len(length)) as u64 <= MAX_BYTES
    }

    /// Makes room for one more key of this length, so that [`put`](Self::put) does not fail for want of memory.
    ///
    /// # Errors
    /// If the system has no more memory.
    pub fn reserve(&mut self, length: usize) -> Result<(), TryReserveError> {
        self.arena.try_reserve(record_len(length))?;
        if self.is_due_to_grow() {
            // Given back at once: it is there for the new table, which takes the place of the old one.
            Vec::<u64>::new().try_reserve_exact(self.grown_slots())?;
        }
        Ok(())
    }

    /// Whether searches have become longer than [`MAX_PROBE_LENGTH`]: somebody has chosen the keys, and knows how they are hashed.
    /// It takes more keys, ever slower; it is time to freeze it, as if it were full.
    pub fn is_crowded(&self) -> bool {
        self.crowded
    }

    /// Puts a key in, or deletes it: what was put last counts. What it replaces is returned.
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

    /// What was put last for a key, if it is here.
    #[inline]
    pub fn get(&self, key: &[u8], hash: KeyHash) -> Option<Found> {
        if self.slots.is_empty() {
            return None;
        }
        self.find(key, hash).ok().map(|at| self.record(at).found)
    }

    /// All keys, in order of arrival.
    pub fn arrivals(&self) -> impl Iterator<Item = Record<'_>> {
        let mut at = 0;
        iter::from_fn(move || {
            (at < self.arena.len()).then(|| {
                let record = self.record((at / UNIT) as u32);
                at += record_len(record.key.len());
                record
            })
        })
    }

    /// The key that is `index`-th in order, counted from 0, if there are so many.
    ///
    /// # Panics
    /// If they are not [sorted](Self::sort), and there is no memory to do that.
    pub fn nth(&self, index: usize) -> Option<Record<'_>> {
        self.order().get(index).map(|&at| self.record(at))
    }

    /// How many keys are less than `key`: the index from which on they are not.
    ///
    /// # Panics
    /// As [`nth`](Self::nth).
    pub fn rank(&self, key: &[u8]) -> usize {
        self.order().partition_point(|&at| self.record(at).key < key)
    }

    /// Works out the order of keys, so that [`nth`](Self::nth) and [`rank`](Self::rank) do not fail for want of memory
    /// before the next one comes.
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

    /// Where the record of a key begins, or else the slot that it should have.
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

    /// At most 3/4 of the slots are taken, so that a search ends soon.
    fn is_due_to_grow(&self) -> bool {
        self.keys * 4 >= self.slots.len() * 3
    }

    fn grown_slots(&self) -> usize {
        (2 * self.slots.len()).max(FIRST_SLOTS)
    }

    /// Doubles the slots. In their new order they are met front to back.
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

/// Bytes of a record whose key has this length.
#[inline]
fn record_len(key: usize) -> usize {
    (HEADER + key).next_multiple_of(UNIT)
}

/// The half of a hash that a slot keeps.
#[inline]
fn upper(hash: KeyHash) -> u64 {
    hash.get() >> 32
}

/// The first slot to look at.
#[inline]
fn home(upper: u64, slots: usize) -> usize {
    ((upper * slots as u64) >> 32) as usize
}
