use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::LazyLock;

use super::batches;
use super::probing::Shape;
use super::spread::Spread;
use crate::bits::arch::{KeyRange, Line, Lines, Pile, StripedLines};
use crate::bits::{least_of, scale};
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

/// A [`BlockedBloom`](super::BlockedBloom) that several threads fill at once.
///
/// The table is cut into regions of adjacent lines, and these into sixteen stripes, each with a lock. A batch is split by
/// region, several keys at a time, until some thousand go in while the thread has all locks of one, at the full speed of the
/// vectors; setting a key's eight words one by one with atomic instructions takes several times as long. While another thread
/// has one of the locks, they wait, and the thread goes on with others. What is in the filter in the end is, bit for bit, what
/// one thread would have put there. There are as many regions as processors, from two to eight.
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
/// assert!(keys.iter().all(|&key| filter.contains(key)));
/// # Ok::<(), furui::filter::ConfigError>(())
/// ```
#[derive(Debug)]
pub struct SharedBlocked<'a> {
    /// A thread that panicked has left the lines as good as they were: bits are only ever set.
    table: StripedLines<'a>,
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
        // Two by two, since a key may belong to a pair.
        let table = StripedLines::new(table, lines.div_ceil(regions * STRIPES).next_multiple_of(2));
        let stripes = table.stripes();
        let least = |stripe: usize| least_of(stripe * table.stripe_lines(), lines);
        let regions = (0..stripes).step_by(STRIPES).map(|first| {
            let end = stripes.min(first + STRIPES);
            let most = if end == stripes { u64::MAX } else { least(end) - 1 };
            Region { stripes: first..end, ends: [least(first), most] }
        });
        Self { regions: regions.collect(), table, lines, spread, vectors }
    }

    /// Puts `key` in. True if a bit of it was not set: then it was certainly new. Of threads that insert a key at once,
    /// one at most is told so.
    ///
    /// Cost: a lock for each key, six to twelve times as long as in a batch; and a lock that another thread had last, as is
    /// one in two of two threads, comes from that thread's processor.
    pub fn insert(&self, key: KeyHash) -> bool {
        let stripe = self.stripe(key);
        let shape = self.shape(stripe);
        let insert = |table: &mut [Line]| batches::insert_all(self.vectors, table, shape, KeyRange::whole(&[key]));
        self.table.with_one(stripe, insert) == 1
    }

    /// Puts many keys in and says how many were certainly new. Batches of ten thousand and more are worth the splitting:
    /// with 8 probes and two regions they take 1.2 to 1.4 times what
    /// [`FilterMut::insert_all`](crate::filter::FilterMut::insert_all) takes in a cache, and up to 1.25 times beyond. Two threads do
    /// 1.4 to 1.8 times the work of one; but in a cache no more than one where a line that another core has written takes
    /// long to come from there (90 ns on one server's processor). Needs 128 KiB of the thread's stack.
    pub fn insert_all(&self, keys: &[KeyHash]) -> u64 {
        let mut room = [const { MaybeUninit::uninit() }; ROOM];
        let rooms = room.chunks_exact_mut(ROOM / self.regions.len());
        let mut piles: Vec<Pile<'_>> =
            self.regions.iter().zip(rooms).map(|(region, room)| Pile::new(room, region.ends)).collect();
        let mut new = 0;
        for piece in keys.chunks(PIECE) {
            self.split_among(&mut piles, KeyRange::whole(piece));
            for (region, pile) in self.regions.iter().zip(&mut piles).filter(|(_, pile)| pile.len() >= pile.space()) {
                new += self.insert_pile(region, pile.space() < PIECE, pile);
            }
        }
        // What is left, and last where another thread is.
        for waits in [false, true] {
            for (region, pile) in self.regions.iter().zip(&mut piles).filter(|(_, pile)| pile.len() > 0) {
                new += self.insert_pile(region, waits, pile);
            }
        }
        new
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
    fn insert_pile(&self, region: &Region, waits: bool, pile: &mut Pile<'_>) -> u64 {
        let shape = self.shape(region.stripes.start);
        let insert = |table: &mut [Line]| batches::insert_all(self.vectors, table, shape, pile.keys());
        let Some(new) = self.table.with(region.stripes.clone(), waits, insert) else { return 0 };
        pile.clear();
        new
    }

    /// Whether `key` may be in the set: it is if its insertion has returned, in whatever thread.
    pub fn contains(&self, key: KeyHash) -> bool {
        let stripe = self.stripe(key);
        let shape = self.shape(stripe);
        let mut answer = [false];
        self.table.with_one(stripe, |table| batches::contains_all(self.vectors, table, shape, &[key], &mut answer));
        answer[0]
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

#[cfg(test)]
mod tests {
    use super::super::BlockedBloom;
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
            let new = alone.insert_all(&keys).unwrap();

            for (vectors, regions) in Lines::each().flat_map(|vectors| (1..=MAX_REGIONS).map(move |i| (vectors, i))) {
                let mut filter = BlockedBloom { vectors, ..empty.clone() };
                let shared = SharedBlocked::cut(vectors, spread, filter.table.as_chunks_mut().0, regions);
                assert_eq!(shared.insert_all(&keys), new, "one thread, in order within a region");
                assert!(filter.table == alone.table, "{vectors:?}, {regions}, {lines}, {spread:?}");
            }

            let mut filter = empty;
            let shared = filter.share();
            let told: u64 = std::thread::scope(|scope| {
                let batches = scope.spawn(|| shared.insert_all(&keys[..15_000]));
                let single =
                    scope.spawn(|| keys[10_000..].iter().map(|&key| u64::from(shared.insert(key))).sum::<u64>());
                batches.join().unwrap() + single.join().unwrap()
            });
            assert!(keys.iter().all(|&key| shared.contains(key)));
            assert!((1..=keys.len() as u64).contains(&told), "no key is new twice");
            assert_eq!(filter, alone, "{lines}, {spread:?}");
        }
    }
}
