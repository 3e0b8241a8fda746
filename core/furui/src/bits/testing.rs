//! Test data for the operations on bits: numbers and bit strings.

use std::hash::{BuildHasher, RandomState};

use super::Buffer;

/// A pseudorandom number generator that always yields the same sequence.
pub(crate) fn random() -> impl FnMut() -> u64 {
    random_from(0x9E37_79B9_7F4A_7C15)
}

/// A pseudorandom number generator that yields another sequence in each run of a test. It prints the seed, with which
/// [`random_from`] yields the sequence again.
pub(crate) fn fresh_random() -> impl FnMut() -> u64 {
    let seed = RandomState::new().hash_one(0);
    println!("seed {seed:#x}");
    random_from(seed)
}

/// A pseudorandom number generator that yields the sequence of a seed.
fn random_from(mut x: u64) -> impl FnMut() -> u64 {
    move || {
        x = x.wrapping_mul(0xD129_0DAC_6E5A_42B5).wrapping_add(1);
        x.rotate_left(29).wrapping_mul(x | 1)
    }
}

/// Random words in which one bit in 16 is not set. Therefore many keys of a few bits have all their bits set, and many
/// others do not.
pub(crate) fn mostly_ones(words: usize) -> Vec<[u8; 8]> {
    let mut random = random();
    (0..words).map(|_| (random() | random() | random() | random()).to_le_bytes()).collect()
}

/// Bit strings of every density, whose lengths are at and around multiples of words and blocks, and some with long
/// stretches of equal bits.
pub(super) fn bit_strings() -> Vec<Vec<bool>> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move || {
        state = state.wrapping_mul(0xD129_0DAC_6E5A_42B5).wrapping_add(1);
        state >> 40
    };
    let mut strings = vec![];
    for len in [0, 1, 63, 64, 65, 511, 512, 513, 5000, 40_000] {
        for ones_of_1000 in [0, 1, 30, 500, 970, 999, 1000] {
            strings.push((0..len).map(|_| random() % 1000 < ones_of_1000).collect());
        }
    }
    // Zeros far apart and then close together, so that many blocks lie between two hints.
    strings.push((0..60_000).map(|i| i % 29_000 < 20_000 && i % 5000 != 0).collect());
    strings
}

pub(super) fn buffer(bits: &[bool]) -> Buffer {
    let mut buffer = Buffer::zeroed(bits.len().div_ceil(64) * 8).unwrap();
    for (i, _) in bits.iter().enumerate().filter(|(_, bit)| **bit) {
        buffer[i / 8] |= 1 << (i % 8);
    }
    buffer
}
