use std::io;
use std::ops::{Deref, DerefMut};

use super::counters::Counters;
use super::file::{META, Source, Stored, Writer};
use super::probes::check_rate;
use super::steady::{check_stable, lasting_probes, read_stable, sequential_decrements, sequential_zeros};
use super::{ConfigError, Filter, FilterMut, Full};
use crate::bits::Buffer;
use crate::format::{Kind, ReadError};
use crate::hash::{HashSpec, KeyHash};

/// Two bits a counter.
const BITS: u32 = 2;
/// The value an insertion sets.
const MAX: u8 = 3;

/// A stable Bloom filter without chance: "was it here lately?", in fixed memory at a fixed error rate, fast.
///
/// As [`StableBloom`](super::StableBloom), but the P counters an insertion decrements are the next P behind a cursor
/// that goes round and round, so they lie together: 32 of them are a word, 256 a vector.
///
/// ```text
///   insert x:     -1 -1 -1 -1 -1                     the next P, then the cursor stands behind them
///   [ 0  3  0  2  3  1  0  0  2  1  0  3 ]
///                 ^        ^     ^                   the k of x become 3
/// ```
///
/// Both answers may be wrong: "no" too, for a key that has faded. At rest the rate of false positives is
/// (1 - Z)^k with Z = e^(-2λ) (1 - e^(-λ)) / λ and λ = k/P: a counter lives for between 2 and 3 rounds of the cursor.
///
/// Cost: no memory but the counters; an insertion touches k cache lines and one or two at the cursor. It remembers
/// every key for 2 rounds, that is 2 m/P insertions.
///
/// From Kubota, Ueda and Yamana, "Efficient Duplicated URL Detection for Web Crawlers", section 4.2. They take P from
/// the formula for random decrement ([`stable_decrements`](super::stable_decrements)); a cursor needs 11 to 13 %
/// fewer for the same rate, and so remembers 13 to 15 % longer, which [`with_rate`](Self::with_rate) uses. For
/// their filter to the letter, give their P to [`from_parts`](Self::from_parts).
///
/// ```
/// use furui::filter::{StableBloomLight, stable_decrements};
///
/// let (counters, probes, rate) = (1 << 20, 8, 1e-5);
/// let literal = stable_decrements(probes, rate, 3, counters) as usize;
/// let paper = StableBloomLight::from_parts(counters, probes, literal)?;
/// assert_eq!(paper.decrements(), 84);
/// assert!(paper.stable_rate() < rate); // better than asked for, at the price of memory
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StableBloomLight<M = Buffer> {
    counters: Counters<M>,
    decrements: usize,
    cursor: usize,
    hash: HashSpec,
}

impl StableBloomLight {
    /// A filter of `counters` counters whose false-positive rate comes to rest at `rate` or just below.
    ///
    /// The number of probes is the smallest that remembers nearly (0.9 times) as long as the best: 4 at 1 %.
    ///
    /// # Errors
    /// If `rate` is not between 0 and 1, or there are too few counters for it.
    pub fn with_rate(counters: usize, rate: f64) -> Result<Self, ConfigError> {
        check_rate(rate, counters as u64)?;
        let probes = lasting_probes(rate, MAX);
        Self::from_parts(counters, probes, sequential_decrements(probes, rate, MAX).ceil() as usize)
    }

    /// A filter of `counters` counters that makes `probes` probes a key and `decrements` decrements an insertion
    /// (P).
    ///
    /// # Errors
    /// If there is no such filter: the message says what could be.
    pub fn from_parts(counters: usize, probes: u32, decrements: usize) -> Result<Self, ConfigError> {
        check_stable(counters, probes, decrements)?;
        let counters = Counters::new(counters, BITS, probes)?;
        Ok(Self { counters, decrements, cursor: 0, hash: HashSpec::default() })
    }

    /// The same filter for keys that are hashed like `hash`, instead of as [`HashSpec::default`] says. What is in it
    /// must have been hashed so.
    #[must_use]
    pub fn hashed_by(self, hash: HashSpec) -> Self {
        Self { hash, ..self }
    }
}

impl<M> StableBloomLight<M> {
    /// How the keys are hashed.
    pub fn hash_spec(&self) -> HashSpec {
        self.hash
    }

    /// The false-positive rate at which the filter comes to rest.
    pub fn stable_rate(&self) -> f64 {
        (1.0 - sequential_zeros(self.probes(), self.decrements as f64, MAX)).powi(self.probes() as i32)
    }

    /// How many counters there are.
    pub fn counters(&self) -> usize {
        self.counters.len()
    }

    /// How many counters belong to a key (k).
    pub fn probes(&self) -> u32 {
        self.counters.probes
    }

    /// How many counters an insertion decrements (P).
    pub fn decrements(&self) -> usize {
        self.decrements
    }
}

impl<M: DerefMut<Target = [u8]>> StableBloomLight<M> {
    /// [`insert`](FilterMut::insert)s `keys` in order and appends to `new` the indices in `keys` of those that were not
    /// remembered, as [`Recent::observe_all`](super::Recent::observe_all) does. The counters of later keys are fetched
    /// while earlier ones are worked on: in a filter larger than the cache that is five times as fast as one by one, or
    /// more.
    ///
    /// # Panics
    /// If `keys` has 2³² keys or more.
    pub fn observe_all(&mut self, keys: &[KeyHash], new: &mut Vec<u32>) {
        assert!(u32::try_from(keys.len()).is_ok(), "batches are shorter than 2^32 keys");
        for (i, &key) in keys.iter().enumerate() {
            self.counters.fetch_ahead(keys, i);
            if self.put(key) {
                new.push(i as u32);
            }
        }
    }

    /// Takes 1 from the next `count` counters at the cursor and moves it behind them, as
    /// [`insert`](FilterMut::insert) does with P. A `count` of [`counters`](Self::counters) is one whole round.
    pub fn decrement(&mut self, count: usize) {
        let mut cells = self.counters.cells.lend_mut();
        let mut left = count;
        while left > 0 {
            let run = left.min(cells.len() - self.cursor);
            cells.decrement_range(self.cursor, run);
            self.cursor += run;
            if self.cursor == cells.len() {
                self.cursor = 0;
            }
            left -= run;
        }
    }

    /// Inserts `key`; true if it was not remembered.
    ///
    /// The key's counters are read and set in one go, so that no more than one access waits for each. Nothing branches on
    /// what they held: while one insertion waits for memory, the processor begins the next ones, as many as it has room
    /// for the instructions of, so these are to be few. Set before the decrement, though, a counter that it passes must be
    /// set again.
    #[inline]
    fn put(&mut self, key: KeyHash) -> bool {
        let positions = self.counters.of(key);
        let mut cells = self.counters.cells.lend_mut();
        assert_eq!(cells.bits(), BITS, "lets the compiler see it");
        let (start, count) = (self.cursor, self.decrements);
        // How near behind the cursor the nearest is.
        let mut nearest = usize::MAX;
        let known = positions.fold(true, |all, position| {
            nearest = nearest.min(position.wrapping_sub(start));
            all & cells.fill(position)
        });
        let end = start + count;
        if end >= cells.len() || nearest < count {
            self.decrement_and_fill(key);
        } else {
            cells.decrement_range(start, count);
            self.cursor = end;
        }
        !known
    }

    /// The rest of an insertion whose counters are among those that it decrements, or that ends a round.
    #[cold]
    #[inline(never)]
    fn decrement_and_fill(&mut self, key: KeyHash) {
        self.decrement(self.decrements);
        self.counters.of(key).for_each(|position| _ = self.counters.cells.fill(position));
    }
}

impl<M: Deref<Target = [u8]>> Filter for StableBloomLight<M> {
    fn contains(&self, key: KeyHash) -> bool {
        self.counters.contains(key)
    }

    fn contains_all(&self, keys: &[KeyHash], out: &mut Vec<bool>) {
        self.counters.contains_all(keys, out);
    }

    fn forgets(&self) -> bool {
        true
    }

    /// (c/m)^k for c counters that are not 0. Cost: one pass over the counters.
    fn false_positive_rate(&self) -> f64 {
        self.counters.false_positive_rate()
    }
}

impl<M: DerefMut<Target = [u8]>> FilterMut for StableBloomLight<M> {
    /// True if it was not remembered: new, or faded. Never full.
    fn insert(&mut self, key: KeyHash) -> Result<bool, Full> {
        Ok(self.put(key))
    }

    /// As [`observe_all`](StableBloomLight::observe_all), and says only how many were new.
    fn insert_all(&mut self, keys: &[KeyHash]) -> Result<u64, Full> {
        Ok((0..).zip(keys).fold(0, |new, (i, &key)| {
            self.counters.fetch_ahead(keys, i);
            new + u64::from(self.put(key))
        }))
    }
}

impl<M: Deref<Target = [u8]>> Stored<M> for StableBloomLight<M> {
    const KIND: Kind = Kind::StableBloomLight;

    fn write(&self, out: &mut Writer<'_>) -> io::Result<()> {
        self.counters.write(self.decrements as u64, self.cursor as u64, out)
    }

    fn read<S: Source<Bytes = M>>(source: &S) -> Result<Self, ReadError> {
        let (counters, decrements, cursor) = read_stable(source, &[BITS])?;
        match usize::try_from(cursor) {
            Ok(cursor) if cursor < counters.len() => {
                Ok(Self { counters, decrements, cursor, hash: source.envelope().hash() })
            }
            _ => Err(source.invalid(META, "the cursor is beyond the last counter")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::probes::positions;

    fn key(i: u64) -> KeyHash {
        HashSpec::default().hash(&i.to_le_bytes())
    }

    #[test]
    fn the_cursor_goes_round_whatever_the_numbers() {
        // The same filter, one counter at a time.
        for (counters, decrements) in [(31, 7), (32, 32), (33, 33), (100, 37), (1000, 999), (4099, 300)] {
            let mut filter = StableBloomLight::from_parts(counters, 3, decrements).unwrap();
            let (mut model, mut cursor) = (vec![0u8; counters], 0);
            for i in 0..500 {
                assert!(filter.insert(key(i)).is_ok());
                for _ in 0..decrements {
                    model[cursor] = model[cursor].saturating_sub(1);
                    cursor = (cursor + 1) % counters;
                }
                positions(key(i), 3, counters).for_each(|position| model[position] = MAX);
                assert!(
                    (0..counters).all(|at| filter.counters.cells.get(at) == model[at]),
                    "m = {counters}, insertion {i}"
                );
            }
        }
    }

    #[test]
    fn a_batch_does_what_its_keys_do_one_by_one() {
        let keys: Vec<KeyHash> = (0..5000u64).map(|i| key(i * i % 3001)).collect();
        let mut one_by_one = StableBloomLight::with_rate(10_000, 0.05).unwrap();
        let mut batches = one_by_one.clone();
        for batch in keys.chunks(701) {
            let (mut new, mut expected_new) = (vec![], vec![]);
            batches.observe_all(batch, &mut new);
            for (i, &key) in batch.iter().enumerate() {
                if one_by_one.insert(key).unwrap() {
                    expected_new.push(i as u32);
                }
            }
            assert_eq!(new, expected_new);
        }
        assert_eq!(batches, one_by_one);
    }

    #[test]
    fn whole_rounds_empty_it() {
        let mut filter = StableBloomLight::with_rate(10_001, 0.01).unwrap();
        (0..3000).for_each(|i| assert!(filter.insert(key(i)).is_ok()));
        filter.decrement(3 * 10_001);
        assert_eq!(filter.counters.cells.count_nonzero(), 0);
    }

    #[test]
    fn a_key_is_remembered_for_two_rounds_of_the_cursor() {
        let mut filter = StableBloomLight::with_rate(100_000, 0.01).unwrap();
        let two_rounds = 2 * filter.counters() as u64 / filter.decrements() as u64;
        for i in 0..3 * two_rounds {
            assert!(filter.insert(key(i)).is_ok());
            assert!(filter.contains(key(i.saturating_sub(two_rounds))), "insertion {i}");
        }
    }

    #[test]
    fn the_rate_comes_to_rest_where_the_formula_says() {
        const COUNTERS: usize = 1 << 16;
        const TRIALS: u64 = 400_000;
        for (probes, decrements) in [(4, 27), (4, 29), (2, 10), (6, 8)] {
            let mut filter = StableBloomLight::from_parts(COUNTERS, probes, decrements).unwrap();
            let four_rounds = 4 * COUNTERS / decrements;
            (0..four_rounds as u64).for_each(|i| assert!(filter.insert(key(i)).is_ok()));
            let hits = (0..TRIALS).filter(|&i| filter.contains(key(1 << 40 | i))).count() as f64;
            let measured = hits / TRIALS as f64;

            // Given the filter as it stands, the trials are independent.
            let now = filter.false_positive_rate();
            let sigma = (now * (1.0 - now) / TRIALS as f64).sqrt();
            assert!((measured - now).abs() < 3.0 * sigma, "k = {probes}: {measured}, as it stands {now}");
            // Around rest, each counter is a coin: the fill varies by at most sqrt(fill (1 - fill) / m).
            let rest = filter.stable_rate();
            let (k, fill) = (f64::from(probes), rest.powf(1.0 / f64::from(probes)));
            let of_state = rest * k * ((1.0 - fill) / fill / COUNTERS as f64).sqrt();
            assert!((measured - rest).abs() < 3.0 * sigma.hypot(of_state), "k = {probes}: {measured}, at rest {rest}");
        }
    }

    #[test]
    fn with_rate_keeps_the_rate() {
        for (rate, probes, decrements) in [(0.01, 4, 27), (1e-5, 10, 66)] {
            let filter = StableBloomLight::with_rate(1 << 20, rate).unwrap();
            assert_eq!((filter.probes(), filter.decrements()), (probes, decrements));
            assert!(filter.stable_rate() <= rate && filter.stable_rate() > 0.9 * rate);
        }
    }

    #[test]
    fn what_cannot_be_is_refused_with_what_could_be() {
        assert!(StableBloomLight::with_rate(1000, 0.0).unwrap_err().0.contains("more than 0"));
        assert!(StableBloomLight::with_rate(1000, f64::NAN).is_err());
        assert!(StableBloomLight::with_rate(3, 0.01).unwrap_err().0.contains("more than 4"));
        assert!(StableBloomLight::with_rate(20, 0.01).unwrap_err().0.contains("from 1 to 20"));
        assert!(StableBloomLight::with_rate(0, 0.01).is_err());
        assert!(StableBloomLight::from_parts(1000, 65, 10).unwrap_err().0.contains("from 1 to 64"));
        assert!(StableBloomLight::from_parts(usize::MAX, 4, 10).is_err());
    }
}
