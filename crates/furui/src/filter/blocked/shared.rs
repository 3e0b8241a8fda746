use std::sync::{Mutex, MutexGuard, PoisonError};

use super::probing::{self, Shape};
use crate::bits::arch::{Line, Lines};
use crate::hash::KeyHash;

/// How many parts a table is cut into at most: enough for a dozen threads to seldom meet.
const REGIONS: usize = 32;

/// How many keys of a region are gathered before they are inserted under its lock. Those of all regions must stay in
/// the nearest cache.
const GATHER: usize = 128;

/// A [`BlockedBloom`](super::BlockedBloom) that several threads fill at once.
///
/// The table is cut into regions of adjacent lines, and each has a lock. A batch is gathered by region, so a lock is
/// taken once for some hundred keys, which then go in at the full speed of the vectors; setting a key's eight words one by
/// one with atomic instructions takes several times as long. What is in the filter in the end is, bit for bit, what one
/// thread would have put there.
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
    /// A region has 2^`log_lines` lines; the last may have fewer.
    log_lines: u32,
    lines: usize,
    probes: u32,
    vectors: Lines,
}

/// On a cache line of its own, so that threads in different regions do not slow each other down.
#[repr(align(64))]
#[derive(Debug)]
struct Region<'a>(Mutex<&'a mut [Line]>);

impl<'a> Region<'a> {
    /// A thread that panicked has left the lines as good as they were: bits are only ever set.
    fn lock(&self) -> MutexGuard<'_, &'a mut [Line]> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> SharedBlocked<'a> {
    pub(super) fn new(vectors: Lines, probes: u32, table: &'a mut [Line]) -> Self {
        let lines = table.len();
        // At least two lines, since a key may belong to two.
        let log_lines = lines.div_ceil(REGIONS).max(2).next_power_of_two().ilog2();
        let regions = table.chunks_mut(1 << log_lines).map(|region| Region(Mutex::new(region))).collect();
        Self { regions, log_lines, lines, probes, vectors }
    }

    /// Puts `key` in. True if a bit of it was not set: then it was certainly new. Of threads that insert a key at once,
    /// one at most is told so.
    ///
    /// Cost: a lock for each key, six to nine times as long as in a batch.
    pub fn insert(&self, key: KeyHash) -> bool {
        self.insert_into(self.region(key), &[key]) == 1
    }

    /// Puts many keys in and says how many were certainly new. Batches of ten thousand and more are worth the gathering:
    /// with 8 probes they take 2.3 times what [`FilterMut::insert_all`](crate::filter::FilterMut::insert_all) takes.
    pub fn insert_all(&self, keys: &[KeyHash]) -> u64 {
        let mut gathered = [[KeyHash::new(0); GATHER]; REGIONS];
        let mut counts = [0; REGIONS];
        let mut new = 0;
        for &key in keys {
            let region = self.region(key);
            let count = &mut counts[region];
            gathered[region][*count] = key;
            *count += 1;
            if *count == GATHER {
                *count = 0;
                new += self.insert_into(region, &gathered[region]);
            }
        }
        let rests = gathered.iter().zip(counts).enumerate();
        new + rests.map(|(region, (keys, count))| self.insert_into(region, &keys[..count])).sum::<u64>()
    }

    /// Whether `key` may be in the set: it is if its insertion has returned, in whatever thread.
    pub fn contains(&self, key: KeyHash) -> bool {
        let region = self.region(key);
        let mut answer = [false];
        probing::contains_all(self.vectors, &self.regions[region].lock(), self.shape(region), &[key], &mut answer);
        answer[0]
    }

    fn region(&self, key: KeyHash) -> usize {
        Shape::whole(self.lines, self.probes).line(key) >> self.log_lines
    }

    fn shape(&self, region: usize) -> Shape {
        Shape { lines: self.lines, first: region << self.log_lines, probes: self.probes }
    }

    fn insert_into(&self, region: usize, keys: &[KeyHash]) -> u64 {
        if keys.is_empty() {
            return 0;
        }
        probing::insert_all(self.vectors, &mut self.regions[region].lock(), self.shape(region), keys)
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

            let mut filter = BlockedBloom::from_parts(lines, probes).unwrap();
            assert_eq!(filter.share().insert_all(&keys), new, "one thread, in order within a region");
            assert_eq!(filter, alone, "{lines}, {probes}");

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
