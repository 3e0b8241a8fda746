//! Lines that several threads change, each of them those whose locks it holds.
#![expect(unsafe_code, reason = "adjacent parts of a table are lent as one to whoever holds the locks of all")]

use std::marker::PhantomData;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use super::Line;

/// A table of lines in stripes of as many adjacent ones, each with a lock. One key needs one lock, of many, so that threads
/// seldom want the same; a batch takes those of adjacent stripes and has their lines as one table.
#[derive(Debug)]
pub(crate) struct StripedLines<'a> {
    /// Made from a borrow of all lines, so that any of them may be reached from it.
    first: NonNull<Line>,
    lines: usize,
    /// How many lines a stripe has; the last may have fewer.
    stripe_lines: usize,
    locks: Vec<Lock>,
    borrowed: PhantomData<&'a mut [Line]>,
}

/// On a cache line of its own, so that threads in different stripes do not slow each other down.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Lock(Mutex<()>);

// SAFETY: lines are bytes, borrowed for as long as this lives, and every one is reached by the holder of its lock alone.
unsafe impl Send for StripedLines<'_> {}
// SAFETY: likewise.
unsafe impl Sync for StripedLines<'_> {}

impl<'a> StripedLines<'a> {
    /// # Panics
    /// If a stripe is to have no lines.
    pub(crate) fn new(table: &'a mut [Line], stripe_lines: usize) -> Self {
        let locks = (0..table.len().div_ceil(stripe_lines)).map(|_| Lock::default()).collect();
        Self { lines: table.len(), first: NonNull::from(table).cast(), stripe_lines, locks, borrowed: PhantomData }
    }

    /// How many lines a stripe has; the last may have fewer.
    pub(crate) fn stripe_lines(&self) -> usize {
        self.stripe_lines
    }

    /// How many stripes there are.
    pub(crate) fn stripes(&self) -> usize {
        self.locks.len()
    }

    /// Gives `f` the lines of a stripe.
    ///
    /// # Panics
    /// If there is no such stripe.
    #[inline]
    pub(crate) fn with_one<R>(&self, stripe: usize, f: impl FnOnce(&mut [Line]) -> R) -> R {
        let _held = self.locks[stripe].wait();
        // SAFETY: the lock of the stripe is held until `f` has returned.
        f(unsafe { self.table(stripe..stripe + 1) })
    }

    /// Gives `f` the lines of adjacent stripes; unless `waits`, only if no other thread has one of them just now.
    ///
    /// # Panics
    /// If there are no such stripes.
    pub(crate) fn with<R>(&self, stripes: Range<usize>, waits: bool, f: impl FnOnce(&mut [Line]) -> R) -> Option<R> {
        // In one order in all threads, so none waits for one that waits for it.
        let locks = self.locks[stripes.clone()].iter();
        let _held: Vec<MutexGuard<'_, ()>> =
            locks.map(|lock| if waits { Some(lock.wait()) } else { lock.try_now() }).collect::<Option<_>>()?;
        // SAFETY: the locks of all these stripes are held until `f` has returned.
        Some(f(unsafe { self.table(stripes) }))
    }

    /// # Safety
    /// The caller must hold the locks of all these stripes for as long as it has the lines.
    #[expect(clippy::mut_from_ref, reason = "the locks make the borrow exclusive")]
    unsafe fn table(&self, stripes: Range<usize>) -> &mut [Line] {
        let start = (stripes.start * self.stripe_lines).min(self.lines);
        let end = (stripes.end * self.stripe_lines).min(self.lines);
        // SAFETY: `start` and `end` are within the lines borrowed for 'a, start being no greater where there are such
        // stripes; and the caller, who has their locks, is the only one who has these.
        unsafe { std::slice::from_raw_parts_mut(self.first.add(start).as_ptr(), end - start) }
    }
}

impl Lock {
    /// A thread that panicked has left bytes, as all lines are: which ones are as good as any is for its caller to see to.
    fn wait(&self) -> MutexGuard<'_, ()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_now(&self) -> Option<MutexGuard<'_, ()>> {
        match self.0.try_lock() {
            Ok(held) => Some(held),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stripes_are_the_table_in_order_and_are_had_by_one_at_a_time() {
        for lines in [1_usize, 2, 7, 8, 9, 30] {
            let mut table: Vec<Line> = (0..lines).map(|i| [i as u8; 64]).collect();
            let striped = StripedLines::new(&mut table, 4);
            assert_eq!(striped.stripes(), lines.div_ceil(4));
            for (start, end) in
                (0..striped.stripes()).flat_map(|start| (start + 1..=striped.stripes()).map(move |end| (start, end)))
            {
                let expected: Vec<u8> = (4 * start..lines.min(4 * end)).map(|i| i as u8).collect();
                let had = striped.with(start..end, false, |table| {
                    for stripe in start..end {
                        assert_eq!(striped.with(stripe..stripe + 1, false, |_| ()), None, "another has it");
                    }
                    table.iter().map(|line| line[0]).collect::<Vec<_>>()
                });
                assert_eq!(had, Some(expected));
            }
        }
    }

    #[test]
    fn no_change_is_lost_between_single_stripes_and_many() {
        const ROUNDS: usize = 200;
        let mut table = vec![[0; 64]; 10];
        let striped = StripedLines::new(&mut table, 3);
        let add =
            |table: &mut [Line]| table.iter_mut().flatten().for_each(|byte: &mut u8| *byte = byte.wrapping_add(1));
        std::thread::scope(|scope| {
            scope.spawn(|| (0..ROUNDS).for_each(|_| (0..4).for_each(|stripe| striped.with_one(stripe, add))));
            scope.spawn(|| (0..ROUNDS).for_each(|_| striped.with(0..4, true, add).expect("it waits")));
            (0..ROUNDS).for_each(|_| {
                [0..2, 2..4].into_iter().for_each(|half| striped.with(half, true, add).expect("it waits"))
            });
        });
        assert!(table.iter().flatten().all(|&byte| byte == (3 * ROUNDS % 256) as u8));
    }

    #[test]
    fn a_thread_that_panicked_leaves_its_stripes_to_others() {
        let mut table = vec![[0; 64]; 4];
        let striped = StripedLines::new(&mut table, 2);
        let panicked =
            std::thread::scope(|scope| scope.spawn(|| striped.with(0..2, true, |_| panic!("as it happens"))).join());
        assert!(panicked.is_err());
        assert_eq!(striped.with(0..2, false, |table| table.len()), Some(4));
        assert_eq!(striped.with_one(1, |table| table.len()), 2);
    }
}
