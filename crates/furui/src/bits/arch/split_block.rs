//! Blocks of 256 bits in which a key owns one bit of each of eight words: those of Apache Parquet's Bloom filters.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "vector instructions are called after their presence was checked")
)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use super::{prefetch, prefetch_for_write};
use crate::hash::KeyHash;

/// Eight little-endian words of 32 bits.
pub(crate) type Block = [u8; 32];

/// What a key is multiplied with for each word; the upper 5 bits of the product number the bit. They are part of
/// Parquet's format.
const SALTS: [u32; 8] =
    [0x47B6_137B, 0x4497_4D91, 0x8824_AD5B, 0xA2B7_289D, 0x7054_95C7, 0x2DF1_424B, 0x9EFC_4947, 0x5C6B_FB31];

/// How many keys ahead a batch asks for the line of a key.
const AHEAD: usize = 16;

/// Whether all bits of `key` are set.
#[inline]
pub(crate) fn contains(blocks: &[Block], key: KeyHash) -> bool {
    let block = &blocks[place(key, blocks.len())];
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 was found just above.
        return unsafe { contains_avx2(block, low(key)) };
    }
    contains_portable(block, low(key))
}

/// Sets all bits of `key`. True if one was not set before.
#[inline]
pub(crate) fn insert(blocks: &mut [Block], key: KeyHash) -> bool {
    let place = place(key, blocks.len());
    let block = &mut blocks[place];
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 was found just above.
        return unsafe { insert_avx2(block, low(key)) };
    }
    insert_portable(block, low(key))
}

/// Appends to `out` what [`contains`] says of each key.
pub(crate) fn contains_all(blocks: &[Block], keys: &[KeyHash], out: &mut Vec<bool>) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 was found just above.
        return unsafe { contains_all_avx2(blocks, keys, out) };
    }
    contains_all_by(blocks, keys, out, contains_portable);
}

/// [`insert`] for each key; says how often it was true.
pub(crate) fn insert_all(blocks: &mut [Block], keys: &[KeyHash]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 was found just above.
        return unsafe { insert_all_avx2(blocks, keys) };
    }
    insert_all_by(blocks, keys, insert_portable)
}

/// The block of a key among `blocks`, at most 2³¹: by the upper 32 bits of its hash.
#[inline(always)]
pub(crate) fn place(key: KeyHash, blocks: usize) -> usize {
    (((key.get() >> 32) * blocks as u64) >> 32) as usize
}

/// What a block sees of a key.
#[inline(always)]
fn low(key: KeyHash) -> u32 {
    key.get() as u32
}

#[inline(always)]
fn contains_all_by(blocks: &[Block], keys: &[KeyHash], out: &mut Vec<bool>, contains: impl Fn(&Block, u32) -> bool) {
    out.extend(keys.iter().enumerate().map(|(i, &key)| {
        if let Some(&soon) = keys.get(i + AHEAD) {
            prefetch(&blocks[place(soon, blocks.len())]);
        }
        contains(&blocks[place(key, blocks.len())], low(key))
    }));
}

#[inline(always)]
fn insert_all_by(blocks: &mut [Block], keys: &[KeyHash], insert: impl Fn(&mut Block, u32) -> bool) -> u64 {
    let count = blocks.len();
    let mut new = 0;
    for (i, &key) in keys.iter().enumerate() {
        if let Some(&soon) = keys.get(i + AHEAD) {
            prefetch_for_write(blocks, place(soon, count));
        }
        new += u64::from(insert(&mut blocks[place(key, count)], low(key)));
    }
    new
}

/// Each word of a block with the bit in it that `key` owns.
#[inline(always)]
fn words_and_bits(block: &Block, key: u32) -> impl Iterator<Item = (u32, u32)> {
    let words = block.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word));
    words.zip(SALTS.map(|salt| 1 << (key.wrapping_mul(salt) >> 27)))
}

#[inline(always)]
fn contains_portable(block: &Block, key: u32) -> bool {
    words_and_bits(block, key).all(|(word, bit)| word & bit != 0)
}

#[inline(always)]
fn insert_portable(block: &mut Block, key: u32) -> bool {
    let old = *block;
    for (bytes, (word, bit)) in block.as_chunks_mut::<4>().0.iter_mut().zip(words_and_bits(&old, key)) {
        *bytes = (word | bit).to_le_bytes();
    }
    *block != old
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn bits_avx2(key: u32) -> __m256i {
    let [a, b, c, d, e, f, g, h] = SALTS.map(u32::cast_signed);
    let products = _mm256_mullo_epi32(_mm256_set1_epi32(key.cast_signed()), _mm256_setr_epi32(a, b, c, d, e, f, g, h));
    _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32::<27>(products))
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn contains_avx2(block: &Block, key: u32) -> bool {
    // SAFETY: 32 readable bytes, and the load needs no alignment.
    let words = unsafe { _mm256_loadu_si256(block.as_ptr().cast()) };
    _mm256_testc_si256(words, bits_avx2(key)) == 1
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn insert_avx2(block: &mut Block, key: u32) -> bool {
    let bits = bits_avx2(key);
    // SAFETY: 32 readable bytes, and the load needs no alignment.
    let words = unsafe { _mm256_loadu_si256(block.as_ptr().cast()) };
    // SAFETY: 32 writable bytes, and the store needs no alignment.
    unsafe { _mm256_storeu_si256(block.as_mut_ptr().cast(), _mm256_or_si256(words, bits)) };
    _mm256_testc_si256(words, bits) == 0
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn contains_all_avx2(blocks: &[Block], keys: &[KeyHash], out: &mut Vec<bool>) {
    contains_all_by(blocks, keys, out, |block, key| contains_avx2(block, key));
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn insert_all_avx2(blocks: &mut [Block], keys: &[KeyHash]) -> u64 {
    insert_all_by(blocks, keys, |block, key| insert_avx2(block, key))
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
        for count in [1, 2, 3, 64, 1000] {
            let mut portable = vec![[0; 32]; count];
            let (mut single, mut batch) = (portable.clone(), portable.clone());
            let (first, second) = (keys(400), keys(900));
            let new = insert_all_by(&mut portable, &first, insert_portable);
            assert_eq!(first.iter().filter(|&&key| insert(&mut single, key)).count() as u64, new);
            assert_eq!(insert_all(&mut batch, &first), new);
            assert!(single == portable && batch == portable, "{count} blocks");
            let (mut expected, mut answers) = (vec![], vec![]);
            contains_all_by(&portable, &second, &mut expected, contains_portable);
            contains_all(&portable, &second, &mut answers);
            assert_eq!(answers, expected);
            assert!(second.iter().zip(expected).all(|(&key, expected)| contains(&portable, key) == expected));
        }
    }
}
