//! The ringed Bloom filter; see [`RingedBloom`].

mod file;
mod key;
mod lookup;
mod params;
mod rate;
mod ring;

use std::ops::{Deref, DerefMut};

use super::error::no_memory;
use super::file::check_bits;
use super::{ConfigError, Filter, FilterMut, Full};
use crate::bits::Buffer;
use crate::hash::{HashSpec, KeyHash};

pub use key::RingedKey;
pub use params::{Gamma, RingedParams};
pub use rate::{ringed_rate, ringed_rate_refined};

use ring::Ring;

/// The default number of groups in a window: at k = 7 the rate is then 1.007 times that of a Bloom filter.
const WINDOW: u32 = 1000;

/// A ringed Bloom filter, for sets of many sizes: a key is hashed completely before the size of any set is known.
///
/// A program that looks up the same million keys in filters of many sizes cannot precompute the positions of these keys
/// in [`Bloom`](super::Bloom) filters, because they depend on the size of the filter. Filters of one size for all sets
/// waste space on small sets, and say yes to nearly everything for large ones. Here the positions of a key depend on
/// the size only through one remainder: the rest is a [`RingedKey`], computed once.
///
/// The ring has n groups of γ bits for n keys. The window of a key has δ groups and begins at group T = h₀ mod n, where
/// h₀ is the hash of the key; windows overlap. The key's k bits are in its window, at fractions of it that do not
/// depend on the filter:
///
/// ```text
///            T γ             window: δ γ bits
///             ├──────────────────────────────────────┤
///   ┌────┬────┬────┬────┬────┬────┬────┬────┬────┬────┬────┬────┐
///   │    │    │  1 │    │   1│    │    │1   │ 1  │    │    │    │   n groups of γ bits; after the last
///   └────┴────┴────┴────┴────┴────┴────┴────┴────┴────┴────┴────┘   comes the first again
///             ├──┘        │            │     │
///              h₁         h₂           h₃    h₄                     bit (T γ + hᵢ) mod (n γ)
/// ```
///
/// **Choosing δ.** δ = 1 is the n-divided filter: every group is a filter by itself, and groups that get two or three
/// keys by chance raise the rate more than tenfold. The more groups a window spans, the more even is its load. At
/// k = 7, compared with a Bloom filter of the same number of bits, the rate is 1.7 times as high for δ = 10, 1.07 times
/// for δ = 100, and 1.007 times for δ = 1000. A window of 100 groups lies in three or four cache lines. In a table
/// larger than the caches, batched lookups of precomputed keys then take a third (misses) to a half (hits) less time
/// than in a Bloom filter. A window of 1000 groups has 20 lines, more than a key has probes, so batched lookups take as
/// long as in a Bloom filter. This is also true of the paper's windows of 100,000 groups. Single lookups take no longer
/// than in a Bloom filter if they hit, and a fifth to a half longer if they miss (more in longer windows). If n is
/// below δ, every probe takes a remainder, and a lookup takes 1.6 times as long. So take δ = 1000, or, at k = 7,
/// δ = 100 where time matters more than 7 % of the rate. The cost of a window grows with k. By the formula for the
/// expected rate, windows of 100 groups raise the rate by 14 % at k = 10 and 76 % at k = 20. Windows of 1000 groups
/// raise it by 1.4 % at k = 10, 6 % at k = 20 and 15 % at k = 30. [`with_rate`](Self::with_rate) makes up for this with
/// more bits.
///
/// **Cost.** A filter takes n γ bits; with [`Gamma::Exact`], a Bloom filter of equal rate takes as much. A lookup takes
/// a remainder (two multiplications) and up to k reads; 15 in 16 misses fail at the first four bits, which are tested
/// together. In a table larger than the caches, batches take a third to two thirds of the time of single lookups.
/// Before the filter is built, its expected rate is [`RingedParams::expected_rate`]; afterwards its exact rate is
/// [`false_positive_rate`](Filter::false_positive_rate).
///
/// **Source.** Sei, Matsuzaki and Honiden, "Using Ringed Bloom Filters to Reduce the Communication Traffic on a
/// Distributed Hash Table", eqs. 5 to 8. What differs:
/// - γ need not be whole ([`Gamma`]). Group T then begins at bit ⌊T γ⌋, and the ring has ⌈n γ⌉ bits.
/// - All k + 1 hash functions are derived from the 64 bits of one [`KeyHash`]. h₀ is the hash itself. To get the other
///   hash functions, the hash is mixed once more, and then multiplied from probe to probe. Each of them is a fraction
///   of a window, in units of 2⁻³² windows, so that it does not depend on the length of the window.
/// - The paper's formula for the rate, eq. 13, is [`ringed_rate`]; a more accurate one is [`ringed_rate_refined`].
///
/// ```
/// use furui::filter::{Gamma, RingedBloom, RingedParams};
///
/// let params = RingedParams::with_rate(0.01, Gamma::Exact, 1000)?;
/// let mut filter = RingedBloom::with_size(params, 3)?;
/// filter.extend(["kiku", "ume", "sakura"]);
/// assert!(filter.contains("ume") && !filter.contains("matsu"));
/// assert_eq!(filter.bits(), 31);
/// # Ok::<(), furui::Error>(())
/// ```
///
/// For many filters and precomputed keys, see [`RingedKey`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingedBloom<M = Buffer> {
    /// The bits as little-endian 64-bit words; bits beyond those of the ring are 0.
    pub(super) words: M,
    ring: Ring,
    hash: HashSpec,
}

impl RingedBloom {
    /// A filter that is expected to have the false-positive `rate` when it holds `keys` keys, with windows of 1000
    /// groups and the probes of [`sizing::few_probes`](super::sizing::few_probes).
    ///
    /// # Errors
    /// Those of [`with_window`](Self::with_window).
    pub fn with_rate(keys: u64, rate: f64) -> Result<Self, ConfigError> {
        Self::with_window(keys, rate, WINDOW)
    }

    /// The filter of [`with_rate`](Self::with_rate), but with windows of `delta` groups.
    ///
    /// Cost: about ten times that of [`RingedParams::expected_rate`].
    ///
    /// # Errors
    /// If `rate` is not between 0 and 1, or finer than 64-bit hashes of that many keys allow, or if the filter would be
    /// too large.
    pub fn with_window(keys: u64, rate: f64, delta: u32) -> Result<Self, ConfigError> {
        Self::with_size(RingedParams::least(keys, rate, delta)?, keys)
    }

    /// An empty filter for `keys` keys; for 0 keys it has the size for one key.
    ///
    /// # Errors
    /// If the filter would be too large.
    pub fn with_size(params: RingedParams, keys: u64) -> Result<Self, ConfigError> {
        let ring = Ring::new(params, keys)?;
        let words = ring.bits_here().ok_or_else(|| no_memory(usize::MAX, "bits"))?.div_ceil(64);
        let words = Buffer::zeroed(8 * words).map_err(|_| no_memory(words, "words of 64 bits"))?;
        Ok(Self { words, ring, hash: HashSpec::default() })
    }

    /// Makes a filter of `params` for `keys` keys from its table, the bytes that [`as_bytes`](Self::as_bytes) returned.
    ///
    /// # Errors
    /// If the filter would be too large, or if `bytes` are not the table of such a filter.
    pub fn from_bytes(params: RingedParams, keys: u64, bytes: &[u8]) -> Result<Self, ConfigError> {
        check_bits(params.bits(keys)?, bytes)?;
        let mut filter = Self::with_size(params, keys)?;
        filter.words[..bytes.len()].copy_from_slice(bytes);
        Ok(filter)
    }

    /// This filter, for keys that are hashed by `hash` instead of by [`HashSpec::default`]. Keys that are already in
    /// the filter must have been hashed by `hash` too.
    #[must_use]
    pub fn hashed_by(self, hash: HashSpec) -> Self {
        Self { hash, ..self }
    }
}

impl<M> RingedBloom<M> {
    /// The parameters that the filter shares with filters of other sizes.
    pub fn params(&self) -> RingedParams {
        self.ring.params()
    }

    /// The number of keys that the filter was sized for, which is the number of groups (n).
    pub fn capacity(&self) -> u64 {
        self.ring.groups()
    }

    /// The number of bits of the ring (m).
    pub fn bits(&self) -> u64 {
        self.ring.bits()
    }

    /// The number of bits that belong to each key (k).
    pub fn probes(&self) -> u32 {
        self.params().probes()
    }
}

impl<M: Deref<Target = [u8]>> RingedBloom<M> {
    /// Works like [`contains`](Filter::contains_hash) for a precomputed key.
    #[inline(always)]
    pub fn contains_key(&self, key: &RingedKey) -> bool {
        lookup::contains(self.words(), &self.ring, key)
    }

    /// Works like [`contains_all`](Filter::contains_all) for precomputed keys.
    pub fn contains_all_keys(&self, keys: &[RingedKey], out: &mut Vec<bool>) {
        out.clear();
        out.resize(keys.len(), false);
        lookup::contains_all(self.words(), &self.ring, keys, out);
    }

    /// The table of bits alone: eight bits a byte, the first bit least significant, and zeros after the last bit.
    pub fn as_bytes(&self) -> &[u8] {
        &self.words[..self.bits().div_ceil(8) as usize]
    }

    fn words(&self) -> &[[u8; 8]] {
        self.words.as_chunks().0
    }

    /// The number of bits that are set among the positions `from..to`.
    fn ones_in(&self, from: u64, to: u64) -> u64 {
        let words = self.words();
        let (first, last) = ((from / 64) as usize, to.div_ceil(64) as usize);
        (first..last)
            .map(|i| {
                let at = 64 * i as u64;
                let below = from.saturating_sub(at);
                let above = (at + 64).saturating_sub(to);
                let word = u64::from_le_bytes(words[i]) >> below << below;
                u64::from((word << above >> above).count_ones())
            })
            .sum()
    }

    /// Works like [`ones_in`](Self::ones_in), for positions that may be in the ring's second round and are less than
    /// one round apart.
    fn ones_around(&self, from: u64, to: u64) -> u64 {
        let bits = self.bits();
        match (from < bits, to <= bits) {
            (true, true) => self.ones_in(from, to),
            (true, false) => self.ones_in(from, bits) + self.ones_in(0, to - bits),
            (false, _) => self.ones_in(from - bits, to - bits),
        }
    }
}

impl<M: Deref<Target = [u8]>> Filter for RingedBloom<M> {
    fn hash_spec(&self) -> HashSpec {
        self.hash
    }

    #[inline(always)]
    fn contains_hash(&self, key: KeyHash) -> bool {
        lookup::contains_hash(self.words(), &self.ring, key)
    }

    fn contains_all(&self, keys: &[KeyHash], out: &mut Vec<bool>) {
        out.clear();
        out.resize(keys.len(), false);
        lookup::contains_all_hashes(self.words(), &self.ring, keys, out);
    }

    /// The false-positive rate: the mean of (x/w)^k over all windows, where x of the w bits of a window are set. This
    /// is exact for a uniform hash and windows far shorter than 2³² bits. Cost: one pass over the bits, two steps a
    /// group.
    fn false_positive_rate(&self) -> f64 {
        let (bits, window) = (self.bits(), u64::from(self.params().window()));
        // A window covers some whole rounds of the ring and a part of one.
        let rounds = self.ones_in(0, bits) * (window / bits);
        let part = window % bits;
        let mut ones = self.ones_around(0, part);
        let mut sum = 0.0;
        for group in 0..self.capacity() {
            sum += ((rounds + ones) as f64 / window as f64).powi(self.probes() as i32);
            let (from, to) = (self.ring.start(group), self.ring.start(group + 1).min(bits));
            ones = ones + self.ones_around(from + part, to + part) - self.ones_in(from, to);
        }
        sum / self.capacity() as f64
    }
}

impl<M: DerefMut<Target = [u8]>> FilterMut for RingedBloom<M> {
    /// Inserts the key with this hash. The result is never an error, because this filter is never full.
    #[inline]
    fn insert_hash(&mut self, key: KeyHash) -> Result<bool, Full> {
        Ok(lookup::insert(self.words.as_chunks_mut().0, &self.ring, key))
    }

    fn insert_all(&mut self, keys: &[KeyHash]) -> Result<u64, Full> {
        Ok(lookup::insert_all(self.words.as_chunks_mut().0, &self.ring, keys))
    }
}
