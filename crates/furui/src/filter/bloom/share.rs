use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::super::ConfigError;
use super::super::copies::Copies;
use super::super::probes::{Probes, positions, salted_positions};
use super::Bloom;
use super::gathered::{Gathered, MAX_PART_BITS, PARTS};
use super::probing::Shape;
use crate::bits::arch::atomic::{SharedWord, is_set, set_alone, set_in_turn, shared_words, take_turn};
use crate::bits::arch::{Words, prefetch_for_write};
use crate::hash::{HashAlgorithm, HashSpec, KeyHash};

/// How many bits ahead the lines of a part are asked for.
const AHEAD: usize = 128;

/// A Bloom filter that several threads fill at once, through `&self`.
///
/// Of a filter of up to 4 MiB each thread that inserts batches has a copy, empty at first, for as long as the filter is shared:
/// threads that write to the same cache lines wait for each other, and in a small filter they are all the same. Lookups ask the
/// copies too, and in the end the filter is united with them.
///
/// The words are in parts, and each part has a lock. Into a larger filter, or until so many keys came in batches as a small one
/// has cache lines, since fewer are not worth a copy, a thread gathers the bits of many keys by part, and sets up to 1024 at a time
/// while it holds the part's lock: one lock is cheaper than as many atomic instructions, and threads seldom want the same part, or
/// a line of it that another one has changed since.
///
/// In the words a key that comes alone needs no lock: bits that are not set yet are, by atomic instructions, and if somebody turns out to have
/// held the part's lock meanwhile, once more.
///
/// ```
/// use furui::HashSpec;
/// use furui::filter::{Bloom, Filter};
///
/// let keys: Vec<_> = (0..10_000u64).map(|i| HashSpec::default().hash(&i.to_le_bytes())).collect();
/// let mut filter = Bloom::with_rate(10_000, 0.01)?;
/// let shared = filter.share();
/// std::thread::scope(|scope| {
///     for share in keys.chunks(5000) {
///         scope.spawn(|| shared.insert_all(share));
///     }
/// });
/// drop(shared);
/// assert!(keys.iter().all(|&key| filter.contains(key)));
/// # Ok::<(), furui::Error>(())
/// ```
pub struct SharedBloom<'a> {
    words: &'a [AtomicU64],
    copies: Copies<Bloom>,
    parts: [Part; PARTS],
    /// The bits of a position below those that tell its part.
    part_bits: u32,
    shape: Shape,
    hash: HashSpec,
    /// Of threads that have inserted, for the next ones.
    free: Mutex<Vec<Gathered>>,
}

impl std::fmt::Debug for SharedBloom<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedBloom").field("hash", &self.hash).finish_non_exhaustive()
    }
}

/// What threads need to know of a part of the words, on a cache line of its own: those that want different parts do not
/// disturb each other.
#[derive(Default)]
#[repr(align(64))]
struct Part {
    lock: Mutex<()>,
    /// See [`take_turn`].
    turns: AtomicU64,
}

impl Bloom {
    /// Lends the filter to several threads, for as long as they insert: drop it to have all keys in the filter. (One that is
    /// [forgotten](std::mem::forget) may take keys along.)
    pub fn share(&mut self) -> SharedBloom<'_> {
        let (shape, hash) = (self.shape(), self.hash);
        let copies = Copies::new(self.words.len());
        // Whole words, and the first power of two with which PARTS parts hold all bits.
        let part_bits = shape.bits.div_ceil(PARTS).next_power_of_two().max(64).ilog2();
        let words = shared_words(&mut self.words).expect("a buffer begins at a cache line and has whole words");
        let parts = std::array::from_fn(|_| Part::default());
        SharedBloom { words, copies, parts, part_bits, shape, hash, free: Mutex::default() }
    }
}

impl SharedBloom<'_> {
    /// Puts `key` in. True if a bit of it was not set: then it was certainly new. Of threads that insert equal keys at the same
    /// time, more than one may be told so. Cost: where a bit is not set yet, an atomic instruction for each, so that a new key
    /// takes four to six times what it takes in a batch; for one that was there nothing is written. After batches of a small
    /// filter, a look into each copy too, which may wait as [`contains`](Self::contains) does.
    pub fn insert(&self, key: KeyHash) -> bool {
        let Shape { bits, probes, .. } = self.shape;
        if self.copies.contains(key) {
            return false;
        }
        if self.salted() {
            return self.set_alone(salted_positions(key, probes, bits));
        }
        self.set_alone(positions(key, probes, bits))
    }

    /// Whether `key` may be in the set: it is if its insertion has returned, in whatever thread. May wait for threads that
    /// insert batches into copies, for some thousand keys each.
    pub fn contains(&self, key: KeyHash) -> bool {
        let Shape { bits, probes, .. } = self.shape;
        let is_set = |position: usize| self.words[position / 64].get() >> (position % 64) & 1 == 1;
        let set = if self.salted() {
            salted_positions(key, probes, bits).all(is_set)
        } else {
            positions(key, probes, bits).all(is_set)
        };
        set || self.copies.contains(key)
    }

    /// Puts many keys in: they are there when it returns. Give it ten thousand at a time.
    ///
    /// Cost: into a copy what [`FilterMut::insert_all`](crate::filter::FilterMut::insert_all) takes, in as many threads as there are
    /// processors; part by part, up to 1.3 times of it in a far cache, and three quarters in main memory. Memory: up to 16 copies;
    /// or half a MiB for each thread, as long as the filter is shared. A filter of more than 64 GiB takes keys one by one.
    pub fn insert_all(&self, keys: &[KeyHash]) {
        if self.copies.insert_all(keys, || self.empty()) {
            return;
        }
        if self.part_bits > MAX_PART_BITS {
            return keys.iter().for_each(|&key| _ = self.insert(key));
        }
        let mut gathered = self.free().pop().unwrap_or_else(Gathered::new);
        Words::detect().run(
            #[inline(always)]
            |words| self.insert_by_parts(words, keys, &mut gathered),
        );
        self.free().push(gathered);
    }

    fn salted(&self) -> bool {
        self.hash.algorithm == HashAlgorithm::Sha1
    }

    /// A filter of this shape without keys.
    fn empty(&self) -> Result<Bloom, ConfigError> {
        let Shape { bits, probes, .. } = self.shape;
        Ok(Bloom::from_parts(bits as u64, probes)?.hashed_by(self.hash))
    }

    /// Gathers the bits of all keys, and sets them.
    #[inline(always)]
    fn insert_by_parts(&self, words: Words, keys: &[KeyHash], gathered: &mut Gathered) {
        let Shape { bits, probes, .. } = self.shape;
        for &key in keys {
            if self.salted() {
                salted_positions(key, probes, bits).for_each(|position| self.gather(words, position, gathered));
            } else {
                let mut sequence = Probes::of(key);
                for _ in 0..probes {
                    self.gather(words, sequence.next(bits), gathered);
                }
            }
        }
        for part in 0..PARTS {
            self.set_all(words, part, gathered.take(part));
        }
    }

    /// Gathers a bit, and if its part has many then, sets those.
    #[inline(always)]
    fn gather(&self, words: Words, position: usize, gathered: &mut Gathered) {
        let part = position >> self.part_bits;
        if gathered.push(part, position as u32) {
            self.set_all(words, part, gathered.take(part));
        }
    }

    fn free(&self) -> MutexGuard<'_, Vec<Gathered>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self, part: usize) -> MutexGuard<'_, ()> {
        // The lock guards no state that a panic could leave half done.
        self.parts[part].lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets bits of a part: of each, what is below [`part_bits`](Self::part_bits).
    fn set_all(&self, words: Words, part: usize, bits: &[u32]) {
        // Of few keys most parts have none.
        if !bits.is_empty() {
            let _held = self.lock(part);
            let set = || {
                words.run(
                    #[inline(always)]
                    |_| self.set_each(part, bits),
                )
            };
            take_turn(&self.parts[part].turns, set);
        }
    }

    /// The same while it is this thread's turn.
    #[inline(always)]
    fn set_each(&self, part: usize, bits: &[u32]) {
        let words = &self.words[part << (self.part_bits - 6)..];
        // Once: what is behind a word that threads share would be read anew.
        let below = (1 << self.part_bits) - 1;
        let place = |bit: u32| {
            let position = bit as usize & below;
            (position / 64, 1 << (position % 64))
        };
        let set = |&bit: &u32| {
            let (word, bit) = place(bit);
            set_in_turn(&words[word], bit);
        };
        let (first, rest) = bits.split_at(bits.len().min(AHEAD));
        let fetch = |&bit: &u32| prefetch_for_write(words, place(bit).0);
        first.iter().for_each(fetch);
        for (bit, ahead) in bits.iter().zip(rest) {
            fetch(ahead);
            set(bit);
        }
        bits[rest.len()..].iter().for_each(set);
    }

    /// Sets bits without a lock if that will do. True if one was not set.
    #[inline(always)]
    fn set_alone(&self, positions: impl Iterator<Item = usize> + Clone) -> bool {
        let places = positions.map(|position| {
            let part = position >> self.part_bits;
            (part, &self.parts[part].turns, &self.words[position / 64], 1 << (position % 64))
        });
        // First it is read whether there is anything to write: of keys that come again there is not, and what is not written
        // stays in every processor's cache. All bits are read, as a branch for each would be guessed wrongly.
        let (all_set, all_stay) = places.clone().fold((true, true), |(all_set, all_stay), (_, turns, word, bit)| {
            let (set, stays) = is_set(turns, word, bit);
            (all_set & set, all_stay & stays)
        });
        if !(all_set & all_stay) {
            for (part, turns, word, bit) in places {
                if !set_alone(turns, word, bit) {
                    self.set_again(part, word, bit);
                }
            }
        }
        !all_set
    }

    #[cold]
    fn set_again(&self, part: usize, word: &AtomicU64, bit: u64) {
        let _held = self.lock(part);
        word.or(bit);
    }
}

impl Drop for SharedBloom<'_> {
    /// Sets what is set in a copy.
    fn drop(&mut self) {
        for copy in self.copies.take() {
            // No other thread is there any more, as if it were always this one's turn.
            let words = self.words.iter().zip(copy.words());
            words.for_each(|(word, &bits)| set_in_turn(word, u64::from_le_bytes(bits)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::{Filter, FilterMut};

    #[test]
    fn a_filter_whose_parts_are_too_large_to_gather_their_bits_loses_nothing() {
        let keys: Vec<KeyHash> = (0..1000).map(|i| HashSpec::default().hash(&[i as u8, (i >> 8) as u8])).collect();
        let mut filter = Bloom::from_parts(10_000, 7).unwrap();
        let mut alone = filter.clone();
        alone.insert_all(&keys).unwrap();
        let mut shared = filter.share();
        shared.part_bits = MAX_PART_BITS + 1;
        shared.copies = Copies::new(usize::MAX);
        shared.insert_all(&keys);
        drop(shared);
        assert!(keys.iter().all(|&key| filter.contains(key)));
        assert_eq!(filter, alone);
    }
}
