use std::mem::MaybeUninit;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use super::probing::{self, Shape};
use crate::bits::arch::{KeyRange, Line, Lines};
use crate::bits::{least_of, scale};
use crate::hash::KeyHash;

/// How many parts a table is cut into at most. Each doubling costs every key a sixth of its insertion in a cache, and a
/// thread that hashes its keys as it goes holds a lock for little of its time.
const REGIONS: usize = 4;

/// How many keys are split by region at a time: enough for locks, and the first lines of a region, to be waited for seldom.
const CHUNK: usize = 4096;

/// A [`BlockedBloom`](super::BlockedBloom) that several threads fill at once.
///
/// The table is cut into regions of adjacent lines, and each has a lock. A batch is split by region, eight keys at a
/// time with AVX-512, so a lock is taken once for some thousand keys, which then go in at the full speed of the vectors;
/// setting a key's eight words one by one with atomic instructions takes several times as long. What is in the filter in
/// the end is, bit for bit, what one thread would have put there.
///
/// ```text
///  keys ──► h < ½ ? ──┬──► h < ¼ ? ──┬──► region 0      a line's number grows with the hash, so a
///                     │              └──► region 1      region is a range of hashes: its keys need
///                     └──► h < ¾ ? ──┬──► region 2      not be looked at one by one
///                                    └──► region 3
/// ```
///
/// ```
/// use furui::HashSpec;
/// use furui::filter::{BlockedBloom, Filter};
/// let keys: Vec<_> = (0..1000u32).map(|i| HashSpec::default().hash(&i.to_le_bytes())).collect();
/// let mut filter = BlockedBloom::with_rate(1000, 0.01)?;
/// let shared = filter.share();
/// std::thread::scope(|threads| {
///     for part in keys.chunks(500) {
///         let shared = &shared;
///         threads.spawn(move || shared.insert_all(part));
///     }
/// });
/// assert!(keys.iter().all(|&key| filter.contains(key)));
/// # Ok::<(), furui::filter::ConfigError>(())
/// ```
#[derive(Debug)]
pub struct SharedBlocked<'a> {
    regions: Vec<Region<'a>>,
    /// How many lines a region has; the last may have fewer.
    region_lines: usize,
    lines: usize,
    probes: u32,
    vectors: Lines,
}

/// On a cache line of its own, so that threads in different regions do not slow each other down.
#[repr(align(64))]
#[derive(Debug)]
struct Region<'a> {
    table: Mutex<&'a mut [Line]>,
    /// The number of its first line.
    first: usize,
    /// The least hash of a key with that line.
    least: u64,
}

impl<'a> Region<'a> {
    /// A thread that panicked has left the lines as good as they were: bits are only ever set.
    fn lock(&self) -> MutexGuard<'_, &'a mut [Line]> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a thread is at it just now.
    fn is_taken(&self) -> bool {
        matches!(self.table.try_lock(), Err(TryLockError::WouldBlock))
    }
}

impl<'a> SharedBlocked<'a> {
    pub(super) fn new(vectors: Lines, probes: u32, table: &'a mut [Line]) -> Self {
        let lines = table.len();
        // Two by two, since a key may belong to a pair.
        let region_lines = lines.div_ceil(REGIONS).next_multiple_of(2);
        let regions = table.chunks_mut(region_lines).enumerate().map(|(index, table)| {
            let first = index * region_lines;
            Region { table: Mutex::new(table), first, least: least_of(first, lines) }
        });
        Self { regions: regions.collect(), region_lines, lines, probes, vectors }
    }

    /// Puts `key` in. True if a bit of it was not set: then it was certainly new. Of threads that insert a key at once,
    /// one at most is told so.
    ///
    /// Cost: a lock for each key, eleven times as long as in a batch; and threads that do nothing else are in each other's
    /// way, for there are four locks.
    pub fn insert(&self, key: KeyHash) -> bool {
        self.insert_into(self.region(key), KeyRange::whole(&[key])) == 1
    }

    /// Puts many keys in and says how many were certainly new. Batches of ten thousand and more are worth the splitting:
    /// with 8 probes and AVX-512 they take 1.3 times what [`FilterMut::insert_all`](crate::filter::FilterMut::insert_all)
    /// takes in a cache, and 1.4 times beyond. Needs 128 KiB of the thread's stack.
    pub fn insert_all(&self, keys: &[KeyHash]) -> u64 {
        keys.chunks(CHUNK).map(|chunk| self.insert_among(&self.regions, KeyRange::whole(chunk))).sum()
    }

    /// Puts keys in that have their lines in these regions.
    fn insert_among(&self, regions: &[Region<'_>], keys: KeyRange<'_>) -> u64 {
        match regions {
            _ if keys.keys().is_empty() => 0,
            [region] => self.insert_into(region, keys),
            _ => self.split_among(regions, keys),
        }
    }

    /// The same for two regions or more. A function of its own, since the rooms for keys are large.
    #[inline(never)]
    fn split_among(&self, regions: &[Region<'_>], keys: KeyRange<'_>) -> u64 {
        let mut rooms = [[const { MaybeUninit::uninit() }; CHUNK]; 2];
        let [low_room, high_room] = &mut rooms;
        let (low, high) = regions.split_at(regions.len() / 2);
        let [low_keys, high_keys] = keys.split(self.vectors, high[0].least, low_room, high_room);
        // In either order; rather not first where another thread is.
        let mut halves = [(low, low_keys), (high, high_keys)];
        if low.iter().any(Region::is_taken) {
            halves.reverse();
        }
        halves.into_iter().map(|(regions, keys)| self.insert_among(regions, keys)).sum()
    }

    /// Whether `key` may be in the set: it is if its insertion has returned, in whatever thread.
    pub fn contains(&self, key: KeyHash) -> bool {
        let region = self.region(key);
        let mut answer = [false];
        probing::contains_all(self.vectors, &region.lock(), self.shape(region), &[key], &mut answer);
        answer[0]
    }

    fn region(&self, key: KeyHash) -> &Region<'a> {
        &self.regions[scale(key.get(), self.lines) / self.region_lines]
    }

    fn shape(&self, region: &Region<'_>) -> Shape {
        Shape { lines: self.lines, first: region.first, probes: self.probes }
    }

    fn insert_into(&self, region: &Region<'_>, keys: KeyRange<'_>) -> u64 {
        probing::insert_all(self.vectors, &mut region.lock(), self.shape(region), keys)
    }
}

#[cfg(test)]
mod tests {
    use super::super::BlockedBloom;
    use super::*;
    use crate::filter::FilterMut;

    #[test]
    fn threads_make_the_filter_that_one_thread_makes() {
        let keys: Vec<KeyHash> = (0..20_000u64).map(|i| crate::HashSpec::default().hash(&i.to_le_bytes())).collect();
        for (lines, probes) in [(1, 8), (3, 5), (2, 12), (130, 8), (400, 10), (401, 3)] {
            let mut alone = BlockedBloom::from_parts(lines, probes).unwrap();
            let new = alone.insert_all(&keys).unwrap();

            for vectors in Lines::each() {
                let mut filter = BlockedBloom { vectors, ..BlockedBloom::from_parts(lines, probes).unwrap() };
                assert_eq!(filter.share().insert_all(&keys), new, "one thread, in order within a region");
                assert!(filter.table == alone.table, "{vectors:?}, {lines}, {probes}");
            }

            let mut filter = BlockedBloom::from_parts(lines, probes).unwrap();
            let shared = filter.share();
            let told: u64 = std::thread::scope(|scope| {
                let batches = scope.spawn(|| shared.insert_all(&keys[..15_000]));
                let single =
                    scope.spawn(|| keys[10_000..].iter().map(|&key| u64::from(shared.insert(key))).sum::<u64>());
                batches.join().unwrap() + single.join().unwrap()
            });
            assert!(keys.iter().all(|&key| shared.contains(key)));
            assert!((1..=keys.len() as u64).contains(&told), "no key is new twice");
            assert_eq!(filter, alone, "{lines}, {probes}");
        }
    }
}
