use crate::bits::arch::prefetch_for_write;
use crate::bits::scale;
use crate::filter::{ConfigError, Filter, FilterMut, Full};
use crate::hash::{HashSpec, KeyHash};

/// The number of keys by which the prefetch is ahead of the look-ups of a batch.
const AHEAD: usize = 16;
/// A cache of at most this size, in bytes, is not prefetched, because it fits into the caches of a processor core.
const NEAR_BYTES: usize = 1 << 20;

/// The recently seen keys, in one array. It answers the question "was this key here a moment ago?"
///
/// The upper part of a key's hash selects a set of `WAYS` adjacent slots, and the lower part is the key's tag. A key is
/// remembered if its tag is in its set. The newest tag is in front, and a tag that is pushed off the end is forgotten.
///
/// ```text
///   set 0   [ tag tag tag  .  ]
///   set 1   [ tag tag tag tag ]    observe x, a new key of set 1:  [ x tag tag tag ] -> the oldest is gone
///   set 2   [ tag  .   .   .  ]
/// ```
///
/// With `u64` the tag is the whole hash, so a key is never taken for another. Narrower tags remember two or four times
/// as many keys in the same memory, but have false positives: a new key equals one of the c tags in its set with
/// probability c/2^b for tags of b bits, at most `WAYS`/2^b.
///
/// Cost: one tag a key, no pointers. An observation touches one cache line, or two if the set lies in two lines, and
/// takes 1 ns with 1 way, 2 ns with 4 ways, and 4 ns with 8. With 1 way, a key is forgotten as soon as another one
/// needs its slot: of the links of a crawl, 11.9 % were misses in a cache of 1024 entries with 1 way, 7.7 % with 4 ways
/// and 6.1 % with 8. So take 1 way if the next step after a miss takes tens of nanoseconds, and 4 ways if it reads
/// storage.
///
/// The cache replaces the LRU list and the stable filter of Kubota, Ueda and Yamana (section 4.3). Its memory is
/// compared here with an LRU of 21 bytes an entry that has the same number of misses in that crawl: `u16` tags with 8
/// ways take at least 77 % less, `u32` tags with 4 ways 34 to 87 % less, and `u64` tags with 4 ways from 75 % less to
/// 27 % more. `u64` tags with 1 way take up to 6 times as much, if the LRU is just large enough for the keys that come
/// again. The paper's tiers take 51 to 87 % less at a rate of 1 %, and drop 0.3 to 0.5 % of the new keys; `u16` tags
/// dropped 0.02 %, wider tags none. The layout is that of a processor cache.
///
/// This type is low level, a part of [`Seen`](super::Seen): it takes bare hashes, and nothing checks how the caller
/// made them.
///
/// ```
/// use furui::HashSpec;
/// use furui::seen::Recent;
///
/// let mut recent = Recent::<u64>::new(1024)?;
/// let keys = ["a", "b", "a"].map(|line| HashSpec::default().hash(line.as_bytes()));
/// assert_eq!(keys.map(|key| recent.observe(key)), [false, false, true]);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Recent<T: RecentTag, const WAYS: usize = 4> {
    sets: Vec<[T; WAYS]>,
    hash: HashSpec,
}

/// The part of a key that [`Recent`] stores: `u16`, `u32`, or `u64` for the whole hash.
pub trait RecentTag: Copy + Eq + private::Sealed {
    /// The number of bits of a tag, which is the part of a key's hash that the cache stores.
    const BITS: u32;
    /// The tag of a key, which never equals [`vacant`](Self::vacant) of the key's set.
    fn of(key: KeyHash) -> Self;
    /// The value that marks an empty slot in the set with this index.
    fn vacant(set: usize) -> Self;
}

mod private {
    pub trait Sealed {}
    impl Sealed for u16 {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

impl RecentTag for u16 {
    const BITS: u32 = 16;
    #[inline]
    fn of(key: KeyHash) -> Self {
        // The lower half of the hash, scaled evenly to 1..=65535; 0 is an empty slot.
        let low = u64::from(key.get() as u32);
        1 + ((low * 0xFFFF) >> 32) as u16
    }
    fn vacant(_set: usize) -> Self {
        0
    }
}

impl RecentTag for u32 {
    const BITS: u32 = 32;
    #[inline]
    fn of(key: KeyHash) -> Self {
        (key.get() as u32).max(1)
    }
    fn vacant(_set: usize) -> Self {
        0
    }
}

impl RecentTag for u64 {
    const BITS: u32 = 64;
    #[inline]
    fn of(key: KeyHash) -> Self {
        key.get()
    }
    /// A hash that never belongs to this set stands for an empty slot, so that every hash can be stored. In the first
    /// set it is a hash of the last set, and in all other sets a hash of the first set.
    fn vacant(set: usize) -> Self {
        if set == 0 { u64::MAX } else { 0 }
    }
}

/// The maximum number of keys for which a [`Recent`] cache can have room.
const MAX_ENTRIES: u64 = 1 << 40;

impl<T: RecentTag, const WAYS: usize> Recent<T, WAYS> {
    /// An empty cache with room for `entries` keys, rounded up to whole sets.
    ///
    /// # Errors
    /// If `entries` does not exceed one set, is more than 2⁴⁰, or is more than there is memory for.
    pub fn new(entries: usize) -> Result<Self, ConfigError> {
        const { assert!(WAYS > 0, "a set has at least one way") };
        if entries <= WAYS || entries as u64 > MAX_ENTRIES {
            return Err(ConfigError::OutOfRange {
                what: "recent keys to make room for",
                given: entries as u64,
                least: WAYS as u64 + 1,
                most: MAX_ENTRIES,
            });
        }
        let mut sets = Vec::new();
        sets.try_reserve_exact(entries.div_ceil(WAYS))
            .map_err(|_| ConfigError::NoMemory { count: entries, what: "recent keys" })?;
        sets.extend((0..entries.div_ceil(WAYS)).map(|set| [T::vacant(set); WAYS]));
        Ok(Self { sets, hash: HashSpec::default() })
    }

    /// This cache, for keys that are hashed by `hash` instead of by [`HashSpec::default`].
    #[must_use]
    pub fn hashed_by(self, hash: HashSpec) -> Self {
        Self { hash, ..self }
    }

    /// The number of keys for which the cache has room.
    pub fn capacity(&self) -> usize {
        self.sets.len() * WAYS
    }

    /// Makes `key` the most recent one of its set. Returns true if the set had it already.
    #[inline]
    pub fn observe(&mut self, key: KeyHash) -> bool {
        let set = scale(key.get(), self.sets.len());
        move_to_front(&mut self.sets[set], T::of(key))
    }

    /// Observes `keys` in order, as [`observe`](Self::observe) does, and appends to `misses` the indices in `keys` of
    /// the keys that were not remembered. No branch depends on a key.
    ///
    /// # Panics
    /// If `keys` has 2³² keys or more.
    pub fn observe_all(&mut self, keys: &[KeyHash], misses: &mut Vec<u32>) {
        assert!(u32::try_from(keys.len()).is_ok(), "batches are shorter than 2^32 keys");
        let old = misses.len();
        misses.resize(old + keys.len(), 0);
        let large = size_of_val(self.sets.as_slice()) > NEAR_BYTES;
        let mut count = 0;
        let slots = &mut misses[old..];
        for (i, &key) in keys.iter().enumerate() {
            if large && let Some(later) = keys.get(i + AHEAD) {
                prefetch_for_write(&self.sets, scale(later.get(), self.sets.len()));
            }
            // count <= i. The index is always written, and kept only if the key is a miss.
            slots[count] = i as u32;
            count += usize::from(!self.observe(key));
        }
        misses.truncate(old + count);
    }

    /// The number of slots that hold a key. Cost: one pass over the array.
    fn occupied(&self) -> usize {
        let taken = |(set, tags): (usize, &[T; WAYS])| tags.iter().filter(|&&tag| tag != T::vacant(set)).count();
        self.sets.iter().enumerate().map(taken).sum()
    }
}

/// Moves `tag` to the front of its set. The tags before it (all tags, if `tag` is not in the set) move one slot to the
/// right. True if `tag` was in the set.
#[inline]
fn move_to_front<T: RecentTag, const WAYS: usize>(tags: &mut [T; WAYS], tag: T) -> bool {
    let mut found = false;
    let mut newer = tag;
    for slot in tags {
        let here = *slot;
        *slot = if found { here } else { newer };
        found |= here == tag;
        newer = here;
    }
    found
}

impl<T: RecentTag, const WAYS: usize> Filter for Recent<T, WAYS> {
    fn hash_spec(&self) -> HashSpec {
        self.hash
    }

    fn contains_hash(&self, key: KeyHash) -> bool {
        self.sets[scale(key.get(), self.sets.len())].contains(&T::of(key))
    }

    fn forgets(&self) -> bool {
        true
    }

    /// The rate c/2^b, where a set holds c tags of b bits on average. If tag and set together have more bits than the
    /// hash, the rate is the number of remembered keys divided by 2⁶⁴. Cost: one pass over the array.
    fn false_positive_rate(&self) -> f64 {
        let a_tag = 2f64.powi(-(T::BITS as i32)) / self.sets.len() as f64;
        self.occupied() as f64 * a_tag.max(2f64.powi(-64))
    }
}

impl<T: RecentTag, const WAYS: usize> FilterMut for Recent<T, WAYS> {
    /// Inserts the key with this hash. Returns true if the key was not remembered: it is new, or was forgotten. A
    /// [`Recent`] is never full.
    fn insert_hash(&mut self, key: KeyHash) -> Result<bool, Full> {
        Ok(!self.observe(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(i: u64) -> KeyHash {
        HashSpec::default().hash(&i.to_le_bytes())
    }

    /// The misses of a model in which every set is a list, newest first.
    fn model_of(sets: usize, ways: usize, keys: &[KeyHash]) -> Vec<u32> {
        let mut model: Vec<Vec<KeyHash>> = vec![vec![]; sets];
        let mut misses = vec![];
        for (i, &key) in keys.iter().enumerate() {
            let set = &mut model[scale(key.get(), sets)];
            match set.iter().position(|&other| other == key) {
                Some(at) => drop(set.remove(at)),
                None => misses.push(i as u32),
            }
            set.insert(0, key);
            set.truncate(ways);
        }
        misses
    }

    fn misses_of<const WAYS: usize>(keys: &[KeyHash]) -> Vec<u32> {
        let mut recent = Recent::<u64, WAYS>::new(5 * WAYS).unwrap();
        let mut misses = vec![];
        for batch in keys.chunks(37) {
            let base = misses.len();
            let start = (batch.as_ptr() as usize - keys.as_ptr() as usize) / size_of::<KeyHash>();
            recent.observe_all(batch, &mut misses);
            misses[base..].iter_mut().for_each(|i| *i += start as u32);
        }
        misses
    }

    proptest! {
        #[test]
        fn whole_hashes_behave_as_a_short_list_a_set(picks in prop::collection::vec(0u64..60, 0..400)) {
            // Keys 0 and 1 have the two hashes that vacant slots hold.
            let hash = |&i: &u64| match i { 0 => KeyHash::new(0), 1 => KeyHash::new(u64::MAX), i => key(i) };
            let keys: Vec<KeyHash> = picks.iter().map(hash).collect();
            prop_assert_eq!(misses_of::<1>(&keys), model_of(5, 1, &keys));
            prop_assert_eq!(misses_of::<2>(&keys), model_of(5, 2, &keys));
            prop_assert_eq!(misses_of::<8>(&keys), model_of(5, 8, &keys));
        }
    }

    #[test]
    fn narrow_tags_err_as_often_as_the_formula_says() {
        const TRIALS: u64 = 3_000_000;
        let mut recent = Recent::<u16, 8>::new(1 << 14).unwrap();
        for inserted in [1u64 << 13, 1 << 17] {
            for i in 0..inserted {
                recent.observe(key(i));
            }
            let hits = (0..TRIALS).filter(|&i| recent.contains_hash(key(1 << 40 | i))).count() as f64;
            let expected = recent.false_positive_rate() * TRIALS as f64;
            assert!((hits - expected).abs() < 3.0 * expected.sqrt(), "{hits} false positives, {expected} expected");
        }
        assert!((recent.false_positive_rate() * 65536.0 - 8.0).abs() < 1e-9, "full: 8 / 2^16");
    }

    #[test]
    fn less_than_two_sets_is_refused() {
        assert!(Recent::<u64>::new(4).unwrap_err().to_string().contains("from 5"));
        assert_eq!(Recent::<u64>::new(5).unwrap().capacity(), 8);
        assert!(Recent::<u32, 1>::new(usize::MAX).is_err());
    }
}
