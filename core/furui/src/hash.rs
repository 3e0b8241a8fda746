//! Hashing of keys: the only module in which the bytes of a key become a hash.
//!
//! A key is hashed when it enters the program, by a [`KeyHasher`], and from then on it is a [`KeyHash`]. A [`HashSpec`]
//! says how it was hashed. Every file holds the spec of its keys, and specs are compared whenever two structures meet,
//! so that filters with different seeds are never mixed up silently.
//!
//! A caller that hashes keys itself puts them into [`Hashes`], which record their spec. A structure with another spec
//! rejects them with an error. A bare [`KeyHash`] does not know how it was made. Only low-level methods take bare
//! hashes, such as those of the trait [`Filter`](crate::filter::Filter). These methods cannot detect a hash that was
//! made by another spec.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::str::FromStr;

use siphasher::sip::SipHasher13;

use crate::text::{self, InvalidText};

mod dot;
mod hasher;
mod hashes;
mod key_form;
mod keyed;
pub(crate) mod polynomial;
pub(crate) mod rolling;

pub use hasher::KeyHasher;
pub use hashes::Hashes;
pub use key_form::{InvalidKeyForm, KeyForm};
pub(crate) use polynomial::PolynomialHashes;
pub(crate) use rolling::RollingRun;
pub(crate) use rolling::{Rolling, RollingState};

/// The 64-bit hash of a key, made by a [`HashSpec`].
///
/// A key is identified by these 64 bits in `furui seen`. Among n distinct keys, the expected number of keys that are
/// mistaken for another key is n²/2⁶⁵ (0.03 at 10⁹ keys, 2.7 at 10¹⁰).
///
/// ```
/// use furui::{HashSpec, KeyHash};
///
/// let key = HashSpec::default().hash(b"seen");
/// assert_eq!(KeyHash::new(key.get()), key);
/// ```
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyHash(u64);

impl KeyHash {
    /// Wraps a hash that was computed elsewhere. It must be uniform over all 64 bits, because filters take positions
    /// and fingerprints from its bits as they are.
    #[inline]
    pub const fn new(hash: u64) -> Self {
        Self(hash)
    }

    /// Among `keys` distinct keys, the expected number of keys that have the hash of another key: n²/2⁶⁵.
    pub fn expected_collisions(keys: u64) -> f64 {
        (keys as f64).powi(2) / 2f64.powi(65)
    }

    /// The 64 bits of the hash, for code that computes positions or bytes from them. Whatever only looks a key up takes
    /// the [`KeyHash`] itself, so that no hash is hashed again.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// The function that turns bytes into a [`KeyHash`]. docs/format.md says which number stands for each function in
/// files.
///
/// ```
/// use furui::filter::Bloom;
/// use furui::{HashAlgorithm, HashSpec};
///
/// // The keys come from strangers who see the answers.
/// let spec = HashSpec { algorithm: HashAlgorithm::SipHash13, ..HashSpec::random() };
/// let mut words = Bloom::with_rate(1000, 0.01)?.hashed_by(spec);
/// words.insert("以前");
/// assert_eq!(words.hash_spec().algorithm.name(), "siphash");
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HashAlgorithm {
    /// XXH3 with 64 bits. With seed 0 it is the published function: fast, and safe against accidental collisions. With
    /// any other seed it is keyed, because all words that it mixes with the key are derived from the seed. The keyed
    /// function is equally fast, and safe against adversaries who neither know the seed nor see answers.
    Xxh3 = 1,
    /// SipHash-1-3 keyed by the seed. It is also safe against an adversary who sees answers.
    SipHash13 = 2,
    /// The first 64 bits of SHA-1 over the seed and the key. With it, a [`Bloom`](crate::filter::Bloom) filter takes
    /// its k probes from k salted SHA-1 digests. It is meant for comparison with filters made that way: it is many
    /// times slower than XXH3, and gives no protection against an adversary who knows the seed.
    Sha1 = 3,
    /// XXH64 with a seed. With seed 0 it is the hash of Apache Parquet's filters. For other purposes
    /// [`Xxh3`](Self::Xxh3) is faster.
    Xxh64 = 4,
    /// A polynomial hash keyed by the seed, for dictionaries: a walk over a trie carries the hash's state along each
    /// path (see [`Rolling`]).
    Rolling = 5,
}

impl HashAlgorithm {
    /// Every algorithm that this version knows.
    const ALL: [Self; 5] = [Self::Xxh3, Self::SipHash13, Self::Sha1, Self::Xxh64, Self::Rolling];

    /// The number that stands for this algorithm in files.
    pub const fn code(self) -> u16 {
        self as u16
    }

    /// The algorithm that a number in a file stands for, if this version knows it.
    pub(crate) fn from_code(code: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.code() == code)
    }

    /// The name of the algorithm in options and output (`--hash NAME`).
    pub const fn name(self) -> &'static str {
        match self {
            Self::Xxh3 => "xxh3",
            Self::SipHash13 => "siphash",
            Self::Sha1 => "sha1",
            Self::Xxh64 => "xxh64",
            Self::Rolling => "rolling",
        }
    }
}

impl FromStr for HashAlgorithm {
    type Err = InvalidText;

    /// The algorithm with this [`name`](Self::name), which must be written in the same case.
    fn from_str(text: &str) -> Result<Self, InvalidText> {
        let found = Self::ALL.into_iter().find(|algorithm| algorithm.name() == text);
        found.ok_or_else(|| InvalidText::new(text, "hash: write xxh3, siphash, xxh64, sha1 or rolling"))
    }
}

/// The specification of a hash: algorithm and seed. Two structures can be combined only if their specs are equal.
///
/// ```
/// use furui::HashSpec;
/// let spec = HashSpec::default();
/// assert_eq!(spec.hash(b"seen before"), spec.hash(b"seen before"));
/// assert_ne!(spec.hash(b"a"), HashSpec { seed: 1, ..spec }.hash(b"a"));
/// assert_eq!("xxh3:0".parse(), Ok(spec));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HashSpec {
    /// The hash function, which determines the speed, and the adversaries against whom keys are safe.
    pub algorithm: HashAlgorithm,
    /// The seed of XXH64. For SHA-1, it is a prefix of each key. For SipHash, the rolling hash and (unless it is 0)
    /// XXH3, the secret key of the hash is derived from it. A file holds the seed unencrypted, so a file with a secret
    /// seed must be kept secret, unless the file was [saved without its
    /// seed](crate::filter::AnyFilter::save_without_seed). An adversary who knows the seed can choose keys that
    /// collide, or that crowd one place of a table.
    pub seed: u64,
}

impl Default for HashSpec {
    /// XXH3 with seed 0, so that filters made anywhere can be combined.
    fn default() -> Self {
        Self { algorithm: HashAlgorithm::Xxh3, seed: 0 }
    }
}

impl HashSpec {
    /// XXH3 with a random seed, for sets whose keys strangers can choose.
    pub fn random() -> Self {
        Self { algorithm: HashAlgorithm::Xxh3, seed: RandomState::new().build_hasher().finish() }
    }

    /// A number that identifies the seed in files that do not hold the seed itself. With it, two parties can tell
    /// whether they have the same seed. It is the first 64 bits of the SHA-1 of `furui seed` and the eight bytes of the
    /// seed, little-endian. The only known way to find the seed from this number is to try up to 2⁶⁴ seeds.
    pub fn seed_fingerprint(self) -> u64 {
        let mut sha1 = sha1_smol::Sha1::new();
        sha1.update(b"furui seed");
        sha1.update(&self.seed.to_le_bytes());
        first_word(&sha1.digest().bytes())
    }

    /// Prepares this spec to hash many keys. Cost: at most about 1 µs.
    #[inline]
    pub fn hasher(self) -> KeyHasher {
        KeyHasher::new(self)
    }

    /// Hashes a key. To hash more than a few keys, make one [`hasher`](Self::hasher).
    #[inline]
    pub fn hash(self, key: &[u8]) -> KeyHash {
        self.hasher().hash(key)
    }
}

/// Multiplied by this odd constant (2⁶⁴ / golden ratio), the seed gives the second half of the SipHash key, so that a
/// 64-bit seed fills both halves.
const SIP_KEY_TURN: u64 = 0x9E37_79B9_7F4A_7C15;

/// SipHash-1-3 with a key that is derived from a seed.
fn sip(seed: u64) -> SipHasher13 {
    SipHasher13::new_with_keys(seed, seed.wrapping_mul(SIP_KEY_TURN))
}

/// An endless sequence of words that look random to anybody who does not know the seed.
fn seed_words(seed: u64) -> impl Iterator<Item = u64> {
    (0u64..).map(move |i| {
        let mut sip = sip(seed);
        sip.write(&i.to_le_bytes());
        sip.finish()
    })
}

/// The first 64 bits of a SHA-1 digest.
fn first_word(digest: &[u8; 20]) -> u64 {
    u64::from_le_bytes(*digest.first_chunk().expect("a digest has 20 bytes"))
}

/// The hash function number `salt`: the first 64 bits of the SHA-1 of the salt and the key's hash.
pub(crate) fn salted_sha1(salt: u32, key: KeyHash) -> u64 {
    let mut bytes = [0; 12];
    bytes[..4].copy_from_slice(&salt.to_le_bytes());
    bytes[4..].copy_from_slice(&key.get().to_le_bytes());
    first_word(&sha1_smol::Sha1::from(bytes).digest().bytes())
}

/// Spreads every bit of `x` over all bits of the result. The function is a bijection (Stafford's variant 13 of the
/// MurmurHash3 finalizer).
#[inline(always)]
const fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

impl FromStr for HashSpec {
    type Err = InvalidText;

    /// Reads `NAME`, whose seed is 0, or `NAME:SEED`. SEED is a number as [`text::seed`] reads it, or `random`.
    fn from_str(text: &str) -> Result<Self, InvalidText> {
        let (name, seed) = text.split_once(':').unwrap_or((text, "0"));
        let seed = if seed == "random" { Self::random().seed } else { text::seed(seed)? };
        Ok(Self { algorithm: name.parse()?, seed })
    }
}

impl fmt::Display for HashSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with seed {:#018x}", self.algorithm.name(), self.seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fingerprint_of_a_seed_is_that_of_the_format() {
        assert_eq!(HashSpec { seed: 7, ..HashSpec::default() }.seed_fingerprint(), 0x0D8B_E7C2_68B3_56EB);
    }

    #[test]
    fn hashes_are_those_of_the_published_algorithms() {
        // XXH3 of the empty input, as the reference implementation prints it.
        assert_eq!(HashSpec::default().hash(b"").get(), 0x2D06_8005_38D3_94C2);
        // XXH3 with a seed, as docs/format.md defines it.
        let seeded = HashSpec { algorithm: HashAlgorithm::Xxh3, seed: 7 }.hasher();
        assert_eq!(seeded.hash(b"seen before").get(), 0xB532_D3A6_0F40_2DF0);
        assert_eq!(seeded.hash(&[b'a'; 1000]).get(), 0xD0A5_A3C7_96B3_E6A6);
        assert_eq!(
            seed_words(7).step_by(23).take(2).collect::<Vec<_>>(),
            [0xE4F3_26E0_4DFB_FE26, 0x2D60_EBE9_16D0_FD88]
        );
        // SHA-1 of eight zero bytes and "abc", and of 01 00 00 00 and eight zero bytes, by sha1sum.
        let sha1 = HashSpec { algorithm: HashAlgorithm::Sha1, seed: 0 };
        assert_eq!(sha1.hash(b"abc").get().to_le_bytes(), [0xfc, 0x1a, 0x88, 0x93, 0xfe, 0x07, 0xe2, 0xf2]);
        assert_eq!(salted_sha1(1, KeyHash::new(0)).to_le_bytes(), [0x67, 0x57, 0xfb, 0xbd, 0x5f, 0xab, 0x6a, 0xb3]);
        // XXH64 of the empty input and of "abc" with seed 0, as published.
        let xxh64 = HashSpec { algorithm: HashAlgorithm::Xxh64, seed: 0 };
        assert_eq!(xxh64.hash(b"").get(), 0xEF46_DB37_51D8_E999);
        assert_eq!(xxh64.hash(b"abc").get(), 0x44BC_2CF5_AD77_0999);
    }

    #[test]
    fn codes_names_and_algorithms_are_one_to_one() {
        for algorithm in HashAlgorithm::ALL {
            assert_eq!(HashAlgorithm::from_code(algorithm.code()), Some(algorithm));
            assert_eq!(algorithm.name().parse(), Ok(algorithm));
        }
        assert_eq!("xxh64:0x2a".parse(), Ok(HashSpec { algorithm: HashAlgorithm::Xxh64, seed: 42 }));
        assert_ne!("xxh3:random".parse::<HashSpec>().unwrap().seed, 0);
        for bad in ["", "md5", "xxh3:", "xxh3:2a", "XXH3"] {
            assert!(bad.parse::<HashSpec>().is_err(), "{bad}");
        }
        assert_eq!(HashAlgorithm::from_code(0), None);
        assert_eq!(HashAlgorithm::from_code(999), None);
    }
}
