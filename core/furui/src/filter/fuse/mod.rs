mod build;
mod file;
mod shape;

use std::ops::Deref;

use super::error::no_memory;
use super::probes::own_rate;
use super::{ConfigError, Estimate, Filter};
use crate::bits::{Buffer, Cpu, prefetch};
use crate::hash::{HashSpec, KeyHash};
use build::Construction;
use shape::{Places, Shape, WIDEST};

/// A table of at most this size, in bytes, is not prefetched: the processor overlaps the loads of keys by itself.
/// Measured: at 1 MB both ways take the same time.
const NEAR: usize = 1 << 20;

/// How much larger than usual a table is made, one after the other, until it can be built. Measured: of sets of uniform
/// hashes, only small ones need more than the first, and rarely.
const ROOMS: [f64; 4] = [1.0, 1.125, 1.5, 2.0];

/// The number of keys of a batch whose places are computed, and prefetched, before they are read.
const AHEAD: usize = 32;

/// A binary fuse filter answers "is it in this set?" for a set that is known as a whole: it is built once from all
/// keys, and nothing is inserted, removed or united later. It takes the least space of all filters here, and fits hints
/// that are built in one place, shipped, mapped and only read.
///
/// Each key has a fingerprint of w bits, and a place in each of four neighbouring segments of a table of such
/// fingerprints. The table is filled so that the XOR of the four places is the key's fingerprint:
///
/// ```text
///   segments │ 0       │ 1       │ 2       │ 3       │ 4       │ 5       │
///   key x    │    ■────┼─■───────┼───────■─┼──■      │         │         │    ■ xor ■ xor ■ xor ■ = fingerprint
///   key y    │         │      ■──┼─■───────┼─■───────┼──────■  │         │
/// ```
///
/// **Build.** Some places belong to one key only. Such a key is taken out of its places, whereupon others are left with
/// one key, and so on to the last key. Then, the last key first, the place from which each was taken is set so that its
/// XOR is right. If at some point all places belong to several keys, the build begins again with another multiplier of
/// the hashes, and at last with a larger table. The keys are cut by their hashes into shards of at most about a
/// million, each with a table and a multiplier of its own, so that a build needs little memory and stays in the caches.
///
/// **Cost.** 1.08 w bits a key for a rate of 2⁻ʷ: 8.6 at 0.39 %, where a [`Bloom`](super::Bloom) filter takes 11.5. A
/// rate that is no power of ½ is rounded down to one. Small sets take more: 9.0 bits at 0.39 % with 100,000 keys, 9.8
/// with 10,000, 12 with 1000, and with a handful of keys 320 bits together. A look-up reads four cache lines, for hits
/// and misses.
///
/// A build takes the 8 bytes of each hash that it is given (they are sorted in place), the table, and at most 25 MB
/// more, whatever the number of keys.
///
/// **Source.** Graf and Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters", 2022, the kind with four
/// places. **Differs** in the shards, in fingerprints of any number of bits up to 25, and in the order of the keys:
/// they are sorted, which also removes repeats, and their first places follow this order.
///
/// ```
/// use furui::HashSpec;
/// use furui::filter::Fuse;
///
/// let words = Fuse::from_keys(HashSpec::default(), ["以前", "珠玉", "以前"], 0.004)?;
/// assert!(words.contains("以前") && words.contains("珠玉") && !words.contains("seen"));
/// assert_eq!((words.len(), words.false_positive_rate()), (2, 1.0 / 256.0));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fuse<M = Buffer> {
    /// The blocks of the shards, as docs/format.md describes them.
    table: M,
    shape: Shape,
    /// The number of different hashes.
    keys: u64,
    hash: HashSpec,
}

impl Fuse {
    /// A filter of `keys`, hashed by `hash`, whose false-positive rate is the largest power of ½ that is at most
    /// `rate`. Repeated keys count once.
    ///
    /// # Errors
    /// Those of [`from_hashes`](Self::from_hashes).
    pub fn from_keys(
        hash: HashSpec,
        keys: impl IntoIterator<Item = impl AsRef<[u8]>>,
        rate: f64,
    ) -> Result<Self, ConfigError> {
        let hasher = hash.hasher();
        Self::from_hashes(hash, keys.into_iter().map(|key| hasher.hash(key.as_ref())).collect(), rate)
    }

    /// A filter of the keys with these hashes, in any order. The caller vouches that they were made by `hash`: nothing
    /// can check it. The filter's rate is the largest power of ½ that is at most `rate`.
    ///
    /// # Errors
    /// [`ConfigError::Rate`] if `rate` is not from 2⁻²⁵ to less than 1; [`ConfigError::NoMemory`];
    /// [`ConfigError::Unbuildable`] if the hashes are not uniform.
    pub fn from_hashes(hash: HashSpec, mut hashes: Vec<KeyHash>, rate: f64) -> Result<Self, ConfigError> {
        hashes.sort_unstable();
        hashes.dedup();
        let keys = hashes.len() as u64;
        own_rate(rate, keys)?;
        let width = (-rate.log2()).ceil().max(1.0);
        if width > f64::from(WIDEST) {
            return Err(ConfigError::Rate { given: rate, finest: 0.5f64.powi(WIDEST as i32) });
        }
        let mut built = Err(ConfigError::Unbuildable { keys });
        for room in ROOMS {
            built = build_table(&hashes, width as u32, room);
            if !matches!(built, Err(ConfigError::Unbuildable { .. })) {
                break;
            }
        }
        let (table, shape) = built?;
        Ok(Self { table, shape, keys, hash })
    }
}

impl<M> Fuse<M> {
    /// The number of different keys (more exactly, of different hashes) that the filter was built from.
    pub fn len(&self) -> u64 {
        self.keys
    }

    /// True if the filter was built from no keys. It contains nothing then.
    pub fn is_empty(&self) -> bool {
        self.keys == 0
    }

    /// The number of bits of a fingerprint: w for a rate of 2⁻ʷ.
    pub fn fingerprint_bits(&self) -> u32 {
        self.shape.width()
    }

    /// The number of shards into which the keys are cut: one for each 2²⁰ keys that are begun.
    pub fn shards(&self) -> u64 {
        self.shape.shards() as u64
    }

    /// The size of the table in bits.
    pub fn bits(&self) -> u64 {
        8 * self.shape.bytes() as u64
    }

    /// The number of different keys, which is known exactly.
    pub fn cardinality(&self) -> Estimate {
        Estimate { value: self.keys as f64, error: 0.0 }
    }
}

impl<M: Deref<Target = [u8]>> Filter for Fuse<M> {
    fn hash_spec(&self) -> HashSpec {
        self.hash
    }

    #[inline]
    fn contains_hash(&self, key: KeyHash) -> bool {
        !self.is_empty() && self.shape.difference(&self.table, self.shape.find(&self.table, key)) == 0
    }

    fn contains_all(&self, keys: &[KeyHash], out: &mut Vec<bool>) {
        out.clear();
        out.resize(keys.len(), false);
        if self.is_empty() {
            return;
        }
        Cpu::detect().without_avx512().run(
            #[inline(always)]
            |_| match self.shape.of_whole_bytes() {
                // The same code again, in which a fingerprint is a byte: it takes three quarters of the time.
                Some(shape) => look_up(shape, &self.table, keys, out),
                None => look_up(self.shape, &self.table, keys, out),
            },
        );
    }

    /// The false-positive rate, 2⁻ʷ for fingerprints of w bits; 0 without keys.
    fn false_positive_rate(&self) -> f64 {
        if self.is_empty() { 0.0 } else { 0.5f64.powi(self.shape.width() as i32) }
    }
}

/// Builds a table for these different keys, which ascend, with `room` times the places that they mostly need.
///
/// # Errors
/// [`ConfigError::Unbuildable`] if the keys need more room, [`ConfigError::NoMemory`].
fn build_table(keys: &[KeyHash], width: u32, room: f64) -> Result<(Buffer, Shape), ConfigError> {
    let shape = Shape::for_keys(keys, width, room)?;
    let mut table = Buffer::zeroed(shape.bytes()).map_err(|_| no_memory(shape.bytes(), "bytes"))?;
    let (mut builder, mut rest) = (Construction::new(shape), keys);
    for (shard, block) in table.chunks_exact_mut(shape.block()).enumerate() {
        let (of_shard, others) = rest.split_at(rest.partition_point(|&key| shape.shard(key) <= shard));
        builder.build(of_shard, block)?;
        rest = others;
    }
    Ok((table, shape))
}

/// Looks up keys in the table of a filter of this shape; the answers go to `answers`, which is as long as `keys`.
#[inline(always)]
fn look_up(shape: Shape, table: &[u8], keys: &[KeyHash], answers: &mut [bool]) {
    if table.len() <= NEAR {
        for (&key, answer) in keys.iter().zip(answers) {
            *answer = shape.difference(table, shape.find(table, key)) == 0;
        }
        return;
    }
    let mut soon = [Places::default(); AHEAD];
    for (keys, answers) in keys.chunks(AHEAD).zip(answers.chunks_mut(AHEAD)) {
        for (&key, places) in keys.iter().zip(&mut soon) {
            *places = shape.find(table, key);
            places.bits.iter().for_each(|bit| prefetch(&table[bit / 8]));
        }
        for (answer, &places) in answers.iter_mut().zip(&soon) {
            *answer = shape.difference(table, places) == 0;
        }
    }
}
