use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::super::probes::{Probes, positions, salted_positions};
use super::Bloom;
use super::probing::Shape;
use crate::bits::arch::atomic::{SharedWord, is_set, set_alone, set_in_turn, shared_words, take_turn};
use crate::bits::arch::prefetch_for_write;
use crate::hash::KeyHash;

/// How many parts a shared filter has, each with a lock.
const PARTS: usize = 64;

/// How many bits a thread gathers for a part before it locks it: 64 KiB of positions for all parts, which with their lines
/// stay in the second cache. With half as many the locks take a twentieth of the time of an insertion.
const GATHERED: usize = 128;

/// A Bloom filter that several threads fill at once, through `&self`.
///
/// The filter's words are in parts, and each part has a lock. A thread gathers the bits of many keys by part, and sets
/// 128 at a time while it holds the part's lock: one lock is cheaper than 128 atomic instructions, and threads seldom
/// want the same part. A key that comes alone needs no lock: bits that are not set yet are, by atomic instructions, and if
/// somebody turns out to have held the part's lock meanwhile, once more.
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
/// assert!(keys.iter().all(|&key| filter.contains(key)));
/// # Ok::<(), furui::Error>(())
/// ```
pub struct SharedBloom<'a> {
    words: &'a [AtomicU64],
    parts: [Part; PARTS],
    /// The bits of a position below those that tell its part.
    part_bits: u32,
    shape: Shape,
    salted: bool,
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
    /// Lends the filter to several threads, for as long as they insert.
    pub fn share(&mut self) -> SharedBloom<'_> {
        let shape = self.shape();
        let salted = self.salted();
        // Whole words, and the first power of two with which PARTS parts hold all bits.
        let part_bits = shape.bits.div_ceil(PARTS).next_power_of_two().max(64).ilog2();
        let words = shared_words(&mut self.words).expect("a buffer begins at a cache line and has whole words");
        SharedBloom { words, parts: std::array::from_fn(|_| Part::default()), part_bits, shape, salted }
    }
}

impl SharedBloom<'_> {
    /// Puts `key` in. True if a bit of it was not set: then it was certainly new. Of threads that insert equal keys at the same
    /// time, more than one may be told so. Cost: where a bit is not set yet, an atomic instruction for each, so that a new key
    /// takes three to four times what it takes in a batch; for one that was there nothing is written.
    pub fn insert(&self, key: KeyHash) -> bool {
        let Shape { bits, probes } = self.shape;
        if self.salted {
            return self.set_alone(salted_positions(key, probes, bits));
        }
        self.set_alone(positions(key, probes, bits))
    }

    /// Whether `key` may be in the set: it is if its insertion has returned, in whatever thread.
    pub fn contains(&self, key: KeyHash) -> bool {
        let Shape { bits, probes } = self.shape;
        let is_set = |position: usize| self.words[position / 64].get() >> (position % 64) & 1 == 1;
        if self.salted {
            return salted_positions(key, probes, bits).all(is_set);
        }
        positions(key, probes, bits).all(is_set)
    }

    /// Puts many keys in: they are there when it returns. Give it thousands at a time: in cache they then cost 1.4 times
    /// what [`FilterMut::insert`](crate::filter::FilterMut::insert) costs, 2.3 times in the nearest caches, and two thirds of
    /// it beyond. Needs 64 KiB of the thread's stack.
    pub fn insert_all(&self, keys: &[KeyHash]) {
        let Shape { bits, probes } = self.shape;
        // By part, one behind the other, and where each ends. The remainders below are what they are without: they spare the
        // compiler a check each.
        let mut gathered = [0; PARTS * GATHERED];
        let mut ends: [usize; PARTS] = std::array::from_fn(|part| part * GATHERED);
        let mut gather = |position: usize| {
            prefetch_for_write(self.words, position / 64);
            let part = (position >> self.part_bits) % PARTS;
            let end = ends[part] % gathered.len();
            gathered[end] = position;
            ends[part] = end + 1;
            if (end + 1).is_multiple_of(GATHERED) {
                let start = end + 1 - GATHERED;
                self.set_all(part, &gathered[start..=end]);
                ends[part] = start;
            }
        };
        for &key in keys {
            if self.salted {
                salted_positions(key, probes, bits).for_each(&mut gather);
            } else {
                let mut sequence = Probes::of(key);
                (0..probes).for_each(|_| gather(sequence.next(bits)));
            }
        }
        for (part, end) in ends.into_iter().enumerate() {
            self.set_all(part, &gathered[part * GATHERED..end]);
        }
    }

    fn lock(&self, part: usize) -> MutexGuard<'_, ()> {
        // The lock guards no state that a panic could leave half done.
        self.parts[part].lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets bits of a part.
    fn set_all(&self, part: usize, positions: &[usize]) {
        let _held = self.lock(part);
        take_turn(&self.parts[part].turns, || {
            positions.iter().for_each(|&position| {
                set_in_turn(&self.words[position / 64], 1 << (position % 64));
            });
        });
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
