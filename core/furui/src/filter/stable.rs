use std::io;
use std::ops::{Deref, DerefMut};

use super::counters::{CounterTable, filter_of_counters};
use super::file::{FilterSource, FilterWriter, Stored};
use super::probes::own_rate;
use super::stable_point::{check_stable, lasting_probes, random_zeros, read_stable};
use super::{ConfigError, Filter, FilterMut, Full, stable_decrements};
use crate::bits::{Buffer, scale};
use crate::format::ReadError;
use crate::hash::{HashSpec, KeyHash};

/// The numbers of bits that a counter may have.
const WIDTHS: [u32; 4] = [1, 2, 4, 8];

/// A Bloom filter for an endless stream. It answers "was it here lately?", in fixed memory and at a fixed error rate.
///
/// Every insertion subtracts 1 from P counters chosen at random, then sets the key's k counters to their maximum. Old
/// keys fade as new ones come, and the fraction of counters that are not 0 settles instead of growing to 1.
///
/// ```text
///   insert x:      -1          -1    -1              P counters at random
///   [ 0  3  0  2  3  1  0  0  2  1  0  3 ]
///                 ^        ^     ^                   the k of x become 3
/// ```
///
/// Both answers may be wrong: "no" is wrong for a key that has faded. Once the filter has settled, its false-positive
/// rate is (1 - Z)^k with Z = (1 + 1 / (P (1/k - 1/m)))^-Max for m counters with maximum Max.
///
/// Cost: no memory but the counters; k + P cache misses for each insertion, because the decrements are scattered.
/// [`StableBloomLight`](super::StableBloomLight) takes k + 1 cache misses, and errs no more often.
///
/// From Deng and Rafiei (SIGMOD 2006), as described in section 3.2.3 of Kubota, Ueda and Yamana. The random numbers are
/// from SplitMix64 with a fixed seed, so that equal insertions give equal filters. The state of the generator is kept
/// in the filter's file, so a filter that was written and read continues with the same random numbers.
///
/// ```
/// use furui::filter::StableBloom;
///
/// // 64 KiB for a stream without end: of its new keys, one in a hundred is taken for an old one.
/// let mut lately = StableBloom::with_rate(1 << 18, 2, 0.01)?;
/// assert!(lately.insert("https://example.org/") && lately.contains("https://example.org/"));
/// lately.extend((0..1_000_000u32).map(u32::to_le_bytes));
/// assert!(lately.false_positive_rate() < 0.011);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StableBloom<M = Buffer> {
    counters: CounterTable<M>,
    decrements: usize,
    random: SplitMix64,
    hash: HashSpec,
}

impl StableBloom {
    /// A filter of `counters` counters of `bits` bits (1, 2, 4 or 8; the maximum is 2^bits - 1) whose false-positive
    /// rate settles at `rate` or just below, by [`stable_decrements`].
    ///
    /// The number of probes is the smallest with which keys are remembered at least 0.9 times as long as with the best
    /// number: 4 at 1 %.
    ///
    /// # Errors
    /// If `rate` is not between 0 and 1, or there are too few counters for it.
    pub fn with_rate(counters: usize, bits: u32, rate: f64) -> Result<Self, ConfigError> {
        own_rate(rate, counters as u64)?;
        let max = max_of(bits)?;
        let probes = lasting_probes(rate, max);
        check_stable(counters, probes, 1)?;
        let decrements = stable_decrements(probes, rate, max, counters).ceil().max(1.0);
        Self::from_parts(counters, bits, probes, decrements as usize)
    }

    /// A filter of `counters` counters of `bits` bits (1, 2, 4 or 8) that makes `probes` probes a key and
    /// `decrements` decrements an insertion (P).
    ///
    /// # Errors
    /// If there is no such filter; the message says which values are valid.
    pub fn from_parts(counters: usize, bits: u32, probes: u32, decrements: usize) -> Result<Self, ConfigError> {
        check_stable(counters, probes, decrements)?;
        max_of(bits)?;
        let counters = CounterTable::new(counters, bits, probes)?;
        Ok(Self { counters, decrements, random: SplitMix64::new(), hash: HashSpec::default() })
    }
}

impl<M> StableBloom<M> {
    /// The false-positive rate at which the filter settles.
    pub fn stable_rate(&self) -> f64 {
        let zeros = random_zeros(self.probes(), self.decrements, self.counters.cells.max(), self.counters());
        (1.0 - zeros).powi(self.probes() as i32)
    }

    /// The number of counters that an insertion decrements (P).
    pub fn decrements(&self) -> usize {
        self.decrements
    }
}

impl<M: DerefMut<Target = [u8]>> StableBloom<M> {
    /// Subtracts 1 from `count` counters chosen at random. [`insert`](FilterMut::insert_hash) does so with P counters.
    pub fn decrement(&mut self, count: usize) {
        let mut cells = self.counters.cells.lend_mut();
        for _ in 0..count {
            let position = scale(self.random.next(), cells.len());
            cells.decrement(position);
        }
    }
}

filter_of_counters!(StableBloom, true);

impl<M: DerefMut<Target = [u8]>> FilterMut for StableBloom<M> {
    /// Inserts the key with this hash. Returns true if the key was not remembered, because it is new or has faded. This
    /// filter is never full.
    fn insert_hash(&mut self, key: KeyHash) -> Result<bool, Full> {
        let new = !self.contains_hash(key);
        self.decrement(self.decrements);
        let positions = self.counters.of(key);
        let mut cells = self.counters.cells.lend_mut();
        for position in positions {
            cells.fill(position);
        }
        Ok(new)
    }

    fn insert_all(&mut self, keys: &[KeyHash]) -> Result<u64, Full> {
        (0..).zip(keys).try_fold(0, |new, (i, &key)| {
            self.counters.fetch_ahead(keys, i);
            Ok(new + u64::from(self.insert_hash(key)?))
        })
    }
}

impl<M: Deref<Target = [u8]>> Stored<M> for StableBloom<M> {
    fn write(&self, out: &mut FilterWriter<'_>) -> io::Result<()> {
        self.counters.write(self.decrements as u64, self.random.0, out)
    }

    fn reads(&self, key: KeyHash, see: &mut dyn FnMut(&[u8])) {
        self.counters.reads(key, see);
    }

    fn read(source: &FilterSource<'_, M>) -> Result<Self, ReadError> {
        let (counters, decrements, state) = read_stable(source, &WIDTHS)?;
        Ok(Self { counters, decrements, random: SplitMix64(state), hash: source.envelope.hash() })
    }
}

/// The maximum of a counter of `bits` bits.
fn max_of(bits: u32) -> Result<u8, ConfigError> {
    if WIDTHS.contains(&bits) {
        Ok(u8::MAX >> (8 - bits))
    } else {
        Err(ConfigError::CounterBits { given: bits, valid: &WIDTHS })
    }
}

/// The generator of Steele, Lea and Flood (OOPSLA 2014): 64 uniform bits from a counter, well mixed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator with a fixed state (the first digits of π), so that a filter depends only on its insertions.
    fn new() -> Self {
        Self(0x3243_F6A8_885A_308D)
    }

    #[inline]
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(i: u64) -> KeyHash {
        HashSpec::default().hash(&i.to_le_bytes())
    }

    #[test]
    fn the_rate_comes_to_rest_where_the_formula_says() {
        const COUNTERS: usize = 1 << 15;
        const TRIALS: u64 = 200_000;
        for (bits, probes, decrements) in [(2, 4, 30), (1, 3, 10), (4, 2, 60)] {
            let mut filter = StableBloom::from_parts(COUNTERS, bits, probes, decrements).unwrap();
            // Once a counter was decremented Max times, it no longer depends on its first value. After `settled`
            // insertions this is true of nearly all counters.
            let settled = (10 + 4 * filter.counters.cells.max() as usize) * COUNTERS / decrements;
            (0..settled as u64).for_each(|i| _ = filter.insert_hash(key(i)));
            let hits = (0..TRIALS).filter(|&i| filter.contains_hash(key(1 << 40 | i))).count() as f64;
            let measured = hits / TRIALS as f64;

            // For the filter in its present state, the trials are independent.
            let now = filter.false_positive_rate();
            let sigma = (now * (1.0 - now) / TRIALS as f64).sqrt();
            assert!((measured - now).abs() < 3.0 * sigma, "{bits} bits: {measured}, as it stands {now}");
            // In a settled filter, every counter is above 0 with equal probability: the fill varies by sqrt(fill (1 -
            // fill) / m).
            let rest = filter.stable_rate();
            let (k, fill) = (f64::from(probes), rest.powf(1.0 / f64::from(probes)));
            let of_state = rest * k * ((1.0 - fill) / fill / COUNTERS as f64).sqrt();
            assert!((measured - rest).abs() < 3.0 * sigma.hypot(of_state), "{bits} bits: {measured}, at rest {rest}");
        }
    }

    #[test]
    fn with_rate_keeps_the_rate_and_the_papers_numbers() {
        let filter = StableBloom::with_rate(1 << 20, 2, 0.01).unwrap();
        assert_eq!((filter.probes(), filter.decrements()), (4, 30));
        assert!(filter.stable_rate() <= 0.01 && filter.stable_rate() > 0.0095);
    }

    #[test]
    fn what_cannot_be_is_refused_with_what_could_be() {
        assert!(StableBloom::with_rate(1000, 3, 0.01).unwrap_err().to_string().contains("1, 2, 4, 8"));
        assert!(StableBloom::with_rate(1000, 2, 1.5).unwrap_err().to_string().contains("less than 1"));
        assert!(StableBloom::with_rate(4, 2, 0.01).unwrap_err().to_string().contains("from 5"));
        assert!(StableBloom::with_rate(20, 2, 0.01).unwrap_err().to_string().contains("from 1 to 20"));
        assert!(StableBloom::from_parts(1000, 2, 0, 10).is_err());
        assert!(StableBloom::from_parts(1000, 2, 3, 0).is_err());
    }
}
