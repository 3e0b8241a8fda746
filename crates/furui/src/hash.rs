//! Where bytes become a hash, once: the only module that hashes keys.
//!
//! A key is hashed when it enters the program and travels on as a [`KeyHash`]. How it was hashed is a
//! [`HashSpec`], written in every file and compared whenever two structures meet, so that filters built with
//! different seeds can never be mixed up silently.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hasher};

mod rolling;

pub use rolling::{PolynomialHashes, Rolling};

/// The 64-bit hash of a key, made by a [`HashSpec`].
///
/// Sixty-four bits are the identity of a key in `furui seen`: among n distinct keys the expected number that are
/// mistaken for another is n²/2⁶⁵ (0.03 at 10⁹ keys, 2.7 at 10¹⁰).
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyHash(u64);

impl KeyHash {
    /// Wraps a hash that was computed elsewhere. It must be uniform over all 64 bits: filters cut their positions
    /// and fingerprints straight from it.
    #[inline]
    pub const fn new(hash: u64) -> Self {
        Self(hash)
    }

    /// How many of n distinct keys are expected to have the hash of another: n²/2⁶⁵.
    pub fn expected_collisions(keys: u64) -> f64 {
        (keys as f64).powi(2) / 2f64.powi(65)
    }

    /// The 64 bits.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// The function that turns bytes into a [`KeyHash`]. The numbers are those of docs/format.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HashAlgorithm {
    /// XXH3, 64 bits, seeded: fast, and safe against accidents, not against an adversary who sees answers.
    Xxh3,
    /// SipHash-1-3 keyed by the seed: for keys that strangers choose.
    SipHash13,
    /// The polynomial hash that a walk carries along the paths of a trie, see [`Rolling`]: of the filters of a dictionary.
    Rolling,
}

impl HashAlgorithm {
    /// The number that stands for this algorithm in files.
    pub const fn code(self) -> u16 {
        match self {
            Self::Xxh3 => 1,
            Self::SipHash13 => 2,
            Self::Rolling => 5,
        }
    }

    /// The algorithm a file's number stands for, if this version knows it.
    pub const fn from_code(code: u16) -> Option<Self> {
        match code {
            1 => Some(Self::Xxh3),
            2 => Some(Self::SipHash13),
            5 => Some(Self::Rolling),
            _ => None,
        }
    }

    /// The name as users write it (`--hash NAME`).
    pub const fn name(self) -> &'static str {
        match self {
            Self::Xxh3 => "xxh3",
            Self::SipHash13 => "siphash",
            Self::Rolling => "rolling",
        }
    }
}

/// How keys are hashed: algorithm and seed. Two structures can be combined only if theirs are equal.
///
/// ```
/// use furui::HashSpec;
/// let spec = HashSpec::default();
/// assert_eq!(spec.hash(b"seen before"), spec.hash(b"seen before"));
/// assert_ne!(spec.hash(b"a"), HashSpec { seed: 1, ..spec }.hash(b"a"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HashSpec {
    /// The hash function.
    pub algorithm: HashAlgorithm,
    /// Its seed (xxh3, rolling) or the source of its key (siphash).
    pub seed: u64,
}

impl Default for HashSpec {
    /// Xxh3 with seed 0: fixed, so that filters made anywhere can be combined anywhere.
    fn default() -> Self {
        Self { algorithm: HashAlgorithm::Xxh3, seed: 0 }
    }
}

/// The second half of the SipHash key is the seed turned by this odd constant (2⁶⁴ / golden ratio), so that a 64-bit
/// seed fills both halves.
const SIP_KEY_TURN: u64 = 0x9E37_79B9_7F4A_7C15;

impl HashSpec {
    /// XXH3 with a seed that nobody knows beforehand. Sets in hash order want it: who knows the seed can choose keys
    /// that crowd one place.
    pub fn random() -> Self {
        Self { algorithm: HashAlgorithm::Xxh3, seed: RandomState::new().build_hasher().finish() }
    }

    /// Hashes a key. Cost: one call of the algorithm; XXH3 takes about 5 ns for a URL of 60 bytes.
    #[inline]
    pub fn hash(&self, key: &[u8]) -> KeyHash {
        KeyHash(match self.algorithm {
            HashAlgorithm::Xxh3 => xxhash_rust::xxh3::xxh3_64_with_seed(key, self.seed),
            HashAlgorithm::SipHash13 => {
                let mut sip =
                    siphasher::sip::SipHasher13::new_with_keys(self.seed, self.seed.wrapping_mul(SIP_KEY_TURN));
                sip.write(key);
                sip.finish()
            }
            HashAlgorithm::Rolling => return Rolling::start(self.seed).push_all(key).finish(),
        })
    }
}

/// Spreads every bit of `x` over all of the result, one to one (Stafford's variant 13 of the MurmurHash3 finalizer).
#[inline(always)]
const fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
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
    fn hashes_are_those_of_the_published_algorithms() {
        // XXH3 of the empty input and of "xxhash" with seed 20141025, as the reference implementation prints them.
        assert_eq!(HashSpec::default().hash(b"").get(), 0x2D06_8005_38D3_94C2);
        let seeded = HashSpec { algorithm: HashAlgorithm::Xxh3, seed: 20_141_025 };
        assert_eq!(seeded.hash(b"xxhash").get(), 10_258_567_178_643_282_864);
    }

    #[test]
    fn codes_and_algorithms_are_one_to_one() {
        for algorithm in [HashAlgorithm::Xxh3, HashAlgorithm::SipHash13, HashAlgorithm::Rolling] {
            assert_eq!(HashAlgorithm::from_code(algorithm.code()), Some(algorithm));
        }
        assert_eq!(HashAlgorithm::from_code(0), None);
        assert_eq!(HashAlgorithm::from_code(999), None);
    }
}
