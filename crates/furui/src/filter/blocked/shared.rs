use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::LazyLock;

use super::probing::Shape;
use super::spread::Spread;
use super::{BlockedBloom, batches};
use crate::bits::arch::{KeyRange, Line, Lines, Pile, StripedLines};
use crate::bits::{least_of, scale};
use crate::filter::ConfigError;
use crate::filter::copies::Copies;
use crate::hash::KeyHash;

/// How many parts a table is cut into at most. Each doubling costs every key a sixth of its insertion in a cache.
const MAX_REGIONS: usize = 8;

/// As many as there are processors, of those: more would serve nobody.
static REGIONS: LazyLock<usize> = LazyLock::new(|| {
    std::thread::available_parallelism().map_or(2, |processors| processors.get().clamp(2, MAX_REGIONS))
});

/// How many stripes a region has, each with a lock: so many that threads with a key each seldom want the same, so few that a
/// batch takes all of a region in a moment.
const STRIPES: usize = 16;

/// How many keys are split by region at a time.
const PIECE: usize = 512;

/// Room for the keys of all regions together: for each of two, 8192. Half of that is worth a lock, and waiting for the
/// first of their lines; the rest is for keys that come while another thread has it.
const ROOM: usize = 16 * 1024;

/// A [`BlockedBloom`] that several threads fill at once.
///
/// Of a table of up to 4 MiB each thread that inserts batches has a copy, empty at first, for as long as the filter is shared:
/// threads that write to the same cache lines wait for each other, and in a small table they are all the same. Lookups ask the
/// copies too, and in the end the filter is united with them.
///
/// A larger one, or a small one until so many keys came in batches as it has lines, since fewer are not worth a copy, is cut into
/// regions of adjacent lines, and these into sixteen stripes, each with a lock. A batch is split by region, several keys at a
/// time, until some thousand go in while the thread has all locks of one, at the full speed of the vectors; setting a key's eight
/// words one by one with atomic instructions takes several times as long. While another thread has one of the locks, they wait,
/// and the thread goes on with others. There are as many regions as processors, from two to eight.
///
/// What is in the filter in the end is, bit for bit, what one thread would have put there.
///
/// ```text
///  keys ──► h < ½ ? ──┬──► pile ──► locks ──► region 0     a line's number grows with the hash, so a region is a range
///                     └──► pile ──► locks ──► region 1     of hashes: its keys need not be looked at one by one
///  key ────────────────────────────► lock ──► stripe
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
/// drop(shared);
/// assert!(keys.iter().all(|&key| filter.contains(key)));
/// # Ok::<(), furui::filter::ConfigError>(())
/// ```
#[derive(Debug)]
pub struct SharedBlocked<'a> {
    /// A thread that panicked has left the lines as good as they were: bits are only ever set.
    table: StripedLines<'a>,
    copies: Copies<BlockedBloom>,
    regions: Vec<Region>,
    lines: usize,
    spread: Spread,
    vectors: Lines,
}

#[derive(Debug)]
struct Region {
    stripes: Range<usize>,
    /// The least and the greatest hash of keys with lines in it.
    ends: [u64; 2],
}

impl<'a> SharedBlocked<'a> {
    pub(super) fn new(vectors: Lines, spread: Spread, table: &'a mut [Line]) -> Self {
        Self::cut(vectors, spread, table, *REGIONS)
    }

    fn cut(vectors: Lines, spread: Spread, table: &'a mut [Line], regions: usize) -> Self {
        let lines = table.len();
        let copies = Copies::new(size_of_val(table));
        // Two by two, since a key may belong to a pair.
        let table = StripedLines::new(table, lines.div_ceil(regions * STRIPES).next_multiple_of(2));
        let stripes = table.stripes();
        let least = |stripe: usize| least_of(stripe * table.stripe_lines(), lines);
        let regions = (0..stripes).step_by(STRIPES).map(|first| {
            let end = stripes.min(first + STRIPES);
            let most = if end == stripes { u64::MAX } else { least(end) - 1 };
            Region { stripes: first..end, ends: [least(first), most] }
        });
        Self { regions: regions.collect(), table, copies, lines, spread, vectors }
    }

    /// Puts `key` in. True if a bit of it was not set: then it was certainly new. Of threads that insert a key at once,
    /// one at most is told so.
    ///
    /// Cost: a lock for each key, six to twelve times as long as in a batch; and a lock that another thread had last, as is
    /// one in two of two threads, comes from that thread's processor. After batches of a small filter, a look into each copy too.
    pub fn insert(&self, key: KeyHash) -> bool {
        if self.copies.contains(key) {
            return false;
        }
        let stripe = self.stripe(key);
        let shape = self.shape(stripe);
        let insert = |table: &mut [Line]| batches::insert_all(self.vectors, table, shape, KeyRange::whole(&[key]));
        self.table.with_one(stripe, insert) == 1
    }

    /// Puts many keys in: they are there when it returns. Give it ten thousand at a time.
    ///
    /// Cost: into a copy what [`FilterMut::insert_all`](crate::filter::FilterMut::insert_all) takes, in as many threads as there are
    /// processors; by regions, with 8 probes and two of them, 1.2 to 1.4 times of it in a near cache and up to 1.25 times beyond.
    /// Memory: up to 16 copies; or 128 KiB of the thread's stack.
    pub fn insert_all(&self, keys: &[KeyHash]) {
        if !self.copies.insert_all(keys, || self.empty()) {
            self.insert_by_regions(keys);
        }
    }

    /// A filter of this shape without keys.
    fn empty(&self) -> Result<BlockedBloom, ConfigError> {
        Ok(BlockedBloom { vectors: self.vectors, ..BlockedBloom::spread(self.lines as u64, self.spread)? })
    }

    /// Puts the keys on piles, and these into the table. Never inlined: who inserts into a copy needs no stack for piles.
    #[inline(never)]
    fn insert_by_regions(&self, keys: &[KeyHash]) {
        let mut room = [const { MaybeUninit::uninit() }; ROOM];
        let rooms = room.chunks_exact_mut(ROOM / self.regions.len());
        let mut piles: Vec<Pile<'_>> =
            self.regions.iter().zip(rooms).map(|(region, room)| Pile::new(room, region.ends)).collect();
        for piece in keys.chunks(PIECE) {
            self.split_among(&mut piles, KeyRange::whole(piece));
            for (region, pile) in self.regions.iter().zip(&mut piles).filter(|(_, pile)| pile.len() >= pile.space()) {
                self.insert_pile(region, pile.space() < PIECE, pile);
            }
        }
        // What is left, and last where another thread is.
        for waits in [false, true] {
            for (region, pile) in self.regions.iter().zip(&mut piles).filter(|(_, pile)| pile.len() > 0) {
                self.insert_pile(region, waits, pile);
            }
        }
    }

    /// Puts each key on the pile of its region.
    fn split_among(&self, piles: &mut [Pile<'_>], keys: KeyRange<'_>) {
        match piles {
            [] => {}
            [pile] => pile.add(keys),
            [low, high] => keys.split(self.vectors, low, high),
            _ => {
                let (low, high) = piles.split_at_mut(piles.len() / 2);
                let [least, most] = keys.ends();
                let bound = high[0].keys().ends()[0];
                let mut rooms = [[const { MaybeUninit::uninit() }; PIECE]; 2];
                let [low_room, high_room] = &mut rooms;
                let mut halves = [Pile::new(low_room, [least, bound - 1]), Pile::new(high_room, [bound, most])];
                let [low_half, high_half] = &mut halves;
                keys.split(self.vectors, low_half, high_half);
                self.split_among(low, low_half.keys());
                self.split_among(high, high_half.keys());
            }
        }
    }

    /// Puts the keys of a pile into their region; unless `waits`, only if no other thread is there just now.
    fn insert_pile(&self, region: &Region, waits: bool, pile: &mut Pile<'_>) {
        let shape = self.shape(region.stripes.start);
        let insert = |table: &mut [Line]| batches::insert_all(self.vectors, table, shape, pile.keys());
        if self.table.with(region.stripes.clone(), waits, insert).is_some() {
            pile.clear();
        }
    }

    /// Whether `key` may be in the set: it is if its insertion has returned, in whatever thread. May wait for threads that
    /// insert batches, for some thousand keys each.
    pub fn contains(&self, key: KeyHash) -> bool {
        let stripe = self.stripe(key);
        let shape = self.shape(stripe);
        let mut answer = [false];
        self.table.with_one(stripe, |table| batches::contains_all(self.vectors, table, shape, &[key], &mut answer));
        answer[0] || self.copies.contains(key)
    }

    /// The stripe that has the key's line.
    fn stripe(&self, key: KeyHash) -> usize {
        scale(key.get(), self.lines) / self.table.stripe_lines()
    }

    /// The shape of a table that begins with this stripe.
    fn shape(&self, stripe: usize) -> Shape {
        Shape { lines: self.lines, first: stripe * self.table.stripe_lines(), spread: self.spread }
    }
}

impl Drop for SharedBlocked<'_> {
    /// Unites the table with the copies.
    fn drop(&mut self) {
        self.table.with(0..self.table.stripes(), true, |table| {
            for copy in self.copies.take() {
                table.as_flattened_mut().iter_mut().zip(&*copy.table).for_each(|(ours, theirs)| *ours |= theirs);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::FilterMut;

    #[test]
    fn threads_make_the_filter_that_one_thread_makes() {
        let keys: Vec<KeyHash> = (0..20_000u64).map(|i| crate::HashSpec::default().hash(&i.to_le_bytes())).collect();
        let parts = [(1, 8), (3, 5), (2, 12), (130, 8), (400, 9), (400, 10), (401, 3)];
        let parts = parts.map(|(lines, probes)| BlockedBloom::from_parts(lines, probes).unwrap());
        let straddling = [2, 40, 402].map(|lines| BlockedBloom::straddling(lines).unwrap());
        for empty in parts.into_iter().chain(straddling) {
            let (lines, spread) = (empty.lines(), empty.spread);
            let mut alone = empty.clone();
            alone.insert_all(&keys).unwrap();

            for (vectors, regions) in Lines::each().flat_map(|vectors| (1..=MAX_REGIONS).map(move |i| (vectors, i))) {
                let mut filter = BlockedBloom { vectors, ..empty.clone() };
                let shared = SharedBlocked::cut(vectors, spread, filter.table.as_chunks_mut().0, regions);
                shared.insert_by_regions(&keys);
                drop(shared);
                assert!(filter.table == alone.table, "{vectors:?}, {regions}, {lines}, {spread:?}");
            }

            let mut filter = empty;
            let shared = filter.share();
            let told = std::thread::scope(|scope| {
                let shared = &shared;
                let threads = [&keys[..9000], &keys[5000..15_000]]
                    .map(|keys| scope.spawn(|| keys.chunks(700).for_each(|keys| shared.insert_all(keys))));
                let single =
                    scope.spawn(|| keys[10_000..].iter().map(|&key| u64::from(shared.insert(key))).sum::<u64>());
                threads.into_iter().for_each(|thread| thread.join().unwrap());
                single.join().unwrap()
            });
            assert!(keys.iter().all(|&key| shared.contains(key)));
            assert!(told <= 10_000, "no key is new twice");
            assert!(!keys.iter().any(|&key| shared.insert(key)), "what is there is not new");
            drop(shared);
            assert_eq!(filter, alone, "{lines}, {spread:?}");
        }
    }
}
