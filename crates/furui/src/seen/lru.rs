use crate::bits::scale;
use crate::error::{Error, Result};
use crate::filter::ConfigError;
use crate::hash::KeyHash;

/// An exact cache of the least recently used kind: the first tier of Kubota, Ueda and Yamana (section 4.3), whose
/// evictions feed the stable filter behind it.
///
/// Entries lie in one vector and are linked by their numbers, from the newest to the oldest. A hash table with linear
/// probing maps keys to the numbers of their entries.
///
/// ```text
///   table      [ . 2 . 0 1 . ]           entry numbers
///   entries    [ x ][ y ][ z ]
///   newest -> 1 <-> 0 <-> 2 <- oldest    y x z: the next new key takes the place of z
/// ```
///
/// It is low level, a part of [`Seen`](super::Seen): it knows keys by bare hashes, and nothing checks that all were made
/// in one way.
///
/// Cost: at most 21 bytes for each entry (16, and 1.25 table slots of 4); about three cache misses for each
/// observation, O(1).
///
/// ```
/// use furui::KeyHash;
/// use furui::seen::{Lru, LruOutcome};
///
/// let mut lru = Lru::new(1)?;
/// let [a, b] = [1, 2].map(KeyHash::new);
/// assert_eq!(lru.observe(a), LruOutcome::Miss { evicted: None });
/// assert_eq!(lru.observe(a), LruOutcome::Hit);
/// assert_eq!(lru.observe(b), LruOutcome::Miss { evicted: Some(a) });
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Lru {
    entries: Vec<Entry>,
    capacity: u32,
    newest: u32,
    oldest: u32,
    /// The number of an entry plus 1, or 0 in an empty slot.
    table: Vec<u32>,
}

/// The outcome of observing a key.
///
/// ```
/// use furui::KeyHash;
/// use furui::seen::{Lru, LruOutcome};
///
/// let mut lru = Lru::new(2)?;
/// let evicted: Vec<u64> = [1, 2, 1, 3, 4]
///     .into_iter()
///     .filter_map(|key| match lru.observe(KeyHash::new(key)) {
///         LruOutcome::Miss { evicted } => evicted.map(KeyHash::get),
///         LruOutcome::Hit => None,
///     })
///     .collect();
/// assert_eq!(evicted, [2, 1]);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LruOutcome {
    /// The key was in the cache, and is now the newest.
    Hit,
    /// The key was not in the cache, and is now the newest.
    Miss {
        /// The oldest key, if it was evicted to make room.
        evicted: Option<KeyHash>,
    },
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: KeyHash,
    newer: u32,
    older: u32,
}

/// The bytes of an entry and its slots, rounded up.
pub(super) const KEY_BYTES: usize = 21;

/// The maximum number of keys in an LRU.
const MAX_CAPACITY: usize = 1 << 30;

/// The number that stands for no entry.
const NONE: u32 = u32::MAX;

impl Lru {
    /// An empty cache with room for `capacity` keys, from 1 to 2³⁰.
    ///
    /// # Errors
    /// [`Error::Config`] for another capacity; [`Error::NoMemory`].
    pub fn new(capacity: usize) -> Result<Self> {
        if !(1..=MAX_CAPACITY).contains(&capacity) {
            return Err(ConfigError::OutOfRange {
                what: "keys of an LRU cache",
                given: capacity as u64,
                least: 1,
                most: MAX_CAPACITY as u64,
            }
            .into());
        }
        let no_memory = |_| Error::NoMemory { what: "an LRU cache", bytes: capacity.saturating_mul(KEY_BYTES) };
        let (mut entries, mut table) = (Vec::new(), Vec::new());
        entries.try_reserve_exact(capacity).map_err(no_memory)?;
        // There is always an empty slot, so that every search ends.
        let slots = capacity + capacity / 4 + 1;
        table.try_reserve_exact(slots).map_err(no_memory)?;
        table.resize(slots, 0);
        Ok(Self { entries, capacity: capacity as u32, newest: NONE, oldest: NONE, table })
    }

    /// The number of keys for which there is room.
    pub fn capacity(&self) -> usize {
        self.capacity as usize
    }

    /// The number of keys in the cache.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if no key was observed yet.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Makes `key` the newest. The oldest key is evicted if there is no room.
    pub fn observe(&mut self, key: KeyHash) -> LruOutcome {
        match self.find(key) {
            Ok(slot) => {
                let number = self.table[slot] - 1;
                if number != self.newest {
                    self.unlink(number);
                    self.link_newest(number);
                }
                LruOutcome::Hit
            }
            Err(_) if self.entries.len() == self.capacity as usize => {
                let number = self.oldest;
                let evicted = self.entries[number as usize].key;
                self.unlink(number);
                self.empty_slot_of(evicted);
                self.entries[number as usize].key = key;
                // The search is repeated, because emptying a slot may have moved the gap.
                let slot = self.find(key).unwrap_or_else(|gap| gap);
                self.table[slot] = number + 1;
                self.link_newest(number);
                LruOutcome::Miss { evicted: Some(evicted) }
            }
            Err(gap) => {
                let number = self.entries.len() as u32;
                self.entries.push(Entry { key, newer: NONE, older: NONE });
                self.table[gap] = number + 1;
                self.link_newest(number);
                LruOutcome::Miss { evicted: None }
            }
        }
    }

    /// The slot where the search for a key begins. It grows with the hash.
    fn home(&self, key: KeyHash) -> usize {
        scale(key.get(), self.table.len())
    }

    fn next(&self, slot: usize) -> usize {
        if slot + 1 == self.table.len() { 0 } else { slot + 1 }
    }

    /// The slot that leads to `key`, or as an error the empty slot where the search ended.
    fn find(&self, key: KeyHash) -> std::result::Result<usize, usize> {
        let mut slot = self.home(key);
        loop {
            match self.table[slot] {
                0 => return Err(slot),
                number if self.entries[number as usize - 1].key == key => return Ok(slot),
                _ => slot = self.next(slot),
            }
        }
    }

    /// Empties the slot that leads to `key`, and moves later slots back over the gap unless that would bring them
    /// before their home.
    fn empty_slot_of(&mut self, key: KeyHash) {
        let Ok(mut gap) = self.find(key) else { return };
        let mut slot = self.next(gap);
        while self.table[slot] != 0 {
            let home = self.home(self.entries[self.table[slot] as usize - 1].key);
            // Distances wrap around the end of the table.
            let size = self.table.len();
            let from_home = (slot + size - home) % size;
            let from_gap = (slot + size - gap) % size;
            if from_home >= from_gap {
                self.table[gap] = self.table[slot];
                gap = slot;
            }
            slot = self.next(slot);
        }
        self.table[gap] = 0;
    }

    fn unlink(&mut self, number: u32) {
        let Entry { newer, older, .. } = self.entries[number as usize];
        match self.entries.get_mut(newer as usize) {
            Some(entry) => entry.older = older,
            None => self.newest = older,
        }
        match self.entries.get_mut(older as usize) {
            Some(entry) => entry.newer = newer,
            None => self.oldest = newer,
        }
    }

    fn link_newest(&mut self, number: u32) {
        let older = self.newest;
        match self.entries.get_mut(older as usize) {
            Some(entry) => entry.newer = number,
            None => self.oldest = number,
        }
        let entry = &mut self.entries[number as usize];
        (entry.newer, entry.older) = (NONE, older);
        self.newest = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_a_list_that_is_searched_from_the_front(
            capacity in 1usize..40,
            picks in prop::collection::vec(0u64..64, 0..500),
            // Few homes, far apart in the table or at its very end: long searches that wrap around.
            crowd in prop::sample::select(vec![1u64, 1 << 56, 1 << 58, u64::MAX]),
        ) {
            let mut lru = Lru::new(capacity).unwrap();
            let mut model: Vec<KeyHash> = vec![];
            for pick in picks {
                let key = KeyHash::new(pick.wrapping_mul(crowd));
                let expected = match model.iter().position(|&other| other == key) {
                    Some(at) => {
                        model.remove(at);
                        LruOutcome::Hit
                    }
                    None if model.len() == capacity => LruOutcome::Miss { evicted: model.pop() },
                    None => LruOutcome::Miss { evicted: None },
                };
                model.insert(0, key);
                prop_assert_eq!(lru.observe(key), expected);
                prop_assert_eq!(lru.len(), model.len());
            }
        }
    }

    #[test]
    fn no_room_and_too_much_are_refused() {
        assert!(matches!(Lru::new(0), Err(Error::Config(ConfigError::OutOfRange { given: 0, least: 1, .. }))));
        assert!(Lru::new(usize::MAX).is_err());
    }
}
