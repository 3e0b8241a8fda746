use std::io::{self, Write};
use std::ops::{Deref, DerefMut};

use super::error::no_memory;
use super::file::{BITS, FilterSource, FilterWriter, META, Stored};
use super::probes::own_rate;
use super::smallest_size::least;
use super::{ConfigError, Filter, FilterMut, Full, sizing};
use crate::bits::{Buffer, Cpu};
use crate::format::field::{put, u64_at};
use crate::format::{Align, ReadError};
use crate::hash::{HashAlgorithm, HashSpec, KeyHash};

mod kernel;
mod parquet;

pub use parquet::{MAX_PARQUET_BYTES, ParquetError};

/// The size of a block of a split-block filter: 32 bytes, as in Parquet.
const BLOCK: usize = size_of::<kernel::SplitBlock>();

/// The maximum number of blocks, by Parquet's specification: one less than 2³¹, almost 64 GiB.
const MAX_BLOCKS: u64 = (1 << 31) - 1;

/// The finest rate of a [`SplitBlockBloom`], 2⁻²⁴. A block uses 32 bits of a hash, so two keys of one block have the
/// same bits with a probability of 2⁻³². No formula for the rate includes this probability. At rates down to this one,
/// it adds at most a hundredth of the rate.
pub const FINEST_SPLIT_BLOCK_RATE: f64 = 1.0 / (1 << 24) as f64;

/// The spec by which the keys of Parquet's filters are hashed: XXH64 with seed 0.
const XXH64: HashSpec = HashSpec { algorithm: HashAlgorithm::Xxh64, seed: 0 };

/// The Bloom filter of Apache Parquet, bit for bit. It answers "is this value in that column chunk?". A key's eight
/// bits lie in one block of 256 bits, half a cache line.
///
/// ```text
///  h, 64 bits   ┌── upper 32: which block ──┬── lower 32: x ──────────────┐
///                     │                            │ bit (x · saltᵢ) >> 27 of word i
///        ┌─────────┬──▼──────┬─────────┬──         ▼
///        │ block 0 │ block 1 │ block 2 │     ┌──┬──┬──┬──┬──┬──┬──┬──┐
///        └─────────┴─────────┴─────────┴──   │ 0│ 1│ 2│ 3│ 4│ 5│ 6│ 7│   eight words of 32 bits
///                                            └──┴──┴──┴──┴──┴──┴──┴──┘
/// ```
///
/// **Rate.** A block that holds i keys says yes with probability (1 - (31/32)ⁱ)⁸, and with n keys in z blocks i is
/// nearly Poisson-distributed with mean n/z ([`rate_with`](Self::rate_with)). The filter takes 10.5 bits a key for a
/// rate of 1 %, 16.9 for 0.1 % and 26.3 for 0.01 %. A [`Bloom`](super::Bloom) filter takes only 9.6, 14.4 and 19.2 bits
/// a key, but many accesses to memory instead of one.
///
/// **Cost.** One cache miss a key; the bits of a block are one vector of AVX2.
///
/// **Source.** Apache Parquet's specification `BloomFilter.md`; the blocks are from Putze, Sanders and Singler,
/// "Cache-, Hash- and Space-Efficient Bloom Filters", 2007. **Differs** only in the sizes: writers of Parquet files
/// round to a power of two, as [`for_parquet`](Self::for_parquet) does. [`with_rate`](Self::with_rate) does not round.
///
/// By default, keys are hashed by XXH64 with seed 0. A key of a Parquet file is the plain encoding of a value, without
/// the length before a byte array.
///
/// ```
/// use furui::filter::SplitBlockBloom;
///
/// let mut filter = SplitBlockBloom::for_parquet(1000, 0.01)?;
/// filter.insert("seen before");
/// filter.insert(7i64.to_le_bytes());
///
/// let mut bytes = Vec::new();
/// filter.to_parquet(&mut bytes)?;
/// let read = SplitBlockBloom::from_parquet(&bytes)?;
/// assert!(read.contains("seen before") && !read.contains("new"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitBlockBloom<M = Buffer> {
    /// Blocks of eight little-endian words of 32 bits, at least one.
    pub(super) table: M,
    /// The number of keys that the filter was sized for; 0 if it was not sized for a number of keys.
    capacity: u64,
    hash: HashSpec,
    cpu: Cpu,
}

impl SplitBlockBloom {
    /// A filter of `blocks` blocks of 256 bits, whatever the number of keys.
    ///
    /// # Errors
    /// If there is no such filter; the message says which values are valid.
    pub fn from_parts(blocks: u64) -> Result<Self, ConfigError> {
        if !(1..=MAX_BLOCKS).contains(&blocks) {
            return Err(ConfigError::OutOfRange {
                what: "blocks of a split-block filter",
                given: blocks,
                least: 1,
                most: MAX_BLOCKS,
            });
        }
        let blocks = blocks as usize;
        let table = blocks.checked_mul(BLOCK).and_then(|bytes| Buffer::zeroed(bytes).ok());
        let table = table.ok_or_else(|| no_memory(blocks, "blocks of 256 bits"))?;
        Ok(Self { table, capacity: 0, hash: XXH64, cpu: Cpu::detect() })
    }

    /// The smallest filter that has the false-positive `rate` when it holds `keys` keys.
    ///
    /// # Errors
    /// If `rate` is not between [`FINEST_SPLIT_BLOCK_RATE`] and 1, or if the filter would be too large.
    pub fn with_rate(keys: u64, rate: f64) -> Result<Self, ConfigError> {
        Ok(Self { capacity: keys, ..Self::from_parts(Self::blocks_for(keys, rate)?)? })
    }

    /// This filter, for keys that are hashed by `hash` instead of by XXH64 with seed 0. Keys that are already in the
    /// filter must have been hashed by `hash` too. Readers of Parquet files do not find the keys of such a filter.
    #[must_use]
    pub fn hashed_by(self, hash: HashSpec) -> Self {
        Self { hash, ..self }
    }

    /// The expected false-positive rate of `blocks` blocks with `keys` keys.
    pub fn rate_with(keys: u64, blocks: u64) -> f64 {
        /// The mean number of keys of a block above which the block says yes to all but one key in 10²⁰.
        const FULL: f64 = 2000.0;
        let mean = keys as f64 / blocks as f64;
        if mean == 0.0 {
            return 0.0;
        }
        if mean > FULL {
            return 1.0;
        }
        let most = mean + 12.0 * mean.sqrt() + 40.0;
        let (mut rate, mut ln_probability) = (0.0, -mean);
        for i in 1..most as u32 {
            let i = f64::from(i);
            ln_probability += (mean / i).ln();
            rate += ln_probability.exp() * (1.0 - (31.0 / 32.0f64).powf(i)).powi(8);
        }
        // Rounding errors of a thousand steps may add up to a rate above 1.
        rate.min(1.0)
    }

    /// The smallest number of blocks with which `keys` keys have the rate `rate`.
    fn blocks_for(keys: u64, rate: f64) -> Result<u64, ConfigError> {
        own_rate(rate, keys)?;
        if rate < FINEST_SPLIT_BLOCK_RATE {
            return Err(ConfigError::Rate { given: rate, finest: FINEST_SPLIT_BLOCK_RATE });
        }
        let guess = sizing::least(rate, keys).0 / (8 * BLOCK as u64) / 7 * 8;
        least(guess, MAX_BLOCKS, |blocks| (Self::rate_with(keys, blocks) / rate).ln()).ok_or(ConfigError::TooLarge {
            keys,
            rate,
            most: MAX_BLOCKS,
            what: "blocks of a split-block filter",
        })
    }
}

impl<M> SplitBlockBloom<M> {
    /// The number of keys that the filter was sized for; 0 if it was not sized for a number of keys.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }
}

impl<M: Deref<Target = [u8]>> SplitBlockBloom<M> {
    /// The number of blocks of 256 bits. All bits of a key are in one of them.
    pub fn blocks(&self) -> u64 {
        (self.table.len() / BLOCK) as u64
    }
}

impl<M: Deref<Target = [u8]>> Filter for SplitBlockBloom<M> {
    fn hash_spec(&self) -> HashSpec {
        self.hash
    }

    fn contains_hash(&self, key: KeyHash) -> bool {
        kernel::contains(self.cpu, self.table.as_chunks().0, key)
    }

    fn contains_all(&self, keys: &[KeyHash], out: &mut Vec<bool>) {
        out.clear();
        out.resize(keys.len(), false);
        kernel::contains_all(self.cpu, self.table.as_chunks().0, keys, out);
    }

    /// The false-positive rate: the mean, over all blocks, of the product of the fractions of set bits in the words of
    /// a block. Cost: one pass over the blocks.
    fn false_positive_rate(&self) -> f64 {
        let blocks = self.table.as_chunks::<BLOCK>().0;
        let rate_of = |block: &kernel::SplitBlock| -> f64 {
            let words = block.as_chunks::<4>().0;
            words.iter().map(|&word| f64::from(u32::from_le_bytes(word).count_ones()) / 32.0).product()
        };
        blocks.iter().map(rate_of).sum::<f64>() / blocks.len() as f64
    }
}

impl<M: DerefMut<Target = [u8]>> FilterMut for SplitBlockBloom<M> {
    /// Inserts the key with this hash. The result is never an error, because this filter is never full.
    fn insert_hash(&mut self, key: KeyHash) -> Result<bool, Full> {
        Ok(kernel::insert(self.cpu, self.table.as_chunks_mut().0, key))
    }

    fn insert_all(&mut self, keys: &[KeyHash]) -> Result<u64, Full> {
        Ok(kernel::insert_all(self.cpu, self.table.as_chunks_mut().0, keys))
    }
}

impl<M: Deref<Target = [u8]>> Stored<M> for SplitBlockBloom<M> {
    fn write(&self, out: &mut FilterWriter<'_>) -> io::Result<()> {
        let mut meta = [0; 32];
        put(&mut meta, 0, self.blocks().to_le_bytes());
        put(&mut meta, 8, self.capacity.to_le_bytes());
        out.section(META, Align::Line)?;
        out.write_all(&meta)?;
        out.section(BITS, Align::Line)?;
        out.write_all(&self.table)
    }

    fn reads(&self, key: KeyHash, see: &mut dyn FnMut(&[u8])) {
        let blocks = self.table.as_chunks::<BLOCK>().0;
        see(&blocks[kernel::place(key, blocks.len())]);
    }

    fn read(source: &FilterSource<'_, M>) -> Result<Self, ReadError> {
        source.expect_sections(&[META, BITS])?;
        let meta: [u8; 32] = source.meta()?;
        let (blocks, capacity) = (u64_at(&meta, 0), u64_at(&meta, 8));
        if !(1..=MAX_BLOCKS).contains(&blocks) || meta[16..].iter().any(|&byte| byte != 0) {
            return Err(source.invalid(META, "a split-block filter cannot have this number of blocks"));
        }
        let table = source.table(BITS, blocks * BLOCK as u64)?;
        Ok(Self { table, capacity, hash: source.envelope.hash(), cpu: Cpu::detect() })
    }
}
