//! Testing and setting the bits of keys: the hot loops of a Bloom filter.

use crate::bits::{Cpu, bit, prefetch_for_write};
use crate::filter::batch;
use crate::filter::probes::{Probes, salted_positions};
use crate::hash::KeyHash;

/// A table of at most this size, in words, is not prefetched for lookups: it lies in a cache near enough for the
/// processor to overlap lookups by itself.
const NEAR: usize = (4 << 20) / 8;

/// A table of at most this size, in words, is not prefetched for insertions: it lies in a cache near enough for the
/// processor to overlap insertions by itself.
const NEAR_TO_INSERT: usize = (12 << 20) / 8;

/// The size of a Bloom filter in bits, and the number of bits that belong to each key.
#[derive(Clone, Copy)]
pub(super) struct BloomShape {
    pub(super) bits: usize,
    pub(super) probes: u32,
}

/// Sets the bit at `position` and returns its old value, 0 or 1.
#[inline(always)]
fn set(words: &mut [[u8; 8]], position: usize) -> u64 {
    let word = u64::from_le_bytes(words[position / 64]);
    words[position / 64] = (word | 1 << (position % 64)).to_le_bytes();
    word >> (position % 64) & 1
}

/// True if all bits of `key` are set.
///
/// In a half-full filter no processor can predict a bit, so bits are tested in groups. The first group of three fails
/// in 7 of 8 misses, and never in a hit; a larger one would wait for cache lines that are seldom needed.
#[inline(always)]
pub(super) fn contains(words: &[[u8; 8]], shape: BloomShape, key: KeyHash) -> bool {
    let mut probes = Probes::of(key);
    let mut next = || bit(words, probes.next(shape.bits));
    let mut left = shape.probes;
    if left > 3 {
        if next() & next() & next() == 0 {
            return false;
        }
        left -= 3;
    }
    while left > 4 {
        if next() & next() == 0 {
            return false;
        }
        left -= 2;
    }
    (0..left).fold(1, |all, _| all & next()) == 1
}

/// Works like [`contains`] for every key; the answers go to `answers`, which is as long as `keys`.
pub(super) fn contains_all(words: &[[u8; 8]], shape: BloomShape, keys: &[KeyHash], answers: &mut [bool]) {
    if words.len() <= NEAR {
        answers.iter_mut().zip(keys).for_each(|(answer, &key)| *answer = contains(words, shape, key));
        return;
    }
    let keys = keys.iter().map(|&key| Probes::of(key));
    batch::contains_all(words, shape.probes, keys, |probes| probes.next(shape.bits), answers);
}

/// Sets all bits of `key`. Returns true if one of them was not set before.
#[inline(always)]
pub(super) fn insert(words: &mut [[u8; 8]], shape: BloomShape, key: KeyHash) -> bool {
    let mut probes = Probes::of(key);
    let old = (0..shape.probes).fold(1, |old, _| old & set(words, probes.next(shape.bits)));
    old == 0
}

/// Works like [`insert`] for every key. Returns how many of them were new.
pub(super) fn insert_all(words: &mut [[u8; 8]], shape: BloomShape, keys: &[KeyHash]) -> u64 {
    Cpu::detect().run(
        #[inline(always)]
        |_| {
            let fetch = |words: &&mut [[u8; 8]], key| {
                let mut probes = Probes::of(key);
                (0..shape.probes).for_each(|_| prefetch_for_write(words, probes.next(shape.bits) / 64));
            };
            let (far, mut new) = (words.len() > NEAR_TO_INSERT, 0);
            batch::for_each(words, far, keys, fetch, |words, _, key| new += u64::from(insert(words, shape, key)));
            new
        },
    )
}

/// Works like [`contains`] for a filter in which SHA-1 computes the positions of the probes.
#[cold]
pub(super) fn contains_salted(words: &[[u8; 8]], shape: BloomShape, key: KeyHash) -> bool {
    salted_positions(key, shape.probes, shape.bits).all(|position| bit(words, position) == 1)
}

/// Works like [`insert`] for a filter in which SHA-1 computes the positions of the probes.
#[cold]
pub(super) fn insert_salted(words: &mut [[u8; 8]], shape: BloomShape, key: KeyHash) -> bool {
    salted_positions(key, shape.probes, shape.bits).fold(1, |old, position| old & set(words, position)) == 0
}
