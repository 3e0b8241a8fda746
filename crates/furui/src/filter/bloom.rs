use std::io::{self, Write};
use std::ops::{Deref, DerefMut};

use super::error::no_memory;
use super::file::{BITS, META, Source, Stored, Writer};
use super::probes::{MAX_PROBES, check_rate, positions};
use super::{ConfigError, Filter, FilterMut, Full};
use crate::bits::Buffer;
use crate::format::field::{put, u32_at, u64_at};
use crate::format::{Align, Kind, ReadError};
use crate::hash::{HashSpec, KeyHash};

/// The most bits a Bloom filter has: 1 TiB of them.
const MAX_BITS: u64 = 1 << 43;

/// "Is it in this set?" in the least space a filter that takes keys at any time can do with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bloom<M = Buffer> {
    /// Little-endian words; bits beyond `bits` are 0.
    words: M,
    bits: u64,
    probes: u32,
    /// How many keys it was sized for; 0 if it was not sized for keys.
    capacity: u64,
    hash: HashSpec,
}

impl Bloom {
    /// A filter of `bits` bits with `probes` probes a key, whatever the number of keys.
    ///
    /// # Errors
    /// If there is no such filter: the message says what could be.
    pub fn from_parts(bits: u64, probes: u32) -> Result<Self, ConfigError> {
        if !(1..=MAX_BITS).contains(&bits) {
            return Err(ConfigError(format!("{bits} bits: a Bloom filter has from 1 to {MAX_BITS}")));
        }
        if !(1..=MAX_PROBES).contains(&probes) {
            return Err(ConfigError(format!("{probes} probes a key: a filter makes from 1 to {MAX_PROBES}")));
        }
        let words = bits.div_ceil(64) as usize;
        let words = Buffer::zeroed(8 * words).map_err(|_| no_memory(words, "words of 64 bits"))?;
        Ok(Self { words, bits, probes, capacity: 0, hash: HashSpec::default() })
    }

    /// A filter that has the false-positive `rate` when it holds `keys` keys.
    ///
    /// # Errors
    /// If `rate` is not between 0 and 1, or finer than 64-bit hashes of that many keys can be told apart, or if the
    /// filter would be too large.
    pub fn with_rate(keys: u64, rate: f64) -> Result<Self, ConfigError> {
        check_rate(rate, keys)?;
        let probes = (-rate.log2()).round().max(1.0) as u32;
        let k = f64::from(probes);
        let bits = -k * keys.max(1) as f64 / (-rate.powf(1.0 / k)).ln_1p();
        Ok(Self { capacity: keys, ..Self::from_parts(bits.ceil() as u64, probes)? })
    }

    /// The same filter for keys that are hashed like `hash`, instead of as [`HashSpec::default`] says. What is in it
    /// must have been hashed so.
    #[must_use]
    pub fn hashed_by(self, hash: HashSpec) -> Self {
        Self { hash, ..self }
    }
}

impl<M> Bloom<M> {
    /// How the keys are hashed.
    pub fn hash_spec(&self) -> HashSpec {
        self.hash
    }

    /// How many bits there are.
    pub fn bits(&self) -> u64 {
        self.bits
    }

    /// How many bits belong to a key.
    pub fn probes(&self) -> u32 {
        self.probes
    }

    /// How many keys it was sized for; 0 if it was not sized for keys.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }
}

impl<M: Deref<Target = [u8]>> Bloom<M> {
    fn bit(&self, position: usize) -> bool {
        self.words[position / 8] >> (position % 8) & 1 == 1
    }

    fn ones(&self) -> u64 {
        self.words.as_chunks::<8>().0.iter().map(|&word| u64::from(u64::from_le_bytes(word).count_ones())).sum()
    }
}

impl<M: Deref<Target = [u8]>> Filter for Bloom<M> {
    fn contains(&self, key: KeyHash) -> bool {
        positions(key, self.probes, self.bits as usize).all(|position| self.bit(position))
    }

    /// (x/m)^k for x bits that are set. Cost: one pass over the bits.
    fn false_positive_rate(&self) -> f64 {
        (self.ones() as f64 / self.bits as f64).powi(self.probes as i32)
    }
}

impl<M: DerefMut<Target = [u8]>> FilterMut for Bloom<M> {
    /// Never full.
    fn insert(&mut self, key: KeyHash) -> Result<bool, Full> {
        let mut new = false;
        for position in positions(key, self.probes, self.bits as usize) {
            let byte = &mut self.words[position / 8];
            new |= *byte >> (position % 8) & 1 == 0;
            *byte |= 1 << (position % 8);
        }
        Ok(new)
    }
}

impl<M: Deref<Target = [u8]>> Stored<M> for Bloom<M> {
    const KIND: Kind = Kind::Bloom;

    fn write(&self, out: &mut Writer<'_>) -> io::Result<()> {
        let mut meta = [0; 32];
        put(&mut meta, 0, self.bits.to_le_bytes());
        put(&mut meta, 8, self.capacity.to_le_bytes());
        put(&mut meta, 16, self.probes.to_le_bytes());
        out.section(META, Align::Line)?;
        out.write_all(&meta)?;
        out.section(BITS, Align::Line)?;
        out.write_all(&self.words)
    }

    fn read<S: Source<Bytes = M>>(source: &S) -> Result<Self, ReadError> {
        source.expect_sections(&[META, BITS])?;
        let meta: [u8; 32] = source.meta()?;
        let (bits, capacity, probes) = (u64_at(&meta, 0), u64_at(&meta, 8), u32_at(&meta, 16));
        if !(1..=MAX_BITS).contains(&bits) || !(1..=MAX_PROBES).contains(&probes) || meta[20..].iter().any(|&b| b != 0)
        {
            return Err(source.invalid(META, "no Bloom filter has these numbers of bits and probes"));
        }
        let words = source.table(BITS, bits.div_ceil(64) * 8)?;
        if bits % 64 != 0 && words.last_chunk().is_none_or(|&last| u64::from_le_bytes(last) >> (bits % 64) != 0) {
            return Err(source.invalid(BITS, "a bit beyond the last is set"));
        }
        Ok(Self { words, bits, probes, capacity, hash: source.envelope().hash() })
    }
}
