//! XXH3 keyed by a seed, so that strangers cannot choose keys that collide.

use xxhash_rust::xxh3::xxh3_64_with_secret;

use super::seed_words;

/// The words that XXH3 mixes with the bytes of a key, all derived from the seed.
///
/// XXH3's own seed is only added to, or subtracted from, published words. For a key of 17 to 32 bytes, XXH3 multiplies
/// x xor a by y xor b. Here x and y are words of the key; a and b are published words, to one of which the seed was
/// added, while it was subtracted from the other. An adversary can guess a xor b with a chance of 2⁻¹⁸, and so make a
/// second key for which the two factors are exchanged. The two keys have the same hash. Here all words are secret.
///
/// For keys of more than 240 bytes XXH3 adds products of 32 by 32 bits, and an adversary can make keys that collide
/// with a chance of 2⁻³³ even if all words are secret. So longer keys are hashed in blocks of 240 bytes, and each block
/// but the first begins with the hash of everything before it.
#[derive(Clone, Debug)]
pub(super) struct Secret([u8; SECRET]);

const SECRET: usize = 192;

/// The maximum number of bytes that XXH3 hashes by products of 64 by 64 bits.
const MAX_SHORT: usize = 240;
/// The number of bytes at the beginning of each further block of a key that hold the hash so far.
const HASH: usize = 8;

impl Secret {
    pub(super) fn of(seed: u64) -> Self {
        let mut secret = [0; SECRET];
        for (bytes, word) in secret.as_chunks_mut().0.iter_mut().zip(seed_words(seed)) {
            *bytes = word.to_le_bytes();
        }
        Self(secret)
    }

    #[inline]
    pub(super) fn hash(&self, key: &[u8]) -> u64 {
        if key.len() <= MAX_SHORT { xxh3_64_with_secret(key, &self.0) } else { self.hash_long(key) }
    }

    fn hash_long(&self, key: &[u8]) -> u64 {
        let (first, rest) = key.split_at(MAX_SHORT);
        let mut block = [0; MAX_SHORT];
        rest.chunks(MAX_SHORT - HASH).fold(xxh3_64_with_secret(first, &self.0), |before, bytes| {
            let len = HASH + bytes.len();
            block[..HASH].copy_from_slice(&before.to_le_bytes());
            block[HASH..len].copy_from_slice(bytes);
            xxh3_64_with_secret(&block[..len], &self.0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key of four words, as bytes.
    fn key(words: [u64; 4]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// The most probable values of a xor b, where a is a word of XXH3 plus a seed, and b another word minus that seed.
    ///
    /// The sum a + b does not depend on the seed. It determines a xor b, up to the borrows of the subtraction
    /// a = `sum` - b; where a borrow is not certain, each of the two cases holds for half of the seeds.
    fn likely_differences(sum: u64, count: usize) -> Vec<u64> {
        // The number of choices so far, whether there is a borrow, and the difference so far.
        let mut ways = vec![(0u32, 0u64, 0u64)];
        for bit in 0..64 {
            let of_sum = sum >> bit & 1;
            ways = ways
                .into_iter()
                .flat_map(|(choices, borrow, difference)| {
                    let difference = difference | (of_sum ^ borrow) << bit;
                    if of_sum == borrow {
                        vec![(choices + 1, 0, difference), (choices + 1, 1, difference)]
                    } else {
                        vec![(choices, borrow, difference)]
                    }
                })
                .collect();
            ways.sort_unstable();
            ways.truncate(4 * count);
        }
        let mut differences: Vec<u64> = ways.into_iter().map(|(_, _, difference)| difference).collect();
        differences.dedup();
        differences.truncate(count);
        differences
    }

    #[test]
    fn keys_made_to_meet_under_an_unknown_seed_do_not() {
        // The words of XXH3's secret that are xored with the last 16 of 32 bytes.
        let sum = 0xDB97_9083_E96D_D4DE_u64.wrapping_add(0x1F67_B3B7_A4A4_4072);
        let (x, y) = (0xDFD3_E85D_5E96_C9FE, 0x14C5_4C80_A27C_98A1);
        let pair = |turn: u64| [[1, 2, x, y], [1, 2, y ^ turn, x ^ turn]].map(key);
        let pairs: Vec<_> = likely_differences(sum, 128).into_iter().map(pair).collect();
        let meet = |hash: &dyn Fn(&[u8]) -> u64| pairs.iter().filter(|[a, b]| hash(a) == hash(b)).count();
        let seeds = || (1..=40_000u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let seeded = |seed: u64| meet(&|key| xxhash_rust::xxh3::xxh3_64_with_seed(key, seed));
        assert!(seeds().any(|seed| seeded(seed) > 0), "some pairs collide for some of XXH3's own seeds");
        for seed in seeds() {
            let secret = Secret::of(seed);
            assert_eq!(meet(&|key| secret.hash(key)), 0, "seed {seed:#x}");
        }
    }

    #[test]
    fn long_keys_do_not_meet_by_products_of_half_words() {
        // Two stripes of XXH3 whose first words differ in their highest bits. The stripes add equal sums if their low
        // halves, xored with the secret, are equal. That has a chance of 2⁻³², and is made certain here by knowing the
        // secret.
        let secret = Secret::of(7);
        let word = |at: usize| u64::from_le_bytes(*secret.0[at..].first_chunk().expect("a word"));
        let (first, second) = (word(0), word(8));
        let make = |flip: u64| {
            let mut key = vec![b'.'; 320];
            let low = 0x1234_5678;
            let at = |secret: u64, sign: u64| (secret & 0xFFFF_FFFF ^ low) | (secret >> 32 ^ sign ^ flip) << 32;
            key[..8].copy_from_slice(&at(first, 0).to_le_bytes());
            key[64..72].copy_from_slice(&at(second, 1 << 31).to_le_bytes());
            key
        };
        let (a, b) = (make(0), make(1 << 31));
        assert_ne!(a, b);
        assert_eq!(xxh3_64_with_secret(&a, &secret.0), xxh3_64_with_secret(&b, &secret.0));
        assert_ne!(secret.hash(&a), secret.hash(&b));
    }

    #[test]
    fn every_byte_of_a_key_of_any_length_counts() {
        let secret = Secret::of(3);
        let text: Vec<u8> = (0..1000u32).map(|i| (i * 37 % 251) as u8).collect();
        let mut hashes: Vec<u64> = (0..text.len()).map(|len| secret.hash(&text[..len])).collect();
        for at in 0..text.len() {
            let mut other = text.clone();
            other[at] ^= 0x20;
            hashes.push(secret.hash(&other));
        }
        let count = hashes.len();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), count);
    }
}
