//! Words of a table that several threads fill at once.
#![expect(unsafe_code, reason = "bytes that are borrowed exclusively are lent to threads as atomic words")]

use std::sync::atomic::{AtomicU64, Ordering};

/// A word that threads share.
pub(crate) trait SharedWord {
    /// In one order with all other such loads and all [`or`](Self::or) of all words, which all threads agree on.
    fn get(&self) -> u64;

    /// What was put before is seen by whoever gets this.
    fn put(&self, word: u64);

    /// Sets `bits` with one instruction, which costs some twenty cycles. In order as [`get`](Self::get).
    fn or(&self, bits: u64);
}

/// A little-endian word, as in every table.
impl SharedWord for AtomicU64 {
    #[inline(always)]
    fn get(&self) -> u64 {
        u64::from_le(self.load(Ordering::SeqCst))
    }

    #[inline(always)]
    fn put(&self, word: u64) {
        self.store(word.to_le(), Ordering::Release);
    }

    #[inline(always)]
    fn or(&self, bits: u64) {
        self.fetch_or(bits.to_le(), Ordering::SeqCst);
    }
}

/// Calls `set`, which may [`set_in_turn`] bits of the words that belong to these `turns`. The caller holds their lock.
///
/// `turns` is odd meanwhile: for those who [`set_alone`] without the lock.
#[inline]
pub(crate) fn take_turn(turns: &impl SharedWord, set: impl FnOnce()) {
    turns.or(1);
    set();
    // Nobody else changes it.
    turns.put(turns.get().wrapping_add(1));
}

/// Sets `bit` in `word`, in a [turn](take_turn). A load and a store: a bit that another thread sets in between is lost.
#[inline(always)]
pub(crate) fn set_in_turn(word: &impl SharedWord, bit: u64) {
    word.put(word.get() | bit);
}

/// Whether `bit` is set in `word`, and if so, whether it is there to stay, asked without the lock.
///
/// It is if nobody had [a turn](take_turn) meanwhile. Whoever has one later sees the bit, as he announces his turn before he
/// loads a word, and here the word comes before the second look at the turns. If one was under way, the bit may be one that
/// its setter has to set again.
#[inline(always)]
pub(crate) fn is_set(turns: &impl SharedWord, word: &impl SharedWord, bit: u64) -> (bool, bool) {
    let turn = turns.get();
    let set = word.get() & bit != 0;
    (set, turn.is_multiple_of(2) & (turns.get() == turn))
}

/// Sets `bit` in `word` without a lock, and says whether it is there to stay, as with [`is_set`]. If not, somebody had a
/// turn meanwhile, who may not have seen it: it is to be set again while the lock is held, but no turn taken.
#[inline(always)]
pub(crate) fn set_alone(turns: &impl SharedWord, word: &impl SharedWord, bit: u64) -> bool {
    let turn = turns.get();
    word.or(bit);
    turn.is_multiple_of(2) & (turns.get() == turn)
}

/// The words of a table, for all threads to set bits in as long as the borrow lasts. `None` if the bytes are not whole words
/// at a multiple of eight, which those of a `Buffer` are.
pub(crate) fn shared_words(bytes: &mut [u8]) -> Option<&[AtomicU64]> {
    // SAFETY: an `AtomicU64` is any eight bytes at a multiple of its alignment, which `align_to_mut` sees to, and the
    // exclusive borrow keeps everyone from the same bytes as anything else.
    let (before, words, after) = unsafe { bytes.align_to_mut::<AtomicU64>() };
    (before.is_empty() && after.is_empty()).then_some(&*words)
}

#[cfg(test)]
mod tests {
    use loom::sync::atomic::{AtomicU64 as LoomWord, fence};
    use loom::sync::{Arc, Mutex};
    use loom::thread;

    use super::*;

    /// The model knows no order of all loads but that of fences, and of a plain store and an instruction that reads and writes
    /// at once, neither of which waits for the other, it lets the first come last.
    impl SharedWord for LoomWord {
        fn get(&self) -> u64 {
            fence(Ordering::SeqCst);
            self.load(Ordering::Acquire)
        }

        fn put(&self, word: u64) {
            self.swap(word, Ordering::AcqRel);
        }

        fn or(&self, bits: u64) {
            self.fetch_or(bits, Ordering::AcqRel);
            fence(Ordering::SeqCst);
        }
    }

    /// A lock, its turns and a word.
    #[derive(Default)]
    struct Part {
        lock: Mutex<()>,
        turns: LoomWord,
        word: LoomWord,
    }

    impl Part {
        fn set_all(&self, bits: &[u64]) {
            let _held = self.lock.lock().unwrap();
            take_turn(&self.turns, || bits.iter().for_each(|&bit| set_in_turn(&self.word, bit)));
        }

        /// True if the bit was not set.
        fn set_one(&self, bit: u64) -> bool {
            let (set, stays) = is_set(&self.turns, &self.word, bit);
            if !(set & stays) && !set_alone(&self.turns, &self.word, bit) {
                let _held = self.lock.lock().unwrap();
                self.word.or(bit);
            }
            assert_eq!(self.word.get() & bit, bit, "it did not stay");
            !set
        }
    }

    #[test]
    fn in_every_interleaving_no_bit_is_lost_between_two_who_take_turns() {
        // Two bits in each of two words under locks of their own, in another order in each thread.
        const BITS: [[(usize, [u64; 2]); 2]; 2] = [[(0, [1, 2]), (1, [1, 2])], [(1, [2, 4]), (0, [2, 4])]];
        loom::model(|| {
            let parts: Arc<[Part; 2]> = Arc::default();
            let threads = BITS.map(|batches| {
                let parts = Arc::clone(&parts);
                thread::spawn(move || batches.into_iter().for_each(|(part, bits)| parts[part].set_all(&bits)))
            });
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            for part in &*parts {
                assert_eq!(part.word.get(), 7, "a bit was lost");
            }
        });
    }

    #[test]
    fn in_every_interleaving_no_bit_is_lost_beside_one_who_takes_turns() {
        loom::model(|| {
            let part: Arc<Part> = Arc::default();
            let batch = thread::spawn({
                let part = Arc::clone(&part);
                move || part.set_all(&[1, 2])
            });
            let alone = thread::spawn({
                let part = Arc::clone(&part);
                move || [2, 4].map(|bit| part.set_one(bit))
            });
            batch.join().unwrap();
            assert!(alone.join().unwrap()[1], "nobody else sets it");
            assert_eq!(part.word.get(), 7, "a bit was lost");
            assert_eq!(part.turns.get(), 2, "no turn is left open");
        });
    }

    #[test]
    fn in_every_interleaving_a_bit_that_was_there_is_not_new() {
        loom::model(|| {
            let part: Arc<Part> = Arc::default();
            assert!(part.set_one(4));
            let batch = thread::spawn({
                let part = Arc::clone(&part);
                move || part.set_all(&[1, 2])
            });
            assert!(!part.set_one(4), "it is new beside a turn");
            batch.join().unwrap();
            assert_eq!(part.word.get(), 7, "a bit was lost");
        });
    }

    #[test]
    fn shared_words_are_the_little_endian_words_of_the_bytes() {
        let mut buffer = crate::bits::Buffer::zeroed(24).unwrap();
        let words = shared_words(&mut buffer).unwrap();
        set_in_turn(&words[1], 0x8000);
        set_in_turn(&words[1], 1);
        assert!(set_alone(&words[0], &words[1], 2));
        assert_eq!([2, 4].map(|bit| is_set(&words[0], &words[1], bit)), [(true, true), (false, true)]);
        assert_eq!(buffer[8..16], [0x03, 0x80, 0, 0, 0, 0, 0, 0]);
        assert!(shared_words(&mut buffer[1..9]).is_none() && shared_words(&mut buffer[..12]).is_none());
    }
}
