use std::sync::atomic::{AtomicU64, Ordering};

use super::error::no_memory;
use super::{ConfigError, Mismatch, batch};
use crate::bits::{Buffer, prefetch};
use crate::hash::{HashSpec, Hashes, KeyHash};

/// A [`Bloom`](super::Bloom) or [`BlockedBloom`](super::BlockedBloom) filter that any number of threads can fill and
/// query at the same time, for instance through an `Arc`.
///
/// [`new`](Self::new) makes it from a filter, and [`to_filter`](Self::to_filter) gives a filter back, with the bits
/// that one thread would have set for all keys. Once an insertion has returned, every thread that learns of it finds
/// the key. If several threads insert one new key at the same time, at least one of them is told that it is new.
///
/// Cost: an insertion takes an atomic instruction for each word in which it sets a bit, and only one core at a time can
/// write to a cache line. If each thread can have a filter of its own, fill one per thread and unite them: then nothing
/// is shared.
///
/// ```
/// use std::sync::Arc;
/// use furui::filter::{Bloom, Concurrent};
///
/// let words = Arc::new(Concurrent::new(Bloom::with_rate(1000, 0.01)?)?);
/// std::thread::scope(|scope| {
///     for word in ["以前", "珠玉"] {
///         let words = Arc::clone(&words);
///         scope.spawn(move || words.insert(word));
///     }
/// });
/// assert!(words.contains("以前") && !words.insert("珠玉"));
/// let words: Bloom = words.to_filter()?;
/// # assert_eq!(words.probes(), 6);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Debug)]
pub struct Concurrent<F> {
    /// The filter without its table, whose bits are in `words`.
    shape: F,
    words: Box<[AtomicU64]>,
}

/// A table of at most this size, in words, is not prefetched.
const NEAR: usize = (12 << 20) / 8;

/// A filter that threads can share. Its table consists of words, and an insertion only sets bits.
#[expect(private_bounds, reason = "how a filter is shared is not part of the interface")]
pub trait Shareable: BitTable {}

/// A filter whose table can be taken out, shared as words, and put back.
pub(super) trait BitTable: Sized {
    /// Splits the filter into a filter with an empty table, and the table of little-endian words.
    fn take_table(self) -> (Self, Buffer);

    /// Returns a filter with the sizes and the hash of this one, whose bits are those of `table`.
    fn with_table(&self, table: Buffer) -> Self;

    fn hash_spec(&self) -> HashSpec;

    /// Calls `each` with the index of every word in which `key` has bits, and with these bits, until `each` returns
    /// false. Returns true if `each` never returned false. `words` is the length of the table in words.
    fn all(&self, words: usize, key: KeyHash, each: impl FnMut(usize, u64) -> bool) -> bool;
}

/// A 64-bit word of the table, which threads share.
trait Word {
    fn get(&self) -> u64;

    /// Sets `bits`, and returns the word as it was before.
    fn set(&self, bits: u64) -> u64;
}

/// Atomic words with relaxed order: threads pass only the bits themselves to each other, so no other memory needs to be
/// ordered.
impl Word for AtomicU64 {
    #[inline(always)]
    fn get(&self) -> u64 {
        self.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn set(&self, bits: u64) -> u64 {
        self.fetch_or(bits, Ordering::Relaxed)
    }
}

/// Sets `bits` in `word`. Returns true if one of them was not set before. A word that has all of them is only read, so
/// its cache line can stay in the caches of all cores.
#[inline(always)]
fn set_missing(word: &impl Word, bits: u64) -> bool {
    word.get() & bits != bits && word.set(bits) & bits != bits
}

impl<F: Shareable> Concurrent<F> {
    /// A concurrent filter with the keys of `filter`. Cost: a copy of the bits.
    ///
    /// # Errors
    /// If there is no memory for the copy.
    pub fn new(filter: F) -> Result<Self, ConfigError> {
        let (shape, table) = filter.take_table();
        let table = table.as_chunks::<8>().0;
        let mut words = vec![];
        words.try_reserve_exact(table.len()).map_err(|_| no_memory(table.len(), "words of 64 bits"))?;
        words.extend(table.iter().map(|&word| AtomicU64::new(u64::from_le_bytes(word))));
        Ok(Self { shape, words: words.into() })
    }

    /// An ordinary filter with all keys whose insertion has returned. Cost: a copy of the bits.
    ///
    /// # Errors
    /// If there is no memory for the copy.
    pub fn to_filter(&self) -> Result<F, ConfigError> {
        let mut table =
            Buffer::zeroed(8 * self.words.len()).map_err(|_| no_memory(self.words.len(), "words of 64 bits"))?;
        table.as_chunks_mut().0.iter_mut().zip(&self.words).for_each(|(to, word)| *to = word.get().to_le_bytes());
        Ok(self.shape.with_table(table))
    }

    /// The spec (algorithm and seed) by which keys are hashed.
    pub fn hash_spec(&self) -> HashSpec {
        self.shape.hash_spec()
    }

    /// True if `key` may have been inserted; false if it certainly was not.
    pub fn contains(&self, key: impl AsRef<[u8]>) -> bool {
        self.contains_hash(self.hash_spec().hash(key.as_ref()))
    }

    #[inline]
    fn contains_hash(&self, key: KeyHash) -> bool {
        self.shape.all(self.words.len(), key, |index, bits| self.words[index].get() & bits == bits)
    }

    /// Inserts `key`. Returns true if it was certainly new.
    pub fn insert(&self, key: impl AsRef<[u8]>) -> bool {
        self.insert_hash(self.hash_spec().hash(key.as_ref()))
    }

    #[inline]
    fn insert_hash(&self, key: KeyHash) -> bool {
        let mut new = false;
        self.shape.all(self.words.len(), key, |index, bits| {
            new |= set_missing(&self.words[index], bits);
            true
        });
        new
    }

    /// Answers [`contains`](Self::contains) for a batch of keys, whose cache lines are prefetched: `out` is cleared and
    /// gets one answer for each key.
    ///
    /// # Errors
    /// [`Mismatch::Hash`] if the keys were hashed by another spec than [`hash_spec`](Self::hash_spec); `out` is
    /// unchanged then.
    pub fn contains_hashes(&self, keys: &Hashes, out: &mut Vec<bool>) -> Result<(), Mismatch> {
        let keys = Mismatch::check(self.hash_spec(), keys)?;
        out.clear();
        self.for_each(keys, |key| out.push(self.contains_hash(key)));
        Ok(())
    }

    /// Inserts the keys of a batch, whose cache lines are prefetched, and returns how many were certainly new.
    ///
    /// # Errors
    /// [`Mismatch::Hash`] if the keys were hashed by another spec than [`hash_spec`](Self::hash_spec); nothing is
    /// inserted then.
    pub fn insert_hashes(&self, keys: &Hashes) -> Result<u64, Mismatch> {
        let keys = Mismatch::check(self.hash_spec(), keys)?;
        let mut new = 0;
        self.for_each(keys, |key| new += u64::from(self.insert_hash(key)));
        Ok(new)
    }

    /// Calls `each` with every key, after the cache lines of the key were prefetched.
    #[inline(always)]
    fn for_each(&self, keys: &[KeyHash], mut each: impl FnMut(KeyHash)) {
        let fetch = |words: &&[AtomicU64], key| {
            self.shape.all(words.len(), key, |index, _| {
                prefetch(&words[index]);
                true
            });
        };
        batch::for_each(&*self.words, self.words.len() > NEAR, keys, fetch, |_, _, key| each(key));
    }
}

#[cfg(test)]
mod tests {
    use loom::sync::atomic::AtomicU64 as LoomWord;

    use super::*;

    impl Word for LoomWord {
        fn get(&self) -> u64 {
            self.load(Ordering::Relaxed)
        }

        fn set(&self, bits: u64) -> u64 {
            self.fetch_or(bits, Ordering::Relaxed)
        }
    }

    #[test]
    fn no_key_of_any_thread_is_lost() {
        use crate::filter::{BlockedBloom, Bloom};

        fn check<F: Shareable + Send + Sync>(filter: F, contains: impl Fn(&F, &str) -> bool) {
            // A thread also inserts half of the keys of the thread before it.
            let keys_of = |thread: u64| (0..100).map(move |i| (50 * thread + i).to_string());
            let shared = Concurrent::new(filter).unwrap();
            std::thread::scope(|scope| {
                for thread in 0..3 {
                    let shared = &shared;
                    scope.spawn(move || {
                        let keys: Vec<String> = keys_of(thread).collect();
                        let (single, batch) = keys.split_at(50);
                        single.iter().for_each(|key| {
                            shared.insert(key);
                        });
                        shared.insert_hashes(&shared.hash_spec().hasher().hash_all(batch)).unwrap();
                        assert!(keys.iter().all(|key| shared.contains(key)));
                    });
                }
            });
            let filter = shared.to_filter().unwrap();
            assert!((0..3).flat_map(keys_of).all(|key| contains(&filter, &key)));
        }
        check(Bloom::with_rate(300, 0.01).unwrap(), |filter, key| filter.contains(key));
        check(BlockedBloom::with_rate(300, 0.01).unwrap(), |filter, key| filter.contains(key));
    }

    // Loom's threads switch stacks by assembly, which Miri cannot run.
    #[cfg_attr(miri, ignore)]
    #[test]
    fn in_every_interleaving_no_bit_is_lost_and_somebody_is_told_that_a_key_is_new() {
        // Two keys for each thread, with a bit in each of two words. Both threads insert the key [2, 4].
        const KEYS: [[[u64; 2]; 2]; 2] = [[[1, 1], [2, 4]], [[2, 4], [4, 2]]];
        loom::model(|| {
            let words: loom::sync::Arc<[LoomWord; 2]> = loom::sync::Arc::default();
            let told = KEYS.map(|keys| {
                let words = words.clone();
                loom::thread::spawn(move || {
                    keys.map(|key| words.iter().zip(key).fold(false, |new, (word, bits)| set_missing(word, bits) | new))
                })
            });
            let [[first, shared], [again, last]] = told.map(|thread| thread.join().unwrap());
            assert!(first && last && (shared || again), "a key was new to nobody");
            assert_eq!([7, 7], [0, 1].map(|index| words[index].get()), "a bit was lost");
        });
    }
}
