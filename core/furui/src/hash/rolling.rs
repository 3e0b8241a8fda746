use super::dot::{Dot, RUN};
use super::{HashAlgorithm, HashSpec, KeyHash, mix, seed_words};

/// A hash of paths that takes one byte after the other: the hash of every key below a prefix is continued from the
/// state of the prefix.
///
/// ```text
/// start ──'s'──▶ h₁ ──'e'──▶ h₂ ──'e'──▶ h₃ ──'n'──▶ h₄ ─▶ finish: the hash of "seen"
///                             └──'a'──▶ h₃'              hᵢ₊₁ = hᵢ r + byte  modulo 2⁶¹ - 1
/// ```
///
/// A walk over a trie carries one state along each path, so it has the hash of every key when it reaches the key's end,
/// and reads no key twice. [`KeyHasher::hash`](super::KeyHasher::hash) with [`HashAlgorithm::Rolling`] pushes all bytes
/// of a key at once.
///
/// **Cost.** One multiplication and some additions for each byte; 8 bytes of state.
///
/// **Collisions.** The factor r and the start are derived from the seed. Two keys of n bytes collide only if r is one
/// of at most n roots of a polynomial: for an adversary who does not know the seed the chance is n / 2⁶⁰. This holds
/// modulo a prime only: modulo 2⁶⁴ some keys (Thue-Morse strings) collide for every factor.
///
/// **Source.** Koyanagi, Yoshida, Unno, Shinjo, "Method to Build Bloom Filters for Online Building of LOUDS TRIE"
/// (2011), section 4.4. In the paper the state itself is the position, and there is one state for each probe (see
/// [`PolynomialHashes`](super::PolynomialHashes)). Here the state is mixed at the end, and all positions are taken from
/// that one hash. The random factor modulo a prime is that of R. Karp and M. Rabin, "Efficient Randomized
/// Pattern-Matching Algorithms" (1987).
///
/// ```
/// use furui::raw::Rolling;
///
/// let rolling = Rolling::new(7);
/// let see = rolling.push_all(rolling.start(), b"see");
/// assert_eq!(rolling.push(see, b'n').finish(), Rolling::spec(7).hash(b"seen"));
/// ```
#[derive(Clone, Debug)]
pub struct Rolling {
    start: u64,
    /// The powers of the factor, from exponent 0 on.
    powers: [u64; RUN + 1],
    dot: Dot,
}

/// A state of [`Rolling`]: the value of the polynomial for the bytes so far.
///
/// The value is not fully reduced, so that the reduction in a step takes only a shift and an addition. It is at most
/// 2⁶² + 2⁹: such a number times a factor below 2⁶⁰, folded, is at most 2⁶¹ + 2⁶¹ + 2⁸, and a byte adds less than 2⁸.
///
/// ```
/// use furui::raw::{Rolling, RollingState};
///
/// // A walk down a trie keeps the state of each path, and hashes every key with one step.
/// let rolling = Rolling::new(7);
/// let see: RollingState = rolling.push_all(rolling.start(), b"see");
/// let [seed, seen] = [b'd', b'n'].map(|byte| rolling.push(see, byte).finish());
/// assert_eq!((seed, seen), (Rolling::spec(7).hash(b"seed"), Rolling::spec(7).hash(b"seen")));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RollingState(u64);

/// The effect of at most 128 consecutive bytes on any state of [`Rolling`]. It takes only 9 bytes, because it is
/// kept in tables that are read at random.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(Rust, packed)]
pub(crate) struct RollingRun {
    sum: u64,
    length: u8,
}

/// The modulus: a prime that is one less than a power of two, so that a remainder takes a shift and an addition.
const PRIME: u64 = (1 << BITS) - 1;
const BITS: u32 = 61;

/// The number of bits of the factor and of the start, which are derived from the seed: one less than the prime has.
const SEED_BITS: u32 = BITS - 1;

/// Reduces x to a congruent number of at most 2⁶¹ + x / 2⁶¹, which must fit into 64 bits.
#[inline(always)]
const fn fold_wide(x: u128) -> u64 {
    (x as u64 & PRIME) + (x >> BITS) as u64
}

/// Reduces x to a congruent number of at most 2⁶¹ + 8.
#[inline(always)]
const fn fold(x: u64) -> u64 {
    (x & PRIME) + (x >> BITS)
}

impl Rolling {
    /// The rolling hash with this seed. Cost: 1 µs.
    pub fn new(seed: u64) -> Self {
        let mut words = seed_words(seed).map(|word| word >> (u64::BITS - SEED_BITS));
        let [factor, start] = std::array::from_fn(|_| words.next().unwrap_or_default());
        Self::of(start, factor)
    }

    fn of(start: u64, factor: u64) -> Self {
        let mut powers = [1; RUN + 1];
        for i in 1..powers.len() {
            powers[i] = fold(fold_wide(u128::from(powers[i - 1]) * u128::from(factor)));
        }
        let dot = Dot::new(&powers.map(|power| RollingState(power).least()));
        Self { start, powers, dot }
    }

    /// The hash spec by which files and filters state that their keys are hashed by this algorithm with this seed.
    pub const fn spec(seed: u64) -> HashSpec {
        HashSpec { algorithm: HashAlgorithm::Rolling, seed }
    }

    /// The state of the rolling hash for the empty key.
    #[inline(always)]
    pub const fn start(&self) -> RollingState {
        RollingState(self.start)
    }

    /// The state of the rolling hash after one more byte of the key.
    #[inline(always)]
    pub const fn push(&self, state: RollingState, byte: u8) -> RollingState {
        // The factor has one bit less than the prime, so that no second folding is needed.
        RollingState(fold_wide(state.0 as u128 * self.powers[1] as u128) + byte as u64)
    }

    /// The state after more bytes. They are multiplied by powers of the factor, 128 bytes at a time, because these
    /// multiplications do not wait for each other.
    #[inline]
    pub fn push_all(&self, state: RollingState, bytes: &[u8]) -> RollingState {
        bytes.chunks(RUN).fold(state, |state, run| {
            // An incomplete group of eight comes first, because zeros in front of it do not change the sum.
            let (few, eights) = run.split_at(run.len() % 8);
            let sum = self.dot.sum(last_of_eight(few), eights.as_chunks().0);
            self.advance(state, self.powers[run.len()], fold(fold_wide(sum)))
        })
    }

    /// The state after a run of bytes whose effect was computed before. Cost: one multiplication, however long the run
    /// is.
    #[inline(always)]
    pub(crate) const fn push_run(&self, state: RollingState, run: RollingRun) -> RollingState {
        self.advance(state, self.powers[run.length as usize], run.sum)
    }

    /// The state after `length` more bytes. `rest` is the state of these bytes alone: the state after they are pushed
    /// to [`ZERO`](RollingState::ZERO).
    #[inline(always)]
    pub(crate) fn push_rest(&self, state: RollingState, rest: RollingState, length: usize) -> RollingState {
        let power = self.powers.get(length).copied().unwrap_or_else(|| self.power(length));
        self.advance(state, power, rest.0)
    }

    /// The effect of a run of these bytes; `None` if there are more than 128.
    pub(crate) fn run(&self, bytes: &[u8]) -> Option<RollingRun> {
        (bytes.len() <= RUN)
            .then(|| RollingRun { sum: self.push_all(RollingState::ZERO, bytes).0, length: bytes.len() as u8 })
    }

    /// The effect of a run of the first `len` of these bytes, from 1 to 16. No branch depends on `len`.
    #[inline(always)]
    pub(crate) fn run_of_first(&self, bytes: [u8; 16], len: usize) -> RollingRun {
        // Shift the first `len` bytes to the end of the 16 bytes, after bytes that are 0.
        let word = u128::from_le_bytes(bytes) << (8 * (16 - len));
        let sum = self.advance(RollingState(self.eight(word as u64)), self.powers[8], self.eight((word >> 64) as u64));
        RollingRun { sum: sum.0, length: len as u8 }
    }

    /// A state times a power of the factor, which is at most 2⁶¹ + 8, plus a sum that is at most as large as a state.
    #[inline(always)]
    const fn advance(&self, state: RollingState, power: u64, sum: u64) -> RollingState {
        RollingState(fold(fold_wide(state.0 as u128 * power as u128) + sum))
    }

    /// Computes a power of the factor whose exponent is too large for the table of powers.
    #[cold]
    fn power(&self, exponent: usize) -> u64 {
        (0..exponent / RUN)
            .fold(self.powers[exponent % RUN], |power, _| self.advance(RollingState(power), self.powers[RUN], 0).0)
    }

    /// The sum that eight bytes add to a state, at most 2⁶¹ + 2¹¹.
    #[inline(always)]
    fn eight(&self, word: u64) -> u64 {
        fold_wide((0..8).fold(0, |sum, i| sum + u128::from(word >> (8 * i) & 0xFF) * u128::from(self.powers[7 - i])))
    }
}

impl RollingState {
    /// The state that contributes nothing to later states.
    pub(crate) const ZERO: Self = Self(0);

    /// The state as a number, to be stored in memory.
    #[inline(always)]
    pub(crate) const fn get(self) -> u64 {
        self.0
    }

    /// Makes the state from the number that [`get`](Self::get) returned for it.
    #[inline(always)]
    pub(crate) const fn resume(state: u64) -> Self {
        Self(state)
    }

    /// The state, fully reduced modulo the prime.
    #[inline(always)]
    const fn least(self) -> u64 {
        let state = fold(self.0);
        if state >= PRIME { state - PRIME } else { state }
    }

    /// The hash of the bytes so far. The state itself is not a hash, because it has 61 bits.
    #[inline(always)]
    pub const fn finish(self) -> KeyHash {
        KeyHash(mix(self.least()))
    }
}

/// A word of eight bytes that has the given bytes, at most seven, at its end, after zeros. There is no loop, because
/// the processor could not predict its length.
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

impl RollingRun {
    /// The length in bytes of the run whose effect this is.
    pub(crate) const fn len(self) -> u32 {
        self.length as u32
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn carried_along_a_path_or_pushed_at_once_the_hash_is_the_same() {
        for seed in [0, 1, u64::MAX] {
            let hasher = Rolling::spec(seed).hasher();
            let rolling = Rolling::new(seed);
            let mut state = rolling.start();
            let key: Vec<u8> = (0..=255).collect();
            for end in 0..key.len() {
                assert_eq!(state.finish(), hasher.hash(&key[..end]));
                let (before, run) = key[..end].split_at(end - end.min(RUN));
                let run = rolling.run(run).expect("128 bytes at most");
                let by_run = rolling.push_run(rolling.push_all(rolling.start(), before), run);
                assert_eq!(by_run.finish(), state.finish());
                state = rolling.push(state, key[end]);
            }
            assert_ne!(hasher.hash(b"a"), Rolling::spec(seed ^ 2).hash(b"a"));
        }
    }

    #[test]
    fn a_text_of_any_length_does_the_same_by_every_way() {
        let text: Vec<u8> = (0..700).map(|i| (i * 37 % 251) as u8).collect();
        let rolling = Rolling::new(3);
        for end in 0..text.len() {
            let rest = rolling.push_all(RollingState::ZERO, &text[..end]);
            let by_rest = rolling.push_rest(rolling.start(), rest, end);
            assert_eq!(by_rest.finish(), rolling.push_all(rolling.start(), &text[..end]).finish());
            if (1..=16).contains(&end) {
                let mut bytes = [0xFF; 16];
                bytes[..end].copy_from_slice(&text[..end]);
                assert_eq!(Some(rolling.run_of_first(bytes, end)), rolling.run(&text[..end]));
            }
        }
    }

    #[test]
    fn states_are_what_arithmetic_of_any_size_says() {
        // The largest possible states and factors are compared with exact remainders.
        const LOOSE: u64 = (1 << 62) + (1 << 9);
        let largest = (1 << SEED_BITS) - 1;
        for factor in [largest, largest - 1, 1 << 59, 3, 0] {
            let rolling = Rolling::of(largest, factor);
            let text: Vec<u8> = (0..999).map(|i| if i % 5 < 3 { 0xFF } else { i as u8 }).collect();
            let (mut state, mut exact) = (rolling.start(), u128::from(largest));
            for (i, &byte) in text.iter().enumerate() {
                state = rolling.push(state, byte);
                exact = (exact * u128::from(factor) + u128::from(byte)) % u128::from(PRIME);
                assert!(state.0 <= LOOSE);
                assert_eq!(u128::from(state.least()), exact);
                let at_once = rolling.push_all(rolling.start(), &text[..=i]);
                assert_eq!(u128::from(at_once.least()), exact);
            }
            let loose = RollingState(LOOSE);
            let all = rolling.push_rest(loose, loose, 128);
            let (power, most) = (u128::from(rolling.powers[128]), u128::from(loose.0));
            assert_eq!(u128::from(all.least()), (most * power + most) % u128::from(PRIME));
        }
    }

    #[test]
    fn the_hash_is_that_of_the_format() {
        // docs/format.md, "Rolling hash".
        let hash = |seed, key: &[u8]| Rolling::spec(seed).hash(key).get();
        assert_eq!(hash(0, b""), 0xDDAA_3752_B255_5CDA);
        assert_eq!(hash(0, b"seen before"), 0xA9FC_54B0_7C78_6667);
        assert_eq!(hash(7, b"seen before"), 0x0D01_1A19_4B4A_0634);
    }

    #[test]
    fn short_keys_of_any_bytes_do_not_meet() {
        let bytes = 0..=255u8;
        let mut keys: Vec<Vec<u8>> = (0..100).map(|len| vec![0; len]).collect();
        keys.extend((1..100).map(|len| vec![0xFF; len]));
        keys.extend(bytes.clone().flat_map(|a| (0..=255).map(move |b| vec![a, b])).filter(|key| key[0] != key[1]));
        let hasher = Rolling::spec(0).hasher();
        let hashes: HashSet<u64> = keys.iter().map(|key| hasher.hash(key).get()).collect();
        assert_eq!(hashes.len(), keys.len());
    }

    #[test]
    fn keys_that_meet_modulo_a_power_of_two_do_not() {
        // A Thue-Morse string and the string with its letters exchanged. The difference of their polynomials is a
        // product of factors 1 - x^(2^i), which for any odd x is a multiple of 2⁶⁴.
        let morse = |turn: u32| -> Vec<u8> {
            (0..2048u32).map(|i| if (i.count_ones() + turn).is_multiple_of(2) { b'a' } else { b'b' }).collect()
        };
        let (a, b) = (morse(0), morse(1));
        let modulo_64 = |key: &[u8]| {
            key.iter().fold(1u64, |state, &byte| state.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(byte.into()))
        };
        assert_eq!(modulo_64(&a), modulo_64(&b));
        for seed in 0..1000 {
            let hasher = Rolling::spec(seed).hasher();
            assert_ne!(hasher.hash(&a), hasher.hash(&b), "seed {seed}");
        }
    }
}
