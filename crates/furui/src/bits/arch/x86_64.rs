//! x86-64 vector code. Each function returns false, having done nothing, where the processor lacks the instructions.
#![expect(unsafe_code, reason = "vector instructions are called after their presence was checked")]

use std::arch::x86_64::*;

use super::generic;

/// See [`super::byte_positions`].
pub(super) fn byte_positions(haystack: &[u8], byte: u8, out: &mut Vec<u32>) -> bool {
    if is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("bmi1") {
        // SAFETY: AVX-512BW and BMI1 were found just above.
        unsafe { byte_positions_avx512(haystack, byte, out) };
        true
    } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi1") {
        // SAFETY: AVX2 and BMI1 were found just above.
        unsafe { byte_positions_avx2(haystack, byte, out) };
        true
    } else {
        false
    }
}

#[target_feature(enable = "avx512bw,bmi1")]
fn byte_positions_avx512(haystack: &[u8], byte: u8, out: &mut Vec<u32>) {
    let pattern = _mm512_set1_epi8(byte as i8);
    flatten(haystack, byte, out, |block| {
        // SAFETY: `block` is 64 readable bytes and the load needs no alignment.
        let bytes = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
        _mm512_cmpeq_epi8_mask(bytes, pattern)
    });
}

#[target_feature(enable = "avx2,bmi1")]
fn byte_positions_avx2(haystack: &[u8], byte: u8, out: &mut Vec<u32>) {
    let pattern = _mm256_set1_epi8(byte as i8);
    flatten(haystack, byte, out, |block| {
        // SAFETY: `block` is 64 readable bytes, so both halves are, and the loads need no alignment.
        let (low, high) =
            unsafe { (_mm256_loadu_si256(block.as_ptr().cast()), _mm256_loadu_si256(block.as_ptr().add(32).cast())) };
        let low = _mm256_movemask_epi8(_mm256_cmpeq_epi8(low, pattern)) as u32;
        let high = _mm256_movemask_epi8(_mm256_cmpeq_epi8(high, pattern)) as u32;
        u64::from(low) | u64::from(high) << 32
    });
}

/// Turns the match mask of every 64-byte block into positions. The first four are written whether they exist or
/// not, which spares a branch per match in text of usual line lengths; a loop takes the rest.
#[inline(always)]
fn flatten(haystack: &[u8], byte: u8, out: &mut Vec<u32>, mask_of: impl Fn(&[u8; 64]) -> u64) {
    let (blocks, tail) = haystack.as_chunks::<64>();
    let mut len = out.len();
    for (i, block) in blocks.iter().enumerate() {
        let mut mask = mask_of(block);
        let count = mask.count_ones() as usize;
        if out.len() < len + 64 {
            out.resize((len + 64).max(out.len() * 2), 0);
        }
        let base = i as u32 * 64;
        let slots = &mut out[len..len + 64];
        for slot in &mut slots[..4] {
            // An empty mask has 64 trailing zeros: the store is harmless, the next block overwrites it.
            *slot = base + mask.trailing_zeros();
            mask &= mask.wrapping_sub(1);
        }
        let mut k = 4;
        while mask != 0 {
            slots[k] = base + mask.trailing_zeros();
            mask &= mask - 1;
            k += 1;
        }
        len += count;
    }
    out.truncate(len);
    let tail_start = out.len();
    generic::byte_positions(tail, byte, out);
    let base = (blocks.len() * 64) as u32;
    for position in &mut out[tail_start..] {
        *position += base;
    }
}

/// Calls `f` compiled for x86-64-v3, so that counts, masks and selects inside it are single instructions.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn run_v3<R>(f: impl FnOnce() -> R) -> R {
    f()
}

/// See [`super::generic::select`].
#[inline]
#[target_feature(enable = "bmi1,bmi2")]
pub(super) fn select(word: u64, n: u32) -> u32 {
    _tzcnt_u64(_pdep_u64(1 << n, word)) as u32
}
