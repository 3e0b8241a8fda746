use super::{HashAlgorithm, HashSpec, KeyHash, mix};

/// What the state is multiplied by for every byte: a multiplier for 64-bit congruential generators (Steele, Vigna,
/// "Computationally easy, spectrally good multipliers", 2021). With a factor near the number of letters, as in the
/// paper, two bytes of which the second one is large meet two others.
const FACTOR: u64 = 0xD134_2543_DE82_EF95;

/// The powers of the factor, from the 0th to the 128th.
const POWERS: [u64; 129] = {
    let mut powers = [1; 129];
    let mut i = 1;
    while i < powers.len() {
        powers[i] = FACTOR.wrapping_mul(powers[i - 1]);
        i += 1;
    }
    powers
};

/// The seed's turn: without it, keys of zero bytes alone would all leave the state of seed 0 at 0.
const START: u64 = 0x9E37_79B9_7F4A_7C15;

/// The hash of a path, byte after byte: the state of a prefix is the beginning of the hash of every key below it.
///
/// ```text
/// start ──'s'──▶ h₁ ──'e'──▶ h₂ ──'e'──▶ h₃ ──'n'──▶ h₄ ─▶ finish: the hash of "seen"
///                             └──'a'──▶ h₃'              hᵢ₊₁ = hᵢ P + byte
/// ```
///
/// A walk over a trie carries one state along each path, so that the hash of every key is known when its end is reached,
/// and no key is read twice. [`HashSpec::hash`] with [`HashAlgorithm::Rolling`] is all bytes pushed at once.
///
/// **Cost.** A multiplication and an addition a byte; 8 bytes of state.
///
/// **Collisions.** Two keys meet with a chance of 2⁻⁶⁴ unless they were made to: of equal length, whether they meet does
/// not depend on the seed. Do not use it for keys that strangers choose.
///
/// **Source.** Koyanagi, Yoshida, Unno, Shinjo, "Method to Build Bloom Filters for Online Building of LOUDS TRIE"
/// (2011), section 4.4. There the state itself is the position, and there is one for each probe (see
/// [`PolynomialHashes`]); here the state is mixed at the end, and all positions are cut from that one hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rolling(u64);

impl Rolling {
    /// The state of the empty key.
    #[inline]
    pub const fn start(seed: u64) -> Self {
        Self(mix(seed.wrapping_add(START)))
    }

    /// The state after one more byte.
    #[inline(always)]
    #[must_use]
    pub const fn push(self, byte: u8) -> Self {
        Self(self.0.wrapping_mul(FACTOR).wrapping_add(byte as u64))
    }

    /// The state after more bytes. Eight at a time, by the powers of the factor: then their multiplications do not wait for
    /// each other.
    #[inline]
    #[must_use]
    pub fn push_all(self, bytes: &[u8]) -> Self {
        // First as many as are not eight: zeros before them would change nothing but the power.
        let (few, eights) = bytes.split_at(bytes.len() % 8);
        let state = self.0.wrapping_mul(POWERS[few.len()]).wrapping_add(eight(last_of_eight(few)));
        Self(
            eights.as_chunks().0.iter().fold(state, |state, &bytes| {
                state.wrapping_mul(POWERS[8]).wrapping_add(eight(u64::from_le_bytes(bytes)))
            }),
        )
    }

    /// The state after a run of bytes that is known from before: one multiplication, however long it is.
    #[inline(always)]
    #[must_use]
    pub const fn push_run(self, run: RollingRun) -> Self {
        Self(self.0.wrapping_mul(POWERS[run.length as usize]).wrapping_add(run.sum))
    }

    /// The state after `length` more bytes, which make `rest` of the state [`ZERO`](Self::ZERO).
    #[inline(always)]
    pub(crate) fn push_rest(self, rest: Self, length: usize) -> Self {
        let power = POWERS.get(length).copied().unwrap_or_else(|| power(length));
        Self(self.0.wrapping_mul(power).wrapping_add(rest.0))
    }

    /// The state of which nothing is left in later ones.
    pub(crate) const ZERO: Self = Self(0);

    /// The state alone, to be kept in memory.
    #[inline(always)]
    pub(crate) const fn state(self) -> u64 {
        self.0
    }

    /// Goes on from a [`state`](Self::state).
    #[inline(always)]
    pub(crate) const fn resume(state: u64) -> Self {
        Self(state)
    }

    /// The hash of the bytes so far. The state alone would be none: its low bits depend only on those of the bytes.
    #[inline(always)]
    pub const fn finish(self) -> KeyHash {
        KeyHash(mix(self.0))
    }

    /// How the keys of a walk that started with `seed` are hashed.
    pub const fn spec(seed: u64) -> HashSpec {
        HashSpec { algorithm: HashAlgorithm::Rolling, seed }
    }
}

/// A power of the factor that is not among [`POWERS`].
#[cold]
fn power(exponent: usize) -> u64 {
    let most = POWERS.len() - 1;
    (0..exponent / most).fold(POWERS[exponent % most], |power, _| power.wrapping_mul(POWERS[most]))
}

/// What eight bytes add to a state.
#[inline(always)]
fn eight(word: u64) -> u64 {
    (0..8).fold(0, |sum: u64, i| sum.wrapping_add((word >> (8 * i) & 0xFF).wrapping_mul(POWERS[7 - i])))
}

/// Fewer than eight bytes as the last ones of eight, the others of which are 0: without a loop, as how often it would run
/// nobody can foresee.
#[inline(always)]
fn last_of_eight(bytes: &[u8]) -> u64 {
    let word = match bytes {
        [] => return 0,
        [first @ .., last] if bytes.len() < 4 => {
            let middle = u64::from(bytes[bytes.len() / 2]) << (8 * (bytes.len() / 2));
            let first = first.first().map_or(0, |&first| u64::from(first));
            u64::from(*last) << (8 * (bytes.len() - 1)) | middle | first
        }
        _ => {
            let half = |bytes: Option<&[u8; 4]>| bytes.map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes)));
            half(bytes.first_chunk()) | half(bytes.last_chunk()) << (8 * (bytes.len() - 4))
        }
    };
    word << (8 * (8 - bytes.len()))
}

/// What a run of bytes, 128 at most, does to a state of [`Rolling`], whatever the state is. In 9 bytes, as tables of them are
/// read at random.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(Rust, packed)]
pub struct RollingRun {
    sum: u64,
    length: u8,
}

impl RollingRun {
    /// That of these bytes, if they are not too many.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        (bytes.len() < POWERS.len()).then(|| Self { sum: Rolling(0).push_all(bytes).0, length: bytes.len() as u8 })
    }

    /// That of the first `len` of these bytes, 1 to 16: without a branch that depends on how many they are.
    #[inline(always)]
    pub(crate) fn of_first(bytes: [u8; 16], len: usize) -> Self {
        // As the last of 16, the others of which are 0.
        let word = u128::from_le_bytes(bytes) << (8 * (16 - len));
        let sum = eight(word as u64).wrapping_mul(POWERS[8]).wrapping_add(eight((word >> 64) as u64));
        Self { sum, length: len as u8 }
    }

    /// How many bytes.
    #[expect(clippy::len_without_is_empty, reason = "an empty run is one like any other")]
    pub const fn len(self) -> u32 {
        self.length as u32
    }
}

/// The factors of [`PolynomialHashes`]: primes near the number of letters, from the paper's 131 on.
const PRIMES: [u64; 8] = [131, 137, 139, 149, 151, 157, 163, 167];

/// The paper's own form of [`Rolling`]: `K` states, at most 8, each with a prime of its own, and no seed. Each is a
/// position modulo the number of bits of a filter.
///
/// For the paper's experiments: one state and double hashing is faster, takes 8 bytes instead of 8 `K` for every path
/// of a walk, and does not mix up short keys of bytes beyond the primes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolynomialHashes<const K: usize>([u64; K]);

impl<const K: usize> PolynomialHashes<K> {
    /// The states of the empty key: 0, as all keys of zero bytes.
    #[inline]
    pub const fn start() -> Self {
        const { assert!(K <= PRIMES.len(), "there are 8 primes") };
        Self([0; K])
    }

    /// The states after one more byte.
    #[inline(always)]
    #[must_use]
    pub fn push(self, byte: u8) -> Self {
        Self(std::array::from_fn(|i| self.0[i].wrapping_mul(PRIMES[i]).wrapping_add(u64::from(byte))))
    }

    /// The hashes of the bytes so far, to be taken modulo the number of bits.
    #[inline(always)]
    pub const fn hashes(&self) -> &[u64; K] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn carried_along_a_path_or_pushed_at_once_the_hash_is_the_same() {
        for seed in [0, 1, u64::MAX] {
            let spec = Rolling::spec(seed);
            let mut state = Rolling::start(seed);
            let key: Vec<u8> = (0..=255).collect();
            for end in 0..key.len() {
                assert_eq!(state.finish(), spec.hash(&key[..end]));
                let (before, run) = key[..end].split_at(end - end.min(128));
                let run = RollingRun::of(run).expect("128 bytes at most");
                assert_eq!(Rolling::start(seed).push_all(before).push_run(run), state);
                state = state.push(key[end]);
            }
            assert_ne!(spec.hash(b"a"), Rolling::spec(seed ^ 2).hash(b"a"));
        }
    }

    #[test]
    fn a_text_of_any_length_does_the_same_by_every_way() {
        let text: Vec<u8> = (0..700).map(|i| (i * 37 % 251) as u8).collect();
        let start = Rolling::start(3);
        for end in 0..text.len() {
            let rest = Rolling::ZERO.push_all(&text[..end]);
            assert_eq!(start.push_rest(rest, end), start.push_all(&text[..end]));
            if (1..=16).contains(&end) {
                let mut bytes = [0xFF; 16];
                bytes[..end].copy_from_slice(&text[..end]);
                assert_eq!(Some(RollingRun::of_first(bytes, end)), RollingRun::of(&text[..end]));
            }
        }
    }

    #[test]
    fn the_hash_is_that_of_the_format() {
        // docs/format.md, "Key hashes".
        let hash = |seed, key: &[u8]| Rolling::spec(seed).hash(key).get();
        assert_eq!(hash(0, b""), 0x4821_8226_FF3C_D4BF);
        assert_eq!(hash(0, b"seen before"), 0x7B29_4DF9_9527_FA91);
        assert_eq!(hash(7, b"seen before"), 0x8EEC_2FC8_35F4_E77B);
    }

    #[test]
    fn short_keys_of_any_bytes_do_not_meet() {
        let bytes = 0..=255u8;
        let mut keys: Vec<Vec<u8>> = (0..100).map(|len| vec![0; len]).collect();
        keys.extend((1..100).map(|len| vec![0xFF; len]));
        keys.extend(bytes.clone().flat_map(|a| (0..=255).map(move |b| vec![a, b])).filter(|key| key[0] != key[1]));
        let hashes: HashSet<u64> = keys.iter().map(|key| Rolling::spec(0).hash(key).get()).collect();
        assert_eq!(hashes.len(), keys.len());
    }

    #[test]
    fn the_papers_hashes_are_polynomials() {
        let state = b"ab".iter().fold(PolynomialHashes::<2>::start(), |state, &byte| state.push(byte));
        assert_eq!(state.hashes(), &[97 * 131 + 98, 97 * 137 + 98]);
    }
}
