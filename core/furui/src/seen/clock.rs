use super::index::{Index, SLOT_BYTES};
use super::observed::Observed;
use crate::error::{Error, Result};
use crate::hash::KeyHash;

/// An exact cache of the CLOCK kind. It approximates an LRU cache in two thirds of the memory, and a hit writes one bit
/// instead of six links.
///
/// Entries lie in a circle, and each has a mark, which a hit sets. For a new key the hand moves along the circle: it
/// clears the marks that it meets, and the new key replaces the first entry without a mark. A new key has no mark.
///
/// ```text
///   entries  [ x* ][ y ][ z* ][ w ]      * marked
///                    ^ hand: a new key takes the place of y, and then the hand stands at z
/// ```
///
/// The method is in section 3.1 of Kubota, Ueda and Yamana ("Efficient Duplicated URL Detection for Web Crawlers"),
/// after Broder, Najork and Wiener (WWW 2003).
///
/// Cost: at most 14 bytes for each entry; two cache misses for each observation. The time is O(1) on average, because
/// every mark that is cleared was set by an earlier observation.
///
/// ```
/// use furui::KeyHash;
/// use furui::raw::Clock;
/// use furui::seen::Observed;
///
/// let mut clock = Clock::new(2)?;
/// let [a, b, c] = [1, 2, 3].map(KeyHash::new);
/// clock.observe(a);
/// clock.observe(b);
/// assert_eq!(clock.observe(a), Observed::Hit);
/// assert_eq!(clock.observe(c), Observed::Miss { evicted: Some(b) });
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Clock {
    keys: Vec<KeyHash>,
    /// The marks of the entries, one bit for each, packed into bytes.
    marks: Vec<u8>,
    capacity: usize,
    /// The index of the entry at which the hand of the clock stands.
    hand: usize,
    index: Index,
}

/// The memory that an entry, its slots and its mark take, in bytes, rounded up.
pub(super) const KEY_BYTES: usize = size_of::<KeyHash>() + SLOT_BYTES + 1;

impl Clock {
    /// An empty cache with room for `capacity` keys, from 1 to 2³⁰.
    ///
    /// # Errors
    /// [`Error::Config`] for another capacity; [`Error::NoMemory`].
    pub fn new(capacity: usize) -> Result<Self> {
        let (index, keys) = Index::new("keys of a CLOCK cache", capacity, KEY_BYTES)?;
        let (mut marks, bytes) = (Vec::new(), capacity.div_ceil(8));
        marks.try_reserve_exact(bytes).map_err(|_| Error::NoMemory { what: "the marks of a CLOCK cache", bytes })?;
        marks.resize(bytes, 0);
        Ok(Self { keys, marks, capacity, hand: 0, index })
    }

    /// The number of keys for which the cache has room.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The number of keys in the cache. It never falls, and stays at [`capacity`](Self::capacity) once it is there.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// True if no key was observed yet.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Marks `key` if it is in the cache. Otherwise inserts it, and evicts another key if there is no room.
    pub fn observe(&mut self, key: KeyHash) -> Observed {
        let key_of = |number: u32| self.keys[number as usize];
        match self.index.find(key, key_of) {
            Ok(number) => {
                self.marks[number as usize / 8] |= 1 << (number % 8);
                Observed::Hit
            }
            Err(_) if self.keys.len() == self.capacity => {
                while self.marks[self.hand / 8] >> (self.hand % 8) & 1 == 1 {
                    self.marks[self.hand / 8] &= !(1 << (self.hand % 8));
                    self.hand = (self.hand + 1) % self.capacity;
                }
                let evicted = self.keys[self.hand];
                self.index.replace(self.hand as u32, evicted, key, key_of);
                self.keys[self.hand] = key;
                self.hand = (self.hand + 1) % self.capacity;
                Observed::Miss { evicted: Some(evicted) }
            }
            Err(gap) => {
                self.index.put(gap, self.keys.len() as u32);
                self.keys.push(key);
                Observed::Miss { evicted: None }
            }
        }
    }

    /// The keys in the cache, from the hand of the clock on. This is the order in which the keys would be evicted if no
    /// key had a mark.
    pub fn keys(&self) -> impl Iterator<Item = KeyHash> {
        let (before, behind) = self.keys.split_at(self.hand);
        behind.iter().chain(before).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_a_circle_with_marks(
            capacity in 1usize..40,
            picks in prop::collection::vec(0u64..64, 0..500),
            crowd in prop::sample::select(vec![1u64, 1 << 56, 1 << 58, u64::MAX]),
        ) {
            let mut clock = Clock::new(capacity).unwrap();
            // The circle from the hand on: each key with its mark.
            let mut model: Vec<(KeyHash, bool)> = vec![];
            for pick in picks {
                let key = KeyHash::new(pick.wrapping_mul(crowd));
                let expected = match model.iter().position(|entry| entry.0 == key) {
                    Some(at) => {
                        model[at].1 = true;
                        Observed::Hit
                    }
                    None if model.len() < capacity => {
                        model.push((key, false));
                        Observed::Miss { evicted: None }
                    }
                    None => {
                        while model[0].1 {
                            model[0].1 = false;
                            model.rotate_left(1);
                        }
                        let evicted = model.remove(0).0;
                        model.push((key, false));
                        Observed::Miss { evicted: Some(evicted) }
                    }
                };
                prop_assert_eq!(clock.observe(key), expected);
                prop_assert!(clock.keys().eq(model.iter().map(|entry| entry.0)));
            }
        }
    }

    #[test]
    fn no_room_and_too_much_are_refused() {
        assert!(matches!(Clock::new(0), Err(Error::Config(_))));
        assert!(Clock::new(usize::MAX).is_err());
    }
}
