//! Copies of a small filter, one for each thread that fills it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use super::{ConfigError, FilterMut};
use crate::hash::KeyHash;

/// The largest filter that is copied, in bytes: what a near cache holds. Threads want the same lines of a smaller one again and
/// again, and each comes from another processor's cache; larger ones have so many that they seldom do.
const LARGEST: usize = 4 << 20;

/// The most copies of a filter: 64 MiB. More threads than that share them.
const MOST: usize = 16;

/// A copy pays once this many bytes of the filter have had a key: it is cleared, and put back to the others in the end.
const BYTES_A_KEY: usize = 64;

/// How many keys a thread inserts before it lets others look into its copy.
const PIECE: usize = 4096;

/// Which seats are taken, a bit for each.
static SEATS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static SEAT: Seat = Seat::take();
}

/// A small number, which no other thread has as long as this one lives, unless there are more than a word has bits: who comes
/// next takes over the copies of who went.
struct Seat(u32);

impl Seat {
    fn take() -> Self {
        let taken =
            SEATS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |taken| Some(taken | taken.wrapping_add(1)));
        Self(taken.unwrap_or_default().trailing_ones())
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if self.0 < usize::BITS {
            SEATS.fetch_and(!(1 << self.0), Ordering::Relaxed);
        }
    }
}

/// Copies of a filter that is never full, each with keys of its own. What is in one of them is in the set.
///
/// Two processors that write to one cache line wait for each other; two that fill a filter each do not, and filters of equal
/// shape unite without loss.
#[derive(Debug)]
pub(super) struct Copies<F> {
    slots: [Slot<F>; MOST],
    /// Whether there is one.
    any: AtomicBool,
    /// How many keys came before there was one.
    before: AtomicUsize,
    /// After how many there is to be one.
    enough: usize,
}

/// On cache lines of its own. `None` where there was no memory for it.
#[derive(Debug)]
#[repr(align(128))]
struct Slot<F>(OnceLock<Option<Mutex<F>>>);

impl<F: FilterMut> Copies<F> {
    /// Of a filter of so many bytes; none so far.
    pub(super) fn new(bytes: usize) -> Self {
        Self {
            slots: std::array::from_fn(|_| Slot(OnceLock::new())),
            any: AtomicBool::new(false),
            before: AtomicUsize::new(0),
            enough: if bytes <= LARGEST { bytes / BYTES_A_KEY } else { usize::MAX },
        }
    }

    /// Puts many keys into the copy of this thread, which is made by `empty`. False where a copy would not pay: then they are
    /// for the filter itself.
    pub(super) fn insert_all(&self, keys: &[KeyHash], empty: impl Fn() -> Result<F, ConfigError>) -> bool {
        if !self.pay(keys.len()) {
            return false;
        }
        for piece in keys.chunks(PIECE) {
            let Some(mut copy) = self.own(&empty) else { return false };
            copy.insert_all(piece).expect("such a filter is never full");
        }
        true
    }

    /// Whether a copy has `key`. Waits for threads that are at work on theirs, each for the piece in hand.
    pub(super) fn contains(&self, key: KeyHash) -> bool {
        self.any.load(Ordering::Acquire) && self.slots.iter().filter_map(Slot::get).any(|copy| lock(copy).contains(key))
    }

    /// The copies, of which there are none then.
    pub(super) fn take(&mut self) -> impl Iterator<Item = F> {
        self.slots
            .iter_mut()
            .filter_map(|Slot(copy)| copy.take().flatten())
            .map(|copy| copy.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether so many keys more are worth a copy.
    fn pay(&self, keys: usize) -> bool {
        let too_large = self.enough == usize::MAX;
        let all = || self.before.fetch_add(keys, Ordering::Relaxed).saturating_add(keys);
        !too_large && (self.any.load(Ordering::Acquire) || all() >= self.enough)
    }

    /// A copy for this thread: always the same, so that its lines stay with its processor, unless another thread has it just
    /// now. `None` if there is no memory for one.
    fn own(&self, empty: impl Fn() -> Result<F, ConfigError>) -> Option<MutexGuard<'_, F>> {
        // A thread that is about to end may have left its seat.
        let first = SEAT.try_with(|seat| seat.0 as usize).unwrap_or_default() % MOST;
        let (before, from) = self.slots.split_at(first);
        for Slot(copy) in from.iter().chain(before) {
            let copy = copy.get_or_init(|| {
                self.any.store(true, Ordering::Release);
                empty().ok().map(Mutex::new)
            });
            match copy.as_ref()?.try_lock() {
                Ok(held) => return Some(held),
                Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => {}
            }
        }
        self.slots[first].get().map(lock)
    }
}

impl<F> Slot<F> {
    fn get(&self) -> Option<&Mutex<F>> {
        self.0.get()?.as_ref()
    }
}

/// Of a thread that panicked the keys are there, or may be: bits are only ever set.
fn lock<F>(copy: &Mutex<F>) -> MutexGuard<'_, F> {
    copy.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::{Bloom, Filter};
    use super::*;

    const BITS: u64 = 100 * 64 * 8;

    fn keys(from: u64, to: u64) -> Vec<KeyHash> {
        (from..to).map(|i| crate::HashSpec::default().hash(&i.to_le_bytes())).collect()
    }

    fn empty() -> Result<Bloom, ConfigError> {
        Bloom::from_parts(BITS, 3)
    }

    /// How many copies there are, and what is in them.
    fn united(copies: &mut Copies<Bloom>) -> (usize, Bloom) {
        let mut count = 0;
        let mut all = empty().unwrap();
        for copy in copies.take() {
            count += 1;
            all.union(&copy).unwrap();
        }
        (count, all)
    }

    #[test]
    fn a_copy_is_made_when_some_keys_came_for_each_line_and_has_all_that_come_then() {
        let mut copies = Copies::new(BITS as usize / 8);
        assert!(!copies.insert_all(&keys(0, 60), empty) && !copies.insert_all(&keys(60, 99), empty));
        assert!(!copies.contains(keys(0, 1)[0]), "they are for the filter itself");
        let more = keys(99, 10_000);
        assert!(copies.insert_all(&more, empty) && copies.insert_all(&more, empty));
        assert!(more.iter().all(|&key| copies.contains(key)));

        let mut expected = empty().unwrap();
        expected.insert_all(&more).unwrap();
        assert_eq!(united(&mut copies), (1, expected), "one thread has one copy");
        assert_eq!(united(&mut copies).0, 0, "and the copies are gone");
    }

    #[test]
    fn threads_at_work_at_once_have_copies_of_their_own() {
        let mut copies = Copies::new(64);
        let held: Vec<_> = (0..MOST).map(|_| copies.own(empty).unwrap()).collect();
        std::thread::scope(|scope| {
            // One more than there may be: it waits for another.
            let waits = scope.spawn(|| copies.insert_all(&keys(0, 10), empty));
            drop(held);
            assert!(waits.join().unwrap());
        });
        assert!(keys(0, 10).iter().all(|&key| copies.contains(key)));
        assert_eq!(united(&mut copies).0, MOST);
    }

    #[test]
    fn threads_that_come_one_after_the_other_share_a_copy() {
        let mut copies = Copies::new(64);
        for from in 0..100 {
            std::thread::scope(|scope| {
                assert!(scope.spawn(|| copies.insert_all(&keys(from, from + 10), empty)).join().unwrap())
            });
        }
        // Other tests have threads too, which take seats and leave them.
        let (count, all) = united(&mut copies);
        assert!(count < MOST && keys(0, 109).iter().all(|&key| all.contains(key)), "{count}");
    }

    #[test]
    fn a_large_filter_has_no_copies_nor_one_for_which_there_is_no_memory() {
        let large = Copies::new(LARGEST + 1);
        assert!((0..100).all(|_| !large.insert_all(&keys(0, 1000), empty)));

        let no_memory = || Err::<Bloom, _>(ConfigError("there is none".into()));
        let copies = Copies::new(64);
        assert!((0..100).all(|_| !copies.insert_all(&keys(0, 10), no_memory)));
        assert!(!copies.contains(keys(0, 1)[0]));
    }

    #[test]
    fn a_copy_of_a_thread_that_panicked_is_for_others() {
        let mut copies = Copies::new(64);
        let panicked = std::thread::scope(|scope| {
            scope
                .spawn(|| {
                    let mut copy = copies.own(empty).unwrap();
                    copy.insert_all(&keys(0, 10)).unwrap();
                    panic!("as it happens");
                })
                .join()
        });
        assert!(panicked.is_err());
        assert!(keys(0, 10).iter().all(|&key| copies.contains(key)));
        assert!((0..MOST).all(|_| copies.insert_all(&keys(10, 20), empty)));
        assert!(united(&mut copies).1.contains(keys(0, 1)[0]));
    }
}
