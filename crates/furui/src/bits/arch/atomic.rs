//! Words of a table that several threads fill at once.
#![expect(unsafe_code, reason = "bytes that are borrowed exclusively are lent to threads as atomic words")]

use std::sync::atomic::{AtomicU64, Ordering};

/// A word that threads share. Bits are only ever set, so no order among words matters, and who must see a bit that
/// another thread has set learns of that thread's work in a way that orders memory (a join, a channel, a lock).
pub(crate) trait SharedWord {
    fn load(&self) -> u64;

    /// Sets `bits`; the word as it was before.
    fn fetch_or(&self, bits: u64) -> u64;
}

/// A little-endian word, as in every table.
impl SharedWord for AtomicU64 {
    #[inline(always)]
    fn load(&self) -> u64 {
        u64::from_le(self.load(Ordering::Relaxed))
    }

    #[inline(always)]
    fn fetch_or(&self, bits: u64) -> u64 {
        u64::from_le(self.fetch_or(bits.to_le(), Ordering::Relaxed))
    }
}

/// Sets `bits` in `word` and returns those that were new: of all threads that set a bit, exactly one is told so.
///
/// Loads first: the locked instruction costs twenty plain ones, and takes the line from every other processor.
#[inline(always)]
pub(crate) fn set_bits(word: &impl SharedWord, bits: u64) -> u64 {
    let missing = bits & !word.load();
    if missing == 0 { 0 } else { missing & !word.fetch_or(missing) }
}

/// The words of a table, for all threads to [`set_bits`] in as long as the borrow lasts. `None` if the bytes are not
/// whole words at a multiple of eight, which those of a `Buffer` are.
pub(crate) fn shared_words(bytes: &mut [u8]) -> Option<&[AtomicU64]> {
    // SAFETY: an `AtomicU64` is any eight bytes at a multiple of its alignment, which `align_to_mut` sees to, and the
    // exclusive borrow keeps everyone from the same bytes as anything else.
    let (before, words, after) = unsafe { bytes.align_to_mut::<AtomicU64>() };
    (before.is_empty() && after.is_empty()).then_some(&*words)
}

#[cfg(test)]
mod tests {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    impl SharedWord for loom::sync::atomic::AtomicU64 {
        fn load(&self) -> u64 {
            self.load(Ordering::Relaxed)
        }

        fn fetch_or(&self, bits: u64) -> u64 {
            self.fetch_or(bits, Ordering::Relaxed)
        }
    }

    #[test]
    fn in_every_interleaving_no_bit_is_lost_and_each_is_new_to_one_thread() {
        // Masks of two words each, which overlap within a thread and between threads.
        const INSERTIONS: [[[u64; 2]; 2]; 2] = [[[0b0011, 0b01], [0b0110, 0b11]], [[0b0101, 0b10], [0b1100, 0b10]]];
        loom::model(|| {
            let words: Arc<[loom::sync::atomic::AtomicU64; 2]> = Arc::default();
            let threads = INSERTIONS.map(|masks| {
                let words = Arc::clone(&words);
                thread::spawn(move || masks.map(|mask| [set_bits(&words[0], mask[0]), set_bits(&words[1], mask[1])]))
            });
            let told = threads.map(|thread| thread.join().unwrap());
            for (w, every_bit) in [0b1111, 0b11].into_iter().enumerate() {
                assert_eq!(SharedWord::load(&words[w]), every_bit, "a bit was lost");
                let news: Vec<u64> = told.iter().flatten().map(|new| new[w]).collect();
                assert_eq!(news.iter().map(|new| new.count_ones()).sum::<u32>(), every_bit.count_ones(), "{news:?}");
                assert_eq!(news.iter().fold(0, |all, new| all | new), every_bit, "{news:?}");
            }
        });
    }

    #[test]
    fn shared_words_are_the_little_endian_words_of_the_bytes() {
        let mut buffer = crate::bits::Buffer::zeroed(24).unwrap();
        let words = shared_words(&mut buffer).unwrap();
        assert_eq!(set_bits(&words[1], 0x8001), 0x8001);
        assert_eq!(set_bits(&words[1], 0x8003), 0x0002);
        assert_eq!(buffer[8..16], [0x03, 0x80, 0, 0, 0, 0, 0, 0]);
        assert!(shared_words(&mut buffer[1..9]).is_none() && shared_words(&mut buffer[..12]).is_none());
    }
}
