use std::io::{self, Write};
use std::ops::Deref;

use crate::bits::Buffer;
use crate::filter::{ConfigError, sizing};
use crate::format::field::{put, u32_at, u64_at};
use crate::format::{
    Align, Bytes, Envelope, EnvelopeWriter, FormatError, Kind, Problem, ReadError, Regions, Seal, Tag,
};
use crate::hash::{HashSpec, PolynomialHashes};
use crate::store::FilterHash;

const META: Tag = Tag::new(*b"META");
const META_LEN: usize = 32;
const BITS: Tag = Tag::new(*b"BITS");

/// The maximum number of bits of a polynomial filter: as many as any Bloom filter of this crate may have (1 TiB).
const MAX_BITS: u64 = 1 << 43;

/// The Bloom filter of the paper of Koyanagi et al.: its k positions are k polynomials of a key's bytes, modulo the
/// number of bits.
///
/// It takes keys, not hashes of 64 bits, so it is not one of the filters in [`filter`](crate::filter). None of the
/// polynomials' primes divides its number of bits: if one did, the position modulo this prime would depend only on the
/// last byte of the key.
///
/// Short keys have small polynomials: those of keys of fewer than log₁₃₁ m bytes do not reach all m bits, so these keys
/// have more false positives than the rate says.
///
/// **Source.** Koyanagi et al. (2011), section 4.4.
#[derive(Debug)]
pub(super) struct PolynomialFilter<M = Buffer> {
    words: M,
    bits: u64,
    /// The number of keys that the filter was sized for.
    keys: u64,
    hash: FilterHash,
}

impl PolynomialFilter {
    /// The filter of keys with these hashes, which has the false-positive `rate` for their number.
    ///
    /// # Errors
    /// [`ConfigError::TooLarge`] if no size has the rate; [`ConfigError::NoMemory`].
    pub(super) fn new<const K: usize>(
        keys: &[PolynomialHashes<K>],
        hash: FilterHash,
        rate: f64,
    ) -> Result<Self, ConfigError> {
        let count = keys.len() as u64;
        let least = sizing::with_probes(K as u32, rate, count);
        let divided = |bits: u64| PolynomialHashes::<K>::PRIMES.iter().any(|&prime| bits.is_multiple_of(prime));
        let bits = (least..=MAX_BITS).find(|&bits| !divided(bits));
        let bits = bits.ok_or(ConfigError::TooLarge { keys: count, rate, most: MAX_BITS, what: "bits" })?;
        let words = usize::try_from(bits.div_ceil(64) * 8).ok().and_then(|bytes| Buffer::zeroed(bytes).ok());
        let mut words = words.ok_or(ConfigError::NoMemory { count: (bits / 64) as usize, what: "words of 64 bits" })?;
        for position in keys.iter().flat_map(|key| key.hashes()).map(|hash| hash % bits) {
            words[(position / 8) as usize] |= 1 << (position % 8);
        }
        Ok(Self { words, bits, keys: count, hash })
    }

    /// Writes the filter's file to `out`.
    pub(super) fn write_to(&self, out: &mut dyn Write) -> io::Result<Seal> {
        let mut writer = EnvelopeWriter::new(out, Kind::PolynomialBloom, HashSpec::default())?;
        let mut meta = [0; META_LEN];
        put(&mut meta, 0, self.bits.to_le_bytes());
        put(&mut meta, 8, self.keys.to_le_bytes());
        put(&mut meta, 16, u32::from(self.hash.polynomials()).to_le_bytes());
        for (tag, bytes) in [(META, &meta[..]), (BITS, &self.words)] {
            writer.section(tag, Align::Line)?;
            writer.write_all(bytes)?;
        }
        writer.finish()
    }
}

impl<M: Deref<Target = [u8]>> PolynomialFilter<M> {
    /// True if the key whose hash polynomials have these values may be in the filter. `see` is called with bytes of the
    /// filter before they are read, so that they can be checked.
    fn contains(&self, polynomials: &[u64; 8], see: impl Fn(&[u8])) -> bool {
        polynomials[..usize::from(self.hash.polynomials())].iter().map(|hash| hash % self.bits).all(|position| {
            let byte = &self.words[(position / 8) as usize..][..1];
            see(byte);
            byte[0] >> (position % 8) & 1 == 1
        })
    }

    /// The number of keys that the filter was sized for.
    pub(super) fn capacity(&self) -> u64 {
        self.keys
    }

    /// The kind of hash from which the positions of a key are derived.
    pub(super) fn hash(&self) -> FilterHash {
        self.hash
    }

    fn rate(&self) -> f64 {
        let ones: u64 = self.words.iter().map(|byte| u64::from(byte.count_ones())).sum();
        (ones as f64 / self.bits as f64).powi(self.hash.polynomials().into())
    }
}

/// The values of the polynomials of `hash` for a key, from which a filter derives the key's positions; unused entries
/// are 0.
pub(super) fn polynomials(hash: FilterHash, key: &[u8]) -> [u64; 8] {
    match hash {
        FilterHash::OneState => [0; 8],
        FilterHash::Polynomials1 => first::<1>(key),
        FilterHash::Polynomials2 => first::<2>(key),
        FilterHash::Polynomials4 => first::<4>(key),
        FilterHash::Polynomials8 => first::<8>(key),
    }
}

fn first<const K: usize>(key: &[u8]) -> [u64; 8] {
    let state = key.iter().fold(PolynomialHashes::<K>::start(), |state, &byte| state.push(byte));
    let mut all = [0; 8];
    all[..K].copy_from_slice(state.hashes());
    all
}

/// A [`PolynomialFilter`] whose file is checked region by region, each when this process first reads it.
#[derive(Debug)]
pub(super) struct CheckedPolynomials {
    filter: PolynomialFilter<Bytes>,
    /// The address in memory of the file's first byte.
    origin: usize,
    regions: Regions,
}

impl CheckedPolynomials {
    /// Opens the filter in a file with these bytes, which is called `name` in errors.
    ///
    /// # Errors
    /// [`ReadError::Format`] if the envelope or the sizes in it are damaged, or if the file is of another kind. The
    /// bits are checked when they are read.
    pub(super) fn open(bytes: &Bytes, name: &str) -> Result<Self, ReadError> {
        let envelope = Envelope::open(&**bytes, name)?;
        envelope.expect_kind(Kind::PolynomialBloom)?;
        envelope.expect_hash(HashSpec::default())?;
        envelope.expect_sections(&[META, BITS], &[])?;
        let meta = envelope.read_section(&**bytes, META, META_LEN)?;
        let section = envelope.section(BITS)?;
        let start = section.offset as usize;
        let words =
            bytes.part(start..start + section.length as usize).expect("the envelope's sections lie inside the file");
        let sized = || {
            let meta = meta.first_chunk::<META_LEN>()?;
            let (bits, keys) = (u64_at(meta, 0), u64_at(meta, 8));
            let hash = u8::try_from(u32_at(meta, 16)).ok().and_then(FilterHash::of_polynomials)?;
            let fits = (1..=MAX_BITS).contains(&bits)
                && words.len() as u64 == bits.div_ceil(64) * 8
                && hash != FilterHash::OneState
                && meta[20..].iter().all(|&byte| byte == 0);
            fits.then(|| PolynomialFilter { words: words.clone(), bits, keys, hash })
        };
        let at_meta = envelope.sections()[0].offset;
        let filter = sized().ok_or_else(|| envelope.error(at_meta, Problem::Invalid("META has invalid sizes")))?;
        let regions = envelope.regions(bytes).expect("a filter's file has checksums of its regions");
        Ok(Self { filter, origin: bytes.as_ptr().addr(), regions })
    }

    /// True if the key whose hash [`polynomials`] have these values may be in the filter; false if it certainly is not.
    ///
    /// # Errors
    /// [`FormatError`] if the bytes that the look-up reads are damaged.
    pub(super) fn contains(&self, polynomials: &[u64; 8]) -> Result<bool, FormatError> {
        if self.regions.all_checked() {
            return Ok(self.filter.contains(polynomials, |_| {}));
        }
        let found = self.filter.contains(polynomials, |bytes| {
            self.regions.touch(bytes.as_ptr().addr() - self.origin, bytes.len());
        });
        self.regions.result()?;
        Ok(found)
    }

    /// The filter, whose bytes may not be checked yet.
    pub(super) fn filter(&self) -> &PolynomialFilter<Bytes> {
        &self.filter
    }

    /// The present false-positive rate, computed from the number of bits that are set. All regions of the file are
    /// checked.
    ///
    /// # Errors
    /// [`FormatError`] if a region is damaged.
    pub(super) fn rate(&self) -> Result<f64, FormatError> {
        self.regions.check_all()?;
        Ok(self.filter.rate())
    }
}
