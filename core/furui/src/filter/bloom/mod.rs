mod file;
mod probing;

use std::ops::{Deref, DerefMut};

use super::concurrent::{BitTable, Shareable};
use super::error::no_memory;
use super::file::check_bits;
use super::probes::{check_probes, own_rate, positions, salted_positions};
use super::{ConfigError, Filter, FilterMut, Full, sizing};
use crate::bits::Buffer;
use crate::hash::{HashAlgorithm, HashSpec, KeyHash};
use probing::BloomShape;

/// The maximum number of bits of a Bloom filter. Together they take 1 TiB.
const MAX_BITS: u64 = 1 << 43;

/// A Bloom filter answers "is it in this set?". "No" is certain, and "yes" is wrong at a rate of your choice. It takes
/// the least space of all filters into which keys can be inserted at any time.
///
/// Each key has k of the m bits, chosen by its hash. Inserting the key sets them; a key may be in the set if all its
/// bits are set. Keys are not stored, and cannot be removed.
///
/// ```text
///              x                 y
///           /  |  \           /  |  \
///   [ 0  0  1  1  0  0  0  1  0  1  1  0 ]      a key that meets only ones was inserted, or is a false positive
/// ```
///
/// Cost: 1.44 log₂(1/rate) bits a key, 9.6 at 1 % and 28.8 at 10⁻⁶. With n keys the rate is (1 - (1 - 1/m)^(kn))^k. The
/// rate grows if there are more keys than the capacity, and nothing else goes wrong. An insertion and a hit touch k
/// cache lines, a miss two to four, or two in a batch. [`contains_all`](Filter::contains_all) and
/// [`insert_all`](FilterMut::insert_all) prefetch the lines of many keys. In a table larger than the caches, a key of a
/// batch then takes a third to two thirds of the time of a single key, except for hits where memory is slow. A blocked
/// filter takes more space and touches one line.
///
/// From Bloom, "Space/Time Trade-offs in Hash Coding with Allowable Errors" (1970), sized by equations 1 to 4 of Sei,
/// Matsuzaki and Honiden; see [`sizing`]. In place of their k independent hash functions there are k steps of one
/// multiplicative sequence that starts with the key's 64-bit hash. Keys of equal hash then add n / 2⁶⁴ to the rate:
/// [`with_rate`](Self::with_rate) allows for that, and refuses finer rates. Positions are scaled to m instead of taken
/// modulo m, so m can be any number.
///
/// If keys are hashed by [`HashAlgorithm::Sha1`], the k functions are SHA-1 with k salts, as in the Perl module
/// Bloom::Filter: position i is derived from SHA-1(i, hash of the key). There are two differences from that module: the
/// salt is hashed with the key's digest instead of the key, so that a key is read only once; and positions are scaled.
///
/// Set operations work on filters with equal numbers of bits and of probes: [`union`](Self::union) is OR,
/// [`intersection`](Self::intersection) is AND, and [`similarity`](Self::similarity) estimates from the bits alone how
/// much two sets have in common.
///
/// A filter does not store its keys, but does not hide them from guesses: with the hash's seed, which its file holds,
/// all words of a dictionary can be looked up. Without the seed of a keyed hash, the bits show only how many keys there
/// are, and how many keys filters with the same seed share.
///
/// ```
/// use furui::filter::Bloom;
///
/// let mut words = Bloom::with_rate(1000, 0.01)?;
/// words.insert("以前");
/// words.extend(["a", "b"]);
/// assert!(words.contains("以前") && !words.contains("珠玉"));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bloom<M = Buffer> {
    /// The bits as little-endian 64-bit words; bits beyond `bits` are 0.
    pub(super) words: M,
    bits: u64,
    probes: u32,
    /// The number of keys that the filter was sized for; 0 if it was not sized for a number of keys.
    capacity: u64,
    hash: HashSpec,
}

impl Bloom {
    /// A filter of `bits` bits with `probes` probes a key, whatever the number of keys: the fixed-size Bloom filter of
    /// Sei et al. Any two filters with equal `bits` and `probes` can be combined, and positions can be computed before
    /// the number of keys is known. The rate is [`sizing::rate`], which depends strongly on the number of keys.
    ///
    /// # Errors
    /// If there is no such filter; the message says which values are valid.
    pub fn from_parts(bits: u64, probes: u32) -> Result<Self, ConfigError> {
        if !(1..=MAX_BITS).contains(&bits) {
            return Err(ConfigError::OutOfRange {
                what: "bits of a Bloom filter",
                given: bits,
                least: 1,
                most: MAX_BITS,
            });
        }
        check_probes(probes)?;
        // The index of a bit must fit into a machine word.
        let words = usize::try_from(bits).map_err(|_| no_memory(usize::MAX, "bits"))?.div_ceil(64);
        let words = Buffer::zeroed(8 * words).map_err(|_| no_memory(words, "words of 64 bits"))?;
        Ok(Self { words, bits, probes, capacity: 0, hash: HashSpec::default() })
    }

    /// The filter of `bits` bits and `probes` probes a key whose [`as_bytes`](Self::as_bytes) are `bytes`.
    ///
    /// # Errors
    /// If there is no such filter, or if `bytes` are not a valid table for it.
    pub fn from_bytes(bits: u64, probes: u32, bytes: &[u8]) -> Result<Self, ConfigError> {
        check_bits(bits, bytes)?;
        let mut filter = Self::from_parts(bits, probes)?;
        filter.words[..bytes.len()].copy_from_slice(bytes);
        Ok(filter)
    }

    /// A filter that has the false-positive rate `rate` when it holds `keys` keys. The smallest such filter is
    /// [`from_parts`](Self::from_parts) of [`sizing::least`]. This one is at most .5 % larger, and has the fewest
    /// probes that this allows ([`sizing::few_probes`]).
    ///
    /// With k probes and n keys, the true rate exceeds `rate` by a fraction of about k / (10 n) (see [`sizing::rate`]).
    /// With 100 keys the fraction is less than 1 % at a `rate` of 1 %, and 3 % at 10⁻⁹. With a single key, a `rate` of
    /// 1 % is met, but the true rate is 3 times `rate` at 10⁻⁶ and 7 times at 10⁻⁹.
    ///
    /// # Errors
    /// If `rate` is not between 0 and 1, or finer than 64-bit hashes of that many keys allow, or if the filter would be
    /// too large.
    pub fn with_rate(keys: u64, rate: f64) -> Result<Self, ConfigError> {
        let (bits, probes) = sizing::few_probes(own_rate(rate, keys)?, keys);
        Ok(Self { capacity: keys, ..Self::from_parts(bits, probes)? })
    }

    /// This filter, with `keys` as the number of keys that it was sized for.
    pub(in crate::filter) fn with_capacity(self, keys: u64) -> Self {
        Self { capacity: keys, ..self }
    }

    /// A filter of the size that equations 3 and 4 give for `keys` keys at the rate `rate` or better: the variable-size
    /// Bloom filter of Sei et al., for comparison with their results. It is larger than necessary unless `rate` is a
    /// power of ½; a filter by [`with_rate`](Self::with_rate) is at most .5 % larger than necessary.
    ///
    /// # Errors
    /// Those of [`with_rate`](Self::with_rate).
    pub fn variable_size(keys: u64, rate: f64) -> Result<Self, ConfigError> {
        own_rate(rate, keys)?;
        let filter = Self::from_parts(sizing::bits(rate, keys).max(1), sizing::probes(rate))?;
        Ok(Self { capacity: keys, ..filter })
    }

    /// This filter, for keys that are hashed by `hash` instead of by [`HashSpec::default`]. Keys that are already in
    /// the filter must have been hashed by `hash` too.
    #[must_use]
    pub fn hashed_by(self, hash: HashSpec) -> Self {
        Self { hash, ..self }
    }
}

impl<M> Bloom<M> {
    /// The number of bits of the table (m).
    pub fn bits(&self) -> u64 {
        self.bits
    }

    /// The number of bits that belong to each key.
    pub fn probes(&self) -> u32 {
        self.probes
    }

    /// The number of keys that the filter was sized for; 0 if it was not sized for a number of keys.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    #[inline]
    fn shape(&self) -> BloomShape {
        BloomShape { bits: self.bits as usize, probes: self.probes }
    }

    /// True if SHA-1 computes the positions of the probes.
    #[inline]
    fn salted(&self) -> bool {
        self.hash.algorithm == HashAlgorithm::Sha1
    }
}

impl<M: Deref<Target = [u8]>> Bloom<M> {
    /// A copy of the filter that owns its memory.
    ///
    /// # Errors
    /// [`ConfigError::NoMemory`].
    pub(super) fn copy(&self) -> Result<Bloom, ConfigError> {
        let mut copy = Bloom::from_parts(self.bits, self.probes)?;
        copy.words.copy_from_slice(&self.words);
        Ok(Bloom { capacity: self.capacity, hash: self.hash, ..copy })
    }

    /// The share of the bits that are set: ½ when a filter of the best size holds as many keys as it was sized for.
    /// Cost: one pass over the bits.
    pub fn fill(&self) -> f64 {
        self.ones() as f64 / self.bits as f64
    }

    /// The table of bits alone: eight bits a byte, the first bit least significant, and zeros after the last bit.
    pub fn as_bytes(&self) -> &[u8] {
        &self.words[..self.bits.div_ceil(8) as usize]
    }

    #[inline]
    fn words(&self) -> &[[u8; 8]] {
        self.words.as_chunks().0
    }
}

impl<M: Deref<Target = [u8]>> Filter for Bloom<M> {
    fn hash_spec(&self) -> HashSpec {
        self.hash
    }

    #[inline(always)]
    fn contains_hash(&self, key: KeyHash) -> bool {
        if self.salted() {
            return probing::contains_salted(self.words(), self.shape(), key);
        }
        probing::contains(self.words(), self.shape(), key)
    }

    fn contains_all(&self, keys: &[KeyHash], out: &mut Vec<bool>) {
        out.clear();
        if self.salted() {
            out.extend(keys.iter().map(|&key| self.contains_hash(key)));
        } else {
            out.resize(keys.len(), false);
            probing::contains_all(self.words(), self.shape(), keys, out);
        }
    }

    /// The false-positive rate (x/m)^k, where x of the m bits are set and a key has k of them. Cost: one pass over the
    /// bits.
    fn false_positive_rate(&self) -> f64 {
        self.fill().powi(self.probes as i32)
    }
}

impl<M: DerefMut<Target = [u8]>> FilterMut for Bloom<M> {
    /// Inserts the key with this hash. The result is never an error, because this filter is never full.
    #[inline(always)]
    fn insert_hash(&mut self, key: KeyHash) -> Result<bool, Full> {
        let (salted, shape) = (self.salted(), self.shape());
        let words = self.words.as_chunks_mut().0;
        Ok(if salted { probing::insert_salted(words, shape, key) } else { probing::insert(words, shape, key) })
    }

    fn insert_all(&mut self, keys: &[KeyHash]) -> Result<u64, Full> {
        let (salted, shape) = (self.salted(), self.shape());
        let words = self.words.as_chunks_mut().0;
        Ok(if salted {
            keys.iter().map(|&key| u64::from(probing::insert_salted(words, shape, key))).sum()
        } else {
            probing::insert_all(words, shape, keys)
        })
    }
}

impl Shareable for Bloom {}

impl BitTable for Bloom {
    fn take_table(self) -> (Self, Buffer) {
        (Self { words: Buffer::empty(), ..self }, self.words)
    }

    fn with_table(&self, words: Buffer) -> Self {
        Self { words, ..*self }
    }

    fn hash_spec(&self) -> HashSpec {
        self.hash
    }

    #[inline(always)]
    fn all(&self, _: usize, key: KeyHash, mut each: impl FnMut(usize, u64) -> bool) -> bool {
        let mut each = |position: usize| each(position / 64, 1 << (position % 64));
        if self.salted() {
            return salted_positions(key, self.probes, self.bits as usize).all(each);
        }
        positions(key, self.probes, self.bits as usize).all(&mut each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::bit;
    use crate::bits::testing::mostly_ones;

    #[test]
    fn a_batch_gives_the_answers_of_single_keys() {
        // Three tables fit in near caches, and two are larger than the caches.
        for bits in [1, 1000, 70_001, 40_000_001, 101_000_003] {
            let mut table = Bloom::from_parts(bits, 1).unwrap();
            let words = table.words.as_chunks_mut().0;
            words.copy_from_slice(&mostly_ones(words.len()));
            let keys: Vec<KeyHash> = (0..2000u32).map(|i| HashSpec::default().hash(&i.to_le_bytes())).collect();
            for probes in [1, 2, 3, 4, 5, 7, 8, 9, 16, 20, 64] {
                let filter = Bloom { probes, ..table.clone() };
                let expected: Vec<bool> = keys
                    .iter()
                    .map(|&key| {
                        positions(key, probes, bits as usize).all(|position| bit(filter.words(), position) == 1)
                    })
                    .collect();
                assert!(
                    keys.iter().map(|&key| filter.contains_hash(key)).eq(expected.iter().copied()),
                    "{bits}, {probes}"
                );
                let mut batch = vec![];
                for count in [2000, 20] {
                    filter.contains_all(&keys[..count], &mut batch);
                    assert_eq!(batch, expected[..count], "{bits} bits, {probes} probes");
                }
            }
        }
    }
}
