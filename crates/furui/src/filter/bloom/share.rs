use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::super::probes::{Probes, salted_positions};
use super::Bloom;
use super::probing::Shape;
use crate::bits::arch::atomic::{set_bit, shared_words};
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
/// want the same part.
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
    /// Who holds the lock of a part is the only one who writes or reads its words.
    locks: [Lock; PARTS],
    /// The bits of a position below those that tell its part.
    part_bits: u32,
    shape: Shape,
    salted: bool,
}

/// A lock that has a cache line to itself: threads that want different ones do not disturb each other.
#[derive(Default)]
#[repr(align(64))]
struct Lock(Mutex<()>);

impl Bloom {
    /// Lends the filter to several threads, for as long as they insert.
    pub fn share(&mut self) -> SharedBloom<'_> {
        let shape = self.shape();
        let salted = self.salted();
        // Whole words, and the first power of two with which PARTS parts hold all bits.
        let part_bits = shape.bits.div_ceil(PARTS).next_power_of_two().max(64).ilog2();
        let words = shared_words(&mut self.words).expect("a buffer begins at a cache line and has whole words");
        SharedBloom { words, locks: std::array::from_fn(|_| Lock::default()), part_bits, shape, salted }
    }
}

impl SharedBloom<'_> {
    /// Puts `key` in. True if it was certainly new; of threads that insert equal keys at the same time, more than one may
    /// be told so. Cost: a lock for each probe, six to eleven times
    /// [`insert_all`](Self::insert_all).
    pub fn insert(&self, key: KeyHash) -> bool {
        let set = |position: usize| {
            let _held = self.lock(position >> self.part_bits);
            self.set(position)
        };
        let Shape { bits, probes } = self.shape;
        if self.salted {
            return salted_positions(key, probes, bits).fold(false, |new, position| new | set(position));
        }
        let mut sequence = Probes::of(key);
        (0..probes).fold(false, |new, _| new | set(sequence.next(bits)))
    }

    /// Puts many keys in: they are there when it returns. Give it thousands at a time: in cache they then cost 1.5 times
    /// what [`FilterMut::insert`](crate::filter::FilterMut::insert) costs, 2.3 times in the nearest caches, and two thirds of
    /// it beyond. Needs 64 KiB of the thread's stack.
    pub fn insert_all(&self, keys: &[KeyHash]) {
        let Shape { bits, probes } = self.shape;
        let mut gathered = [[0; GATHERED]; PARTS];
        let mut counts = [0; PARTS];
        let mut gather = |position: usize| {
            prefetch_for_write(self.words, position / 64);
            let part = position >> self.part_bits;
            gathered[part][counts[part]] = position;
            counts[part] += 1;
            if counts[part] == GATHERED {
                self.set_all(part, &gathered[part]);
                counts[part] = 0;
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
        for (part, (positions, count)) in gathered.iter().zip(counts).enumerate() {
            self.set_all(part, &positions[..count]);
        }
    }

    fn lock(&self, part: usize) -> MutexGuard<'_, ()> {
        // The lock guards no state that a panic could leave half done.
        self.locks[part].0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_all(&self, part: usize, positions: &[usize]) {
        let _held = self.lock(part);
        positions.iter().for_each(|&position| {
            self.set(position);
        });
    }

    /// Sets a bit, whose part must be locked. True if it was not set.
    #[inline(always)]
    fn set(&self, position: usize) -> bool {
        set_bit(&self.words[position / 64], 1 << (position % 64))
    }
}
