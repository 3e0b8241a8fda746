//! Testing and setting the bits of keys in blocks: the hot loops of a split-block filter.
//!
//! A block is one vector of AVX2. The compiler makes the same vector code of these loops as one would write by hand, if
//! the loops have no branches and are wholly inlined into a function with these instructions.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "vector instructions are called after their presence was checked")
)]

use crate::bits::{Cpu, Level, prefetch, prefetch_for_write};
use crate::filter::batch;
use crate::hash::KeyHash;

/// A table of at most this size, in bytes, is not prefetched: the processor overlaps the loads of keys by itself.
const NEAR: usize = 1 << 20;

/// A block of 256 bits: eight little-endian words of 32 bits.
pub(super) type SplitBlock = [u8; 32];

/// The factors by which a key is multiplied, one for each word; the upper 5 bits of the product are the number of the
/// bit. They are part of Parquet's format.
const SALTS: [u32; 8] =
    [0x47B6_137B, 0x4497_4D91, 0x8824_AD5B, 0xA2B7_289D, 0x7054_95C7, 0x2DF1_424B, 0x9EFC_4947, 0x5C6B_FB31];

/// True if all bits of `key` are set in `blocks`.
#[inline]
pub(super) fn contains(cpu: Cpu, blocks: &[SplitBlock], key: KeyHash) -> bool {
    let block = &blocks[place(key, blocks.len())];
    match cpu.level() {
        Level::Portable => test(block, key),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the levels above the portable one say that the instructions exist.
        _ => unsafe { test_v3(block, key) },
    }
}

/// Sets all bits of `key`. Returns true if one of them was not set before.
#[inline]
pub(super) fn insert(cpu: Cpu, blocks: &mut [SplitBlock], key: KeyHash) -> bool {
    let place = place(key, blocks.len());
    let block = &mut blocks[place];
    match cpu.level() {
        Level::Portable => set(block, key),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the levels above the portable one say that the instructions exist.
        _ => unsafe { set_v3(block, key) },
    }
}

/// Tests the bits of a single key with vector instructions. A call with its arguments in registers is faster than
/// [`Cpu::run`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn test_v3(block: &SplitBlock, key: KeyHash) -> bool {
    test(block, key)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn set_v3(block: &mut SplitBlock, key: KeyHash) -> bool {
    set(block, key)
}

/// Works like [`contains`] for every key; the answers go to `answers`, which is as long as `keys`.
pub(super) fn contains_all(cpu: Cpu, blocks: &[SplitBlock], keys: &[KeyHash], answers: &mut [bool]) {
    cpu.without_avx512().run(
        #[inline(always)]
        |_| {
            if size_of_val(blocks) > NEAR {
                batch::for_each(
                    blocks,
                    true,
                    keys,
                    #[inline(always)]
                    |blocks, key| prefetch(&blocks[place(key, blocks.len())]),
                    #[inline(always)]
                    |blocks, index, key| answers[index] = test(&blocks[place(key, blocks.len())], key),
                );
                return;
            }
            // Four keys at a time take 0.9 of the time; insertions by four are slower in some builds.
            let ((fours, rest), (answers, last)) = (keys.as_chunks::<4>(), answers.as_chunks_mut::<4>());
            for (keys, answers) in fours.iter().zip(answers) {
                for (&key, answer) in keys.iter().zip(answers) {
                    *answer = test(&blocks[place(key, blocks.len())], key);
                }
            }
            for (&key, answer) in rest.iter().zip(last) {
                *answer = test(&blocks[place(key, blocks.len())], key);
            }
        },
    );
}

/// Works like [`insert`] for every key. Returns how many of them were new.
pub(super) fn insert_all(cpu: Cpu, blocks: &mut [SplitBlock], keys: &[KeyHash]) -> u64 {
    cpu.without_avx512().run(
        #[inline(always)]
        |_| {
            let (far, mut new) = (size_of_val(blocks) > NEAR, 0);
            batch::for_each(
                blocks,
                far,
                keys,
                #[inline(always)]
                |blocks, key| prefetch_for_write(blocks, place(key, blocks.len())),
                #[inline(always)]
                |blocks, _, key| {
                    let place = place(key, blocks.len());
                    new += u64::from(set(&mut blocks[place], key));
                },
            );
            new
        },
    )
}

/// The index of a key's block among `blocks` blocks, at most 2³¹, from the upper 32 bits of the key's hash.
#[inline(always)]
pub(super) fn place(key: KeyHash, blocks: usize) -> usize {
    (((key.get() >> 32) * blocks as u64) >> 32) as usize
}

/// The bit of each word that belongs to a key, from the lower 32 bits of the key's hash.
#[inline(always)]
fn bits(key: KeyHash) -> [u32; 8] {
    SALTS.map(|salt| 1 << ((key.get() as u32).wrapping_mul(salt) >> 27))
}

#[inline(always)]
fn test(block: &SplitBlock, key: KeyHash) -> bool {
    let words = block.as_chunks::<4>().0;
    let mut missing = 0;
    for (&word, bit) in words.iter().zip(bits(key)) {
        missing |= bit & !u32::from_le_bytes(word);
    }
    missing == 0
}

#[inline(always)]
fn set(block: &mut SplitBlock, key: KeyHash) -> bool {
    let mut missing = 0;
    for (word, bit) in block.as_chunks_mut::<4>().0.iter_mut().zip(bits(key)) {
        let old = u32::from_le_bytes(*word);
        missing |= bit & !old;
        *word = (old | bit).to_le_bytes();
    }
    missing != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(n: u64) -> Vec<KeyHash> {
        let random = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29).wrapping_mul(0xD129_0DAC_6E5A_42B5);
        (0..n).map(|i| KeyHash::new(random(i))).chain([0, u64::MAX, 1 << 32].map(KeyHash::new)).collect()
    }

    #[test]
    fn every_path_equals_the_portable_one() {
        // The last table is large enough to be prefetched.
        for count in [1, 2, 3, 64, 1000, 40_000] {
            let mut portable = vec![[0; 32]; count];
            let (first, second) = (keys(400), keys(900));
            let new = insert_all(Cpu::all()[0], &mut portable, &first);
            let mut expected = vec![false; second.len()];
            contains_all(Cpu::all()[0], &portable, &second, &mut expected);
            for cpu in Cpu::all() {
                let (mut single, mut batch) = (vec![[0; 32]; count], vec![[0; 32]; count]);
                assert_eq!(first.iter().filter(|&&key| insert(cpu, &mut single, key)).count() as u64, new);
                assert_eq!(insert_all(cpu, &mut batch, &first), new);
                assert!(single == portable && batch == portable, "{cpu:?}, {count} blocks");
                let mut answers = vec![false; second.len()];
                contains_all(cpu, &portable, &second, &mut answers);
                assert_eq!(answers, expected);
                assert!(
                    second.iter().zip(&expected).all(|(&key, &expected)| contains(cpu, &portable, key) == expected)
                );
            }
        }
    }

    #[test]
    fn every_path_answers_many_keys_as_the_portable_one_does() {
        let (asked, keys) = (keys(200_000), keys(100_000));
        for cpu in Cpu::all() {
            let (mut single, mut batch) = (vec![[0; 32]; 40_000], vec![[0; 32]; 40_000]);
            let new = keys.iter().filter(|&&key| insert(cpu, &mut single, key)).count() as u64;
            assert_eq!(insert_all(cpu, &mut batch, &keys), new);
            assert!(single == batch, "{cpu:?}");
            let (mut answers, mut expected) = (vec![false; asked.len()], vec![false; asked.len()]);
            contains_all(cpu, &single, &asked, &mut answers);
            contains_all(Cpu::all()[0], &single, &asked, &mut expected);
            assert!(answers == expected && expected[..100_000].iter().all(|&found| found), "{cpu:?}");
            let each = |(&key, &expected): (&KeyHash, &bool)| contains(cpu, &single, key) == expected;
            assert!(asked.iter().zip(&expected).all(each), "{cpu:?}");
        }
    }
}
