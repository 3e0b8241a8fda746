use std::ops::{Deref, DerefMut};

use super::concurrent::{BitTable, Shareable};
use super::error::no_memory;
use super::probes::own_rate;
use super::{ConfigError, Filter, FilterMut, Full};
use crate::bits::{Buffer, Cpu};
use crate::hash::{HashSpec, KeyHash};
use kernel::Line;
use layout::Layout;

mod file;
mod kernel;
mod layout;
mod rate;

pub use layout::MAX_BLOCKED_PROBES;

/// The maximum number of cache lines of a filter. Together they have 1 TiB.
const MAX_LINES: u64 = 1 << 34;

/// The finest rate of a [`BlockedBloom`]. The finer the rate, the more false positives come from lines with too many
/// keys. At this rate a filter takes 1.5 times the bits of a [`Bloom`](super::Bloom) filter; for finer rates, rounding
/// errors make the formula for the rate useless.
pub const FINEST_BLOCKED_RATE: f64 = 1e-9;

/// A blocked Bloom filter answers "is it in this set?" with one access to memory. All bits of a key lie in one cache
/// line, or with more than 8 probes in two neighbouring lines.
///
/// ```text
///  h ──► line A ────────────────────────┐         for more than 8 probes: ┌─► line A ⊕ 1, its neighbour
///       ┌──┬──┬──┬──┬──┬──┬──┬──┐                        ┌──┬──┬──┬──┬──┬──┬──┬──┐
///       │ ·│· │  ·│·│  │ ·│· │ ·│  a bit in each lane    │  │  │  │· │ ·│  │  │  │  in k - 8 lanes in a row
///       └──┴──┴──┴──┴──┴──┴──┴──┘                        └──┴──┴──┴──┴──┴──┴──┴──┘
///  h · M ──► 6 bits a lane, and 3: which lane is first   h · M² ──► likewise
/// ```
///
/// With k < 8 probes the bits are in k consecutive lanes, the first of which is chosen at random.
///
/// **Rate.** [`expected_rate`](Self::expected_rate) is exact: it takes into account that bits share a line, and that
/// some lines get more keys than others. These two effects cost 5 % more space than a [`Bloom`](super::Bloom) filter
/// takes at 1 % (10.10 bits a key instead of 9.62) and 9 % more at 0.1 % (15.73 instead of 14.42). For finer rates, a
/// key has bits in two lines, because two lines seldom both have too many keys.
///
/// **Cost.** With at most 8 probes, insertions and lookups touch one line; with more, they touch two neighbouring
/// lines. But a single lookup of a key that is not in the filter seldom reads the second line. A line is one vector of
/// AVX-512, or two of AVX2. Batches prefetch the lines of later keys.
///
/// **Source.** Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007: blocks, and one bit
/// in each lane. **Differs** in the second line: in the paper all probes of a key are in one block. It also differs in
/// that the bits of a key are not patterns from a table, which would save 1.6 % of space at 0.1 %.
///
/// ```
/// use furui::filter::BlockedBloom;
///
/// let mut filter = BlockedBloom::with_rate(1000, 0.01)?;
/// assert!(filter.insert("seen before"));
/// assert!(filter.contains("seen before") && !filter.contains("new"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedBloom<M = Buffer> {
    /// Lines of eight little-endian words. If each key has bits in two lines, the number of lines is even.
    pub(super) table: M,
    pub(super) layout: Layout,
    /// The number of keys that the filter was sized for; 0 if it was not sized for a number of keys.
    capacity: u64,
    hash: HashSpec,
    cpu: Cpu,
}

impl BlockedBloom {
    /// A filter of `lines` lines of 512 bits with `probes` probes a key, whatever the number of keys.
    ///
    /// # Errors
    /// If there is no such filter; the message says which values are valid.
    pub fn from_parts(lines: u64, probes: u32) -> Result<Self, ConfigError> {
        let layout = Layout::of(probes).ok_or_else(|| ConfigError::OutOfRange {
            what: "probes a key",
            given: probes.into(),
            least: 1,
            most: MAX_BLOCKED_PROBES.into(),
        })?;
        Self::with_layout(lines, layout)
    }

    fn with_layout(lines: u64, layout: Layout) -> Result<Self, ConfigError> {
        check_parts(lines, layout)?;
        let lines = usize::try_from(lines).map_err(|_| no_memory(usize::MAX, "lines of 64 bytes"))?;
        let table = lines.checked_mul(size_of::<Line>()).and_then(|bytes| Buffer::zeroed(bytes).ok());
        let table = table.ok_or_else(|| no_memory(lines, "lines of 64 bytes"))?;
        Ok(Self { table, layout, capacity: 0, hash: HashSpec::default(), cpu: Cpu::detect() })
    }

    /// A filter that has the false-positive `rate` when it holds `keys` keys. It is the smallest one, or the smallest
    /// with 8 probes if that is at most 1/20 larger (10.10 bits a key instead of 9.93 at 1 %). A filter with 8 probes
    /// is faster, because all bits of a key are in a single line.
    ///
    /// # Errors
    /// If `rate` is not between [`FINEST_BLOCKED_RATE`] and 1, or finer than 64-bit hashes of that many keys allow, or
    /// if the filter would be too large.
    pub fn with_rate(keys: u64, rate: f64) -> Result<Self, ConfigError> {
        let own = own_rate(rate, keys)?;
        if rate < FINEST_BLOCKED_RATE {
            return Err(ConfigError::Rate { given: rate, finest: FINEST_BLOCKED_RATE });
        }
        let (lines, layout) = rate::least(keys, own).ok_or(ConfigError::TooLarge {
            keys,
            rate,
            most: MAX_LINES,
            what: "lines of a blocked filter",
        })?;
        Ok(Self { capacity: keys, ..Self::with_layout(lines, layout)? })
    }

    /// This filter, for keys that are hashed by `hash` instead of by [`HashSpec::default`]. Keys that are already in
    /// the filter must have been hashed by `hash` too.
    #[must_use]
    pub fn hashed_by(self, hash: HashSpec) -> Self {
        Self { hash, ..self }
    }
}

/// Checks that a filter of this layout can have this many lines.
fn check_parts(lines: u64, layout: Layout) -> Result<(), ConfigError> {
    if !(1..=MAX_LINES).contains(&lines) {
        return Err(ConfigError::OutOfRange {
            what: "lines of a blocked filter",
            given: lines,
            least: 1,
            most: MAX_LINES,
        });
    }
    if layout.is_pair() && lines % 2 == 1 {
        return Err(ConfigError::OddLines { lines, probes: layout.probes() });
    }
    Ok(())
}

impl<M> BlockedBloom<M> {
    /// The number of bits that belong to each key.
    pub fn probes(&self) -> u32 {
        self.layout.probes()
    }

    /// The number of keys that the filter was sized for; 0 if it was not sized for a number of keys.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }
}

impl<M: Deref<Target = [u8]>> BlockedBloom<M> {
    /// The number of cache lines of 512 bits. All bits of a key are in one of them or, with many probes, in a pair of
    /// lines.
    pub fn lines(&self) -> u64 {
        self.table().len() as u64
    }

    /// The number of bits of all lines together.
    pub fn bits(&self) -> u64 {
        8 * self.table.len() as u64
    }

    /// The exact false-positive rate that is expected when the filter holds `keys` keys: the mean over all ways in
    /// which random keys can be distributed.
    pub fn expected_rate(&self, keys: u64) -> f64 {
        rate::expected(keys, self.lines(), self.layout)
    }

    fn table(&self) -> &[Line] {
        self.table.as_chunks().0
    }
}

impl<M: Deref<Target = [u8]>> Filter for BlockedBloom<M> {
    fn hash_spec(&self) -> HashSpec {
        self.hash
    }

    #[inline(always)]
    fn contains_hash(&self, key: KeyHash) -> bool {
        kernel::contains(self.cpu, self.table(), self.layout, key)
    }

    fn contains_all(&self, keys: &[KeyHash], out: &mut Vec<bool>) {
        out.clear();
        out.resize(keys.len(), false);
        kernel::contains_all(self.cpu, self.table(), self.layout, keys, out);
    }

    /// The false-positive rate: the mean, over all lines and all possible first lanes, of the product of the shares of
    /// set bits in the probed lanes. Cost: one pass over the lines.
    fn false_positive_rate(&self) -> f64 {
        rate::standing(self.table(), self.layout)
    }
}

impl<M: DerefMut<Target = [u8]>> FilterMut for BlockedBloom<M> {
    /// Inserts the key with this hash. The result is never an error, because this filter is never full.
    #[inline(always)]
    fn insert_hash(&mut self, key: KeyHash) -> Result<bool, Full> {
        Ok(kernel::insert(self.cpu, self.table.as_chunks_mut().0, self.layout, key))
    }

    fn insert_all(&mut self, keys: &[KeyHash]) -> Result<u64, Full> {
        Ok(kernel::insert_all(self.cpu, self.table.as_chunks_mut().0, self.layout, keys))
    }
}

impl Shareable for BlockedBloom {}

impl BitTable for BlockedBloom {
    fn take_table(self) -> (Self, Buffer) {
        (Self { table: Buffer::empty(), ..self }, self.table)
    }

    fn with_table(&self, table: Buffer) -> Self {
        Self { table, ..*self }
    }

    fn hash_spec(&self) -> HashSpec {
        self.hash
    }

    #[inline(always)]
    fn all(&self, words: usize, key: KeyHash, mut each: impl FnMut(usize, u64) -> bool) -> bool {
        let (line, choice) = (kernel::line_of(key, words / 8), Layout::choice(key));
        let mut in_line = |line: usize, bits: [u64; 8]| {
            (8 * line..).zip(bits).filter(|&(_, bits)| bits != 0).all(|(word, bits)| each(word, bits))
        };
        if !in_line(line, self.layout.own(choice).bits(choice)) {
            return false;
        }
        let other = Layout::other_choice(choice);
        !self.layout.is_pair() || in_line(line ^ 1, self.layout.other(other).bits(other))
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
        let (many, keys, others) = (keys(2, 100_000), keys(0, 3000), keys(1, 30_000));
        for layout in Layout::all() {
            // One table fits in a cache; in the other one, lines are prefetched.
            for lines in [60, (8 << 20) / size_of::<Line>() as u64] {
                let empty = BlockedBloom::with_layout(lines, layout).unwrap();
                let mut made = vec![];
                for cpu in Cpu::all() {
                    let (mut single, mut batched) = (BlockedBloom { cpu, ..empty.clone() }, empty.clone());
                    batched.cpu = cpu;
                    let new = keys.iter().filter(|&&key| single.insert_hash(key).unwrap()).count() as u64;
                    assert_eq!(batched.insert_all(&keys), Ok(new));
                    assert!(batched.table == single.table, "{cpu:?}, {layout:?}");
                    let mut answers = vec![];
                    single.contains_all(&others, &mut answers);
                    assert!(others.iter().zip(&answers).all(|(&key, &answer)| single.contains_hash(key) == answer));
                    // Every key is there, in this set of instructions: a bug of few keys in 10,000 would be seen.
                    batched.insert_all(&many).unwrap();
                    assert!(many.iter().all(|&key| batched.contains_hash(key)), "{cpu:?}, {layout:?}");
                    let mut found = vec![];
                    batched.contains_all(&many, &mut found);
                    assert!(found.len() == many.len() && found.iter().all(|&found| found), "{cpu:?}, {layout:?}");
                    made.push((single.table, batched.table, new, answers));
                }
                assert!(made.iter().all(|one| one == &made[0]), "{layout:?}");
            }
        }
    }

    #[test]
    fn the_rate_is_that_of_the_formula_and_of_the_bits() {
        const KEYS: u64 = 20_000;
        const TRIALS: u64 = 400_000;
        let asked = keys(1, TRIALS);
        let parts = [(400, 8), (400, 5), (390, 7), (340, 3), (390, 1), (450, 9), (500, 10), (420, 16)];
        for (lines, probes) in parts {
            let empty = BlockedBloom::from_parts(lines, probes).unwrap();
            let expected = empty.expected_rate(KEYS);
            // The rates of single filters differ from their mean by more than the error of a measurement. So the test
            // fills several filters and compares the mean.
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
            assert!((mean - expected).abs() < 4.0 * sigma, "{lines}, {probes}: {mean} ± {sigma}, {expected} expected");
            let trials = TRIALS as f64;
            let (hits, likely) = (hits as f64, mean * trials);
            assert!((hits - likely).abs() < 3.0 * likely.sqrt(), "{lines}, {probes}: {hits} hits, {likely} expected");
        }
    }
}
