//! Testing and setting the bits of a key in a block, which is one vector of AVX2.
#![expect(unsafe_code, reason = "blocks are loaded and stored as vectors")]

use std::arch::x86_64::*;

use super::{Block, SALTS, contains_all_by, insert_all_by};
use crate::hash::KeyHash;

#[target_feature(enable = "avx2")]
pub(super) fn contains_all(blocks: &[Block], keys: &[KeyHash], answers: &mut [bool]) {
    contains_all_by(blocks, keys, answers, |block, key| test(block, key));
}

#[target_feature(enable = "avx2")]
pub(super) fn insert_all(blocks: &mut [Block], keys: &[KeyHash]) -> u64 {
    insert_all_by(blocks, keys, |block, key| set(block, key))
}

#[inline]
#[target_feature(enable = "avx2")]
fn bits(key: u32) -> __m256i {
    let [a, b, c, d, e, f, g, h] = SALTS.map(u32::cast_signed);
    let products = _mm256_mullo_epi32(_mm256_set1_epi32(key.cast_signed()), _mm256_setr_epi32(a, b, c, d, e, f, g, h));
    _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32::<27>(products))
}

/// See [`super::portable::test`].
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn test(block: &Block, key: u32) -> bool {
    // SAFETY: a block is 32 readable bytes, and the load needs no alignment.
    let words = unsafe { _mm256_loadu_si256(block.as_ptr().cast()) };
    _mm256_testc_si256(words, bits(key)) == 1
}

/// See [`super::portable::set`].
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn set(block: &mut Block, key: u32) -> bool {
    let bits = bits(key);
    // SAFETY: `block` is 32 readable and writable bytes, and neither load nor store needs alignment.
    unsafe {
        let words = _mm256_loadu_si256(block.as_ptr().cast());
        _mm256_storeu_si256(block.as_mut_ptr().cast(), _mm256_or_si256(words, bits));
        _mm256_testc_si256(words, bits) == 0
    }
}
