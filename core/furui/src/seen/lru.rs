use super::index::{Index, SLOT_BYTES};
use super::observed::Observed;
use crate::error::Result;
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
/// This type is low level, a part of [`Seen`](super::Seen): it takes bare hashes, and nothing checks how the caller
/// made them.
///
/// Cost: at most 21 bytes for each entry (16 bytes, and 1.25 table slots of 4 bytes); about three cache misses for each
/// observation, which takes O(1) time.
///
/// ```
/// use furui::KeyHash;
/// use furui::raw::Lru;
/// use furui::seen::Observed;
///
/// let mut lru = Lru::new(1)?;
/// let [a, b] = [1, 2].map(KeyHash::new);
/// assert_eq!(lru.observe(a), Observed::Miss { evicted: None });
/// assert_eq!(lru.observe(a), Observed::Hit);
/// assert_eq!(lru.observe(b), Observed::Miss { evicted: Some(a) });
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Lru {
    entries: Vec<Entry>,
    capacity: u32,
    newest: u32,
    oldest: u32,
    index: Index,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: KeyHash,
    newer: u32,
    older: u32,
}

/// The memory that an entry of the cache and its slots take, in bytes.
pub(super) const KEY_BYTES: usize = size_of::<Entry>() + SLOT_BYTES;

/// The entry number that stands for "no entry".
const NONE: u32 = u32::MAX;

impl Lru {
    /// An empty cache with room for `capacity` keys, from 1 to 2³⁰.
    ///
    /// # Errors
    /// [`Error::Config`](crate::Error::Config) for another capacity; [`Error::NoMemory`](crate::Error::NoMemory).
    pub fn new(capacity: usize) -> Result<Self> {
        let (index, entries) = Index::new("keys of an LRU cache", capacity, KEY_BYTES)?;
        Ok(Self { entries, capacity: capacity as u32, newest: NONE, oldest: NONE, index })
    }

    /// The number of keys for which the cache has room.
    pub fn capacity(&self) -> usize {
        self.capacity as usize
    }

    /// The number of keys in the cache. It never falls, and stays at [`capacity`](Self::capacity) once it is there.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if no key was observed yet.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Makes `key` the most recently used one. If there is no room for it, the least recently used key is evicted.
    pub fn observe(&mut self, key: KeyHash) -> Observed {
        let key_of = |number: u32| self.entries[number as usize].key;
        match self.index.find(key, key_of) {
            Ok(number) => {
                if number != self.newest {
                    self.unlink(number);
                    self.link_newest(number);
                }
                Observed::Hit
            }
            Err(_) if self.entries.len() == self.capacity as usize => {
                let number = self.oldest;
                let evicted = key_of(number);
                self.index.replace(number, evicted, key, key_of);
                self.unlink(number);
                self.entries[number as usize].key = key;
                self.link_newest(number);
                Observed::Miss { evicted: Some(evicted) }
            }
            Err(gap) => {
                let number = self.entries.len() as u32;
                self.entries.push(Entry { key, newer: NONE, older: NONE });
                self.index.put(gap, number);
                self.link_newest(number);
                Observed::Miss { evicted: None }
            }
        }
    }

    /// The keys in the cache, in the order in which they would be evicted.
    pub fn keys(&self) -> impl Iterator<Item = KeyHash> {
        let entry = |number: u32| self.entries.get(number as usize);
        std::iter::successors(entry(self.oldest), move |oldest| entry(oldest.newer)).map(|entry| entry.key)
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
    use crate::error::Error;
    use crate::filter::ConfigError;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_a_list_that_is_searched_from_the_front(
            capacity in 1usize..40,
            picks in prop::collection::vec(0u64..64, 0..500),
            // These factors put all keys at a few homes, far apart or at the end of the table: searches are long and
            // wrap around.
            crowd in prop::sample::select(vec![1u64, 1 << 56, 1 << 58, u64::MAX]),
        ) {
            let mut lru = Lru::new(capacity).unwrap();
            let mut model: Vec<KeyHash> = vec![];
            for pick in picks {
                let key = KeyHash::new(pick.wrapping_mul(crowd));
                let expected = match model.iter().position(|&other| other == key) {
                    Some(at) => {
                        model.remove(at);
                        Observed::Hit
                    }
                    None if model.len() == capacity => Observed::Miss { evicted: model.pop() },
                    None => Observed::Miss { evicted: None },
                };
                model.insert(0, key);
                prop_assert_eq!(lru.observe(key), expected);
                prop_assert_eq!(lru.len(), model.len());
                prop_assert!(lru.keys().eq(model.iter().rev().copied()));
            }
        }
    }

    #[test]
    fn no_room_and_too_much_are_refused() {
        assert!(matches!(Lru::new(0), Err(Error::Config(ConfigError::OutOfRange { given: 0, least: 1, .. }))));
        assert!(Lru::new(usize::MAX).is_err());
    }
}
