//! Words of a table that several threads fill at once.
#![expect(unsafe_code, reason = "bytes that are borrowed exclusively are lent to threads as atomic words")]

use std::sync::atomic::{AtomicU64, Ordering};

/// A word that threads share, of which only the holder of a lock asks anything. So no access need be an instruction that
/// locks, and the lock orders them all.
pub(crate) trait LockedWord {
    fn load(&self) -> u64;

    fn store(&self, word: u64);
}

/// A little-endian word, as in every table.
impl LockedWord for AtomicU64 {
    #[inline(always)]
    fn load(&self) -> u64 {
        u64::from_le(self.load(Ordering::Relaxed))
    }

    #[inline(always)]
    fn store(&self, word: u64) {
        self.store(word.to_le(), Ordering::Relaxed);
    }
}

/// Sets `bit` in `word`, whose lock is held. True if it was not set: of all threads that set it, exactly one is told so.
#[inline(always)]
pub(crate) fn set_bit(word: &impl LockedWord, bit: u64) -> bool {
    let old = word.load();
    word.store(old | bit);
    old & bit == 0
}

/// The words of a table, for all threads to [`set_bit`] in as long as the borrow lasts. `None` if the bytes are not
/// whole words at a multiple of eight, which those of a `Buffer` are.
pub(crate) fn shared_words(bytes: &mut [u8]) -> Option<&[AtomicU64]> {
    // SAFETY: an `AtomicU64` is any eight bytes at a multiple of its alignment, which `align_to_mut` sees to, and the
    // exclusive borrow keeps everyone from the same bytes as anything else.
    let (before, words, after) = unsafe { bytes.align_to_mut::<AtomicU64>() };
    (before.is_empty() && after.is_empty()).then_some(&*words)
}

#[cfg(test)]
mod tests {
    use loom::sync::{Arc, Mutex};
    use loom::thread;

    use super::*;

    impl LockedWord for loom::sync::atomic::AtomicU64 {
        fn load(&self) -> u64 {
            self.load(Ordering::Relaxed)
        }

        fn store(&self, word: u64) {
            self.store(word, Ordering::Relaxed);
        }
    }

    #[test]
    fn in_every_interleaving_no_bit_is_lost_and_each_is_new_to_one_thread() {
        // Two bits in each of two words under locks of their own, in another order in each thread.
        const BITS: [[(usize, [u64; 2]); 2]; 2] = [[(0, [1, 2]), (1, [1, 2])], [(1, [2, 4]), (0, [2, 4])]];
        loom::model(|| {
            let parts: Arc<[(Mutex<()>, loom::sync::atomic::AtomicU64); 2]> = Arc::default();
            let threads = BITS.map(|batches| {
                let parts = Arc::clone(&parts);
                thread::spawn(move || {
                    batches.map(|(part, bits)| {
                        let (lock, word) = &parts[part];
                        let _held = lock.lock().unwrap();
                        bits.map(|bit| set_bit(word, bit))
                    })
                })
            });
            let told = threads.map(|thread| thread.join().unwrap());
            for (lock, word) in &*parts {
                let _held = lock.lock().unwrap();
                assert_eq!(LockedWord::load(word), 7, "a bit was lost");
            }
            let news = told.iter().flatten().flatten().filter(|&&new| new).count();
            assert_eq!(news, 6, "each bit of each word is new to one thread: {told:?}");
        });
    }

    #[test]
    fn shared_words_are_the_little_endian_words_of_the_bytes() {
        let mut buffer = crate::bits::Buffer::zeroed(24).unwrap();
        let words = shared_words(&mut buffer).unwrap();
        assert!(set_bit(&words[1], 0x8000) && set_bit(&words[1], 1));
        assert!(!set_bit(&words[1], 0x8000));
        assert_eq!(buffer[8..16], [0x01, 0x80, 0, 0, 0, 0, 0, 0]);
        assert!(shared_words(&mut buffer[1..9]).is_none() && shared_words(&mut buffer[..12]).is_none());
    }
}
