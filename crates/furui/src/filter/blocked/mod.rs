use std::ops::{Deref, DerefMut};

use super::error::no_memory;
use super::probes::own_rate;
use super::{ConfigError, Filter, FilterMut, Full};
use crate::bits::arch::{KeyRange, Line, Lines};
use crate::bits::{Buffer, prefetch};
use crate::hash::{HashSpec, KeyHash};
use probing::Shape;
use spread::Spread;

mod batches;
mod probing;
mod rate;
mod sets;
mod shared;
mod spread;
mod stored;

pub use shared::SharedBlocked;
pub use spread::MAX_BLOCKED_PROBES;

/// The most lines there are: 1 TiB of them.
const MAX_LINES: u64 = 1 << 34;

/// The finest rate of a [`BlockedBloom`]. Lines that chance has given too many keys make ever more of the false
/// positives: here it takes half as many bits again as a [`Bloom`](super::Bloom) filter, and the sum that says so loses its digits
/// below.
pub const FINEST_BLOCKED_RATE: f64 = 1e-9;

/// "Is it in this set?" in one access to memory: all bits of a key lie in one cache line.
///
/// ```text
///  h ──► line A ────────────────────────┐         for more than 8 probes: ┌─► line A ⊕ 1, its neighbour
///       ┌──┬──┬──┬──┬──┬──┬──┬──┐                        ┌──┬──┬──┬──┬──┬──┬──┬──┐
///       │ ·│· │  ·│·│  │ ·│· │ ·│  a bit in each lane    │  │  │  │· │ ·│  │  │  │  in k - 8 lanes in a row
///       └──┴──┴──┴──┴──┴──┴──┴──┘                        └──┴──┴──┴──┴──┴──┴──┴──┘
///  h · M ──► 6 bits a lane, and 3: which lane is first   h · M² ──► likewise
///
///       ┌──┬──┬──┬──┬──┬──┬──┬──┐
///       │··│  │  │ ·│··│··│  │··│  9 probes by a pattern: 7 bits of h say which; h · M, how far each lane is turned
///       └──┴──┴──┴──┴──┴──┴──┴──┘
/// ```
///
/// With fewer than 8 probes they are in as many lanes in a row, from a random one on. With [patterns](Self::with_patterns),
/// which [`with_rate`](Self::with_rate) takes for 0.1 %, four lanes have two bits and a fifth has one: a bit in each lane
/// never puts two in one, and so two keys share bits oftener than if any bits were chosen.
///
/// **Rate.** [`expected_rate`](Self::expected_rate) is exact: bits lie closer in a line than in a whole filter, and some
/// lines get more keys than others. That costs 5 % of space against a [`Bloom`](super::Bloom) filter at 1 %
/// (10.10 bits a key for 9.62) and 8 % at 0.1 %, with patterns (15.49 for 14.42; 15.73 with a bit in each lane; nine bits that
/// are any of the line's would need 15.48). Finer rates have more probes, in two lines: two lines seldom have too many keys at
/// once.
///
/// **Cost.** An insertion and a hit touch one line, or two neighbours; so does a miss, but with more than 8 probes it seldom
/// comes to the neighbour if it is asked alone. Eight lanes of AVX-512, or four of AVX2, twice, do the rest. In batches the lines
/// of many keys are waited for at once: a key takes three quarters of the time that it takes alone in a cache, or nearly all of
/// it, and a quarter to a half in main memory. A pattern, which is loaded too, takes a tenth more than a bit in each lane. Of two
/// lines the second costs as much as the first in a cache, and in main memory it comes along with the first on some machines.
///
/// **Source.** Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007: blocks, one bit in each
/// lane, and patterns from a table. **Differs** in the second line, where there a filter with more probes puts them in the same
/// block; and in that patterns are turned lane by lane: a hundred and twenty-eight do, where there a table of them is so large
/// that it competes for the cache. Files may have keys that [straddle](Self::straddling) two lines too.
///
/// ```
/// use furui::HashSpec;
/// use furui::filter::{BlockedBloom, Filter, FilterMut};
/// let mut filter = BlockedBloom::with_rate(1000, 0.01)?;
/// let hash = HashSpec::default();
/// assert!(filter.insert(hash.hash(b"seen before"))?);
/// assert!(filter.contains(hash.hash(b"seen before")) && !filter.contains(hash.hash(b"new")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedBloom<M = Buffer> {
    /// Lines of eight little-endian words; an even number of them if keys have bits in two.
    table: M,
    spread: Spread,
    /// How many keys it was sized for; 0 if it was not sized for keys.
    capacity: u64,
    hash: HashSpec,
    vectors: Lines,
}

impl BlockedBloom {
    /// A filter of `lines` lines of 512 bits with `probes` probes a key, whatever the number of keys.
    ///
    /// # Errors
    /// If there is no such filter: the message says what could be.
    pub fn from_parts(lines: u64, probes: u32) -> Result<Self, ConfigError> {
        let spread = Spread::of(probes).ok_or_else(|| {
            ConfigError(format!("{probes} probes a key: a blocked filter makes from 1 to {MAX_BLOCKED_PROBES}"))
        })?;
        Self::spread(lines, spread)
    }

    /// A filter of `lines` lines of 512 bits with 9 probes a key, all in one line, as one of 128 patterns has them.
    ///
    /// # Errors
    /// If there is no such filter: the message says what could be.
    pub fn with_patterns(lines: u64) -> Result<Self, ConfigError> {
        Self::spread(lines, Spread::PATTERNED)
    }

    /// A filter of `lines` lines of 512 bits with 8 probes a key, of which four are in the neighbour line for a quarter of
    /// the keys. [Patterns](Self::with_patterns) are as good in one line; this is for files that have it.
    ///
    /// # Errors
    /// If there is no such filter: the message says what could be.
    pub fn straddling(lines: u64) -> Result<Self, ConfigError> {
        Self::spread(lines, Spread::STRADDLING)
    }

    fn spread(lines: u64, spread: Spread) -> Result<Self, ConfigError> {
        check_parts(lines, spread)?;
        let lines = usize::try_from(lines).map_err(|_| no_memory(usize::MAX, "lines of 64 bytes"))?;
        let table = lines.checked_mul(size_of::<Line>()).and_then(|bytes| Buffer::zeroed(bytes).ok());
        let table = table.ok_or_else(|| no_memory(lines, "lines of 64 bytes"))?;
        Ok(Self { table, spread, capacity: 0, hash: HashSpec::default(), vectors: Lines::detect() })
    }

    /// A filter that has the false-positive `rate` when it holds `keys` keys: the smallest, or the smallest with 8 probes or
    /// a [pattern](Self::with_patterns) in one line, which are quicker, if that takes no more than 1/32 of space more (10.10
    /// bits a key for 9.93 at 1 %).
    ///
    /// # Errors
    /// If `rate` is not between [`FINEST_BLOCKED_RATE`] and 1, or finer than 64-bit hashes of that many keys can be told
    /// apart, or if the filter would be too large.
    pub fn with_rate(keys: u64, rate: f64) -> Result<Self, ConfigError> {
        let own = own_rate(rate, keys)?;
        if rate < FINEST_BLOCKED_RATE {
            return Err(ConfigError(format!(
                "a false-positive rate of {rate:e}: ask a blocked filter for more than {FINEST_BLOCKED_RATE:e}, or take \
                 another kind"
            )));
        }
        let (lines, spread) = rate::least(keys, own).ok_or_else(|| {
            ConfigError(format!("{keys} keys at a rate of {rate}: more than the {MAX_LINES} lines a filter can have"))
        })?;
        Ok(Self { capacity: keys, ..Self::spread(lines, spread)? })
    }

    /// The same filter for keys that are hashed like `hash`, instead of as [`HashSpec::default`] says. What is in it
    /// must have been hashed so.
    #[must_use]
    pub fn hashed_by(self, hash: HashSpec) -> Self {
        Self { hash, ..self }
    }

    /// The same filter, lent to any number of threads that insert at once: drop it to have all keys in the filter. (One that is
    /// [forgotten](std::mem::forget) may take keys along.)
    pub fn share(&mut self) -> SharedBlocked<'_> {
        SharedBlocked::new(self.vectors, self.spread, self.table.as_chunks_mut().0)
    }
}

/// Refuses numbers of lines that no filter can have.
fn check_parts(lines: u64, spread: Spread) -> Result<(), ConfigError> {
    if !(1..=MAX_LINES).contains(&lines) {
        return Err(ConfigError(format!("{lines} lines: a blocked filter has from 1 to {MAX_LINES}")));
    }
    if spread.is_of_pairs() && lines % 2 == 1 {
        let probes = spread.probes();
        return Err(ConfigError(format!(
            "{lines} lines with {probes} probes a key in two of them: have an even number of lines"
        )));
    }
    Ok(())
}

impl<M> BlockedBloom<M> {
    /// How the keys are hashed.
    pub fn hash_spec(&self) -> HashSpec {
        self.hash
    }

    /// How many bits belong to a key.
    pub fn probes(&self) -> u32 {
        self.spread.probes()
    }

    /// Whether a quarter of the keys have bits in two lines. With more than 8 probes all have, unless they have
    /// [patterns](Self::patterned).
    pub fn straddles(&self) -> bool {
        self.spread.straddles()
    }

    /// Whether keys have their bits as [patterns](Self::with_patterns) have them.
    pub fn patterned(&self) -> bool {
        self.spread.patterned()
    }

    /// How many keys it was sized for; 0 if it was not sized for keys.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }
}

impl<M: Deref<Target = [u8]>> BlockedBloom<M> {
    /// How many lines of 512 bits there are.
    pub fn lines(&self) -> u64 {
        self.table().len() as u64
    }

    /// How many bits there are.
    pub fn bits(&self) -> u64 {
        8 * self.table.len() as u64
    }

    /// The false-positive rate to be expected when it holds `keys` keys, exactly: the mean over all ways in which random
    /// keys can fall.
    pub fn expected_rate(&self, keys: u64) -> f64 {
        rate::expected(keys, self.lines(), self.spread)
    }

    fn table(&self) -> &[Line] {
        self.table.as_chunks().0
    }
}

impl<M: Deref<Target = [u8]>> Filter for BlockedBloom<M> {
    #[inline(always)]
    fn contains(&self, key: KeyHash) -> bool {
        probing::contains(self.vectors, self.table(), self.spread, key)
    }

    #[inline]
    fn fetch(&self, key: KeyHash) {
        let table = self.table();
        Shape::whole(table.len(), self.spread).lines_of_a_miss(key).for_each(|line| prefetch(&table[line]));
    }

    fn contains_all(&self, keys: &[KeyHash], out: &mut Vec<bool>) {
        out.clear();
        out.resize(keys.len(), false);
        batches::contains_all(self.vectors, self.table(), Shape::whole(self.table().len(), self.spread), keys, out);
    }

    /// The mean over all lines of the product of the shares of bits set in the lanes that are probed, and over all lanes
    /// that can be the first, or all patterns. Cost: one pass over the lines; with patterns, 0.4 µs for each.
    fn false_positive_rate(&self) -> f64 {
        rate::standing(self.table(), self.spread)
    }
}

impl<M: DerefMut<Target = [u8]>> FilterMut for BlockedBloom<M> {
    /// Never full.
    #[inline(always)]
    fn insert(&mut self, key: KeyHash) -> Result<bool, Full> {
        Ok(probing::insert(self.vectors, self.table.as_chunks_mut().0, self.spread, key))
    }

    fn insert_all(&mut self, keys: &[KeyHash]) -> Result<u64, Full> {
        let table = self.table.as_chunks_mut().0;
        let shape = Shape::whole(table.len(), self.spread);
        Ok(batches::insert_all(self.vectors, table, shape, KeyRange::whole(keys)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(list: u64, n: u64) -> Vec<KeyHash> {
        (0..n).map(|i| HashSpec::default().hash(&(list << 32 | i).to_le_bytes())).collect()
    }

    #[test]
    fn every_set_of_instructions_makes_the_same_filter() {
        let (keys, others) = (keys(0, 3000), keys(1, 3000));
        for spread in Spread::all() {
            // One that fits a cache, and one whose lines are prefetched.
            for lines in [60, (8 << 20) / size_of::<Line>() as u64] {
                let empty = BlockedBloom::spread(lines, spread).unwrap();
                let mut made = vec![];
                for vectors in Lines::each() {
                    let (mut single, mut batched) = (BlockedBloom { vectors, ..empty.clone() }, empty.clone());
                    batched.vectors = vectors;
                    let new = keys.iter().filter(|&&key| single.insert(key).unwrap()).count() as u64;
                    assert_eq!(batched.insert_all(&keys).unwrap(), new);
                    assert!(batched.table == single.table, "{vectors:?}, {spread:?}");
                    let mut answers = vec![];
                    single.contains_all(&others, &mut answers);
                    assert!(others.iter().zip(&answers).all(|(&key, &answer)| single.contains(key) == answer));
                    made.push((single.table, new, answers));
                }
                assert!(made.iter().all(|one| one == &made[0]), "{spread:?}");
            }
        }
    }

    #[test]
    fn the_rate_is_that_of_the_formula_and_of_the_bits() {
        const KEYS: u64 = 20_000;
        const TRIALS: u64 = 400_000;
        let asked = keys(1, TRIALS);
        let parts = [(400, 8), (400, 5), (390, 7), (340, 3), (390, 1), (450, 9), (500, 10), (420, 16)];
        let parts = parts.map(|(lines, probes)| BlockedBloom::from_parts(lines, probes).unwrap());
        for empty in parts
            .into_iter()
            .chain([400, 600].map(|lines| BlockedBloom::straddling(lines).unwrap()))
            .chain([400, 601].map(|lines| BlockedBloom::with_patterns(lines).unwrap()))
        {
            let (lines, spread, expected) = (empty.lines(), empty.spread, empty.expected_rate(KEYS));
            // Several fillings, since one differs from the mean of all by more than its questions do.
            let (mut rates, mut hits) = (vec![], 0);
            for filling in 0..8 {
                let mut filter = empty.clone();
                filter.insert_all(&keys(2 + filling, KEYS)).unwrap();
                let mut answers = vec![];
                filter.contains_all(&asked[..TRIALS as usize / 8], &mut answers);
                hits += answers.iter().filter(|&&answer| answer).count();
                rates.push(filter.false_positive_rate());
            }
            let mean = rates.iter().sum::<f64>() / 8.0;
            let sigma = (rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / 7.0 / 8.0).sqrt();
            assert!(
                (mean - expected).abs() < 4.0 * sigma,
                "{lines}, {spread:?}: {mean} ± {sigma}, {expected} expected"
            );
            let trials = TRIALS as f64;
            let (hits, likely) = (hits as f64, mean * trials);
            assert!((hits - likely).abs() < 3.0 * likely.sqrt(), "{lines}, {spread:?}: {hits} hits, {likely} expected");
        }
    }
}
