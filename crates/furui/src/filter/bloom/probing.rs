//! The bits of keys, tested and set: the loops in which a Bloom filter spends its time.

use super::super::at_once::{AtOnce, NEAR, without_gather};
use super::super::far;
use super::super::probes::{Probes, salted_positions};
use crate::bits::arch::{Gather, Words, prefetch_for_write};
use crate::bits::bit;
use crate::hash::KeyHash;

/// Tables of so many words are near enough for bits of many keys to be loaded by one instruction, without being asked for ahead.
const NEAR_TO_GATHER: usize = (12 << 20) / 8;

/// Tables of so many words are in a cache near enough for the processor to overlap insertions by itself.
const NEAR_TO_INSERT: usize = (12 << 20) / 8;

/// How many keys are inserted at a time: their lines must stay in the nearest cache until they are changed.
const INSERT_BATCH: usize = 16;

/// The bits as words, and how many of them belong to a key.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) bits: usize,
    pub(super) probes: u32,
    pub(super) at_once: Option<AtOnce>,
}

/// How the bits of a key are tested at once, if they can be by this instruction: their number is then one of 32 bits.
pub(super) fn at_once(gather: Option<Gather>, bits: u64, probes: u32) -> Option<AtOnce> {
    gather.filter(|_| bits <= u32::MAX.into()).map(|gather| AtOnce::new(gather, probes, bits))
}

/// Sets the bit at `position` and says what it was, as 0 or 1.
#[inline(always)]
fn set(words: &mut [[u8; 8]], position: usize) -> u64 {
    let word = u64::from_le_bytes(words[position / 64]);
    words[position / 64] = (word | 1 << (position % 64)).to_le_bytes();
    word >> (position % 64) & 1
}

/// Whether all bits of `key` are set.
#[inline(always)]
pub(super) fn contains(words: &[[u8; 8]], shape: Shape, key: KeyHash) -> bool {
    match shape.at_once {
        Some(at_once) => at_once.contains(words, shape.bits as u32, key),
        None => {
            without_gather();
            by_loads(words, shape, key)
        }
    }
}

/// The same by loads.
///
/// In a filter that is half full each bit is a coin that no processor foresees, so they are tested in groups: three
/// together fail in 7 of 8 misses, and seldom in a hit. More would wait for lines that are seldom needed.
#[inline(always)]
fn by_loads(words: &[[u8; 8]], shape: Shape, key: KeyHash) -> bool {
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

/// [`contains`] for every key, in as many `answers`.
pub(super) fn contains_all(words: &[[u8; 8]], shape: Shape, keys: &[KeyHash], answers: &mut [bool]) {
    match shape.at_once {
        Some(at_once) if words.len() <= NEAR_TO_GATHER => {
            at_once.contains_all(words, shape.bits as u32, keys, answers);
        }
        None if words.len() <= NEAR => {
            answers.iter_mut().zip(keys).for_each(|(answer, &key)| *answer = by_loads(words, shape, key));
        }
        _ => {
            let keys = keys.iter().map(|&key| Probes::of(key));
            far::contains_all(words, shape.probes, keys, |probes| probes.next(shape.bits), answers);
        }
    }
}

/// Sets all bits of `key`. True if one was not.
#[inline(always)]
pub(super) fn insert(words: &mut [[u8; 8]], shape: Shape, key: KeyHash) -> bool {
    let mut probes = Probes::of(key);
    let old = (0..shape.probes).fold(1, |old, _| old & set(words, probes.next(shape.bits)));
    old == 0
}

/// [`insert`] for every key; how many had a bit that was not set.
pub(super) fn insert_all(words: &mut [[u8; 8]], shape: Shape, keys: &[KeyHash]) -> u64 {
    Words::detect().run(
        #[inline(always)]
        |_| insert_each(words, shape, keys),
    )
}

#[inline(always)]
fn insert_each(words: &mut [[u8; 8]], shape: Shape, keys: &[KeyHash]) -> u64 {
    let mut new = 0;
    let far = words.len() > NEAR_TO_INSERT;
    for keys in keys.chunks(INSERT_BATCH) {
        if far {
            for &key in keys {
                let mut probes = Probes::of(key);
                (0..shape.probes).for_each(|_| prefetch_for_write(words, probes.next(shape.bits) / 64));
            }
        }
        new += keys.iter().map(|&key| u64::from(insert(words, shape, key))).sum::<u64>();
    }
    new
}

/// [`contains`] where the probes are by SHA-1.
#[cold]
pub(super) fn contains_salted(words: &[[u8; 8]], shape: Shape, key: KeyHash) -> bool {
    salted_positions(key, shape.probes, shape.bits).all(|position| bit(words, position) == 1)
}

/// [`insert`] where the probes are by SHA-1.
#[cold]
pub(super) fn insert_salted(words: &mut [[u8; 8]], shape: Shape, key: KeyHash) -> bool {
    salted_positions(key, shape.probes, shape.bits).fold(1, |old, position| old & set(words, position)) == 0
}
