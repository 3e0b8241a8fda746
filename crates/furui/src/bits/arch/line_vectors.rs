//! A line in one vector of AVX-512, or in two of AVX2, inside code that is compiled for these.
#![expect(unsafe_code, reason = "lines are loaded and stored as vectors")]

use std::arch::asm;
use std::arch::x86_64::*;

use super::lines::{Half, Line};
use super::pattern::Pattern;

/// Calls `f` compiled for AVX-512.
#[target_feature(enable = "avx512f,avx512dq,bmi1,bmi2")]
pub(super) fn run_avx512<A, B, C, R>(a: A, b: B, c: C, f: impl FnOnce(A, B, C) -> R) -> R {
    f(a, b, c)
}

/// Calls `f` compiled for AVX2.
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn run_avx2<A, B, C, R>(a: A, b: B, c: C, f: impl FnOnce(A, B, C) -> R) -> R {
    f(a, b, c)
}

/// Where in a choice the bit of each lane is.
#[inline]
#[target_feature(enable = "avx512f")]
fn lane_shifts() -> __m512i {
    _mm512_set_epi64(58, 52, 46, 40, 34, 28, 22, 16)
}

/// The words, each turned by as much as the choice says. A rotation takes its count modulo 64, so nothing need be masked.
#[inline]
#[target_feature(enable = "avx512f")]
fn turned_avx512(words: __m512i, choice: u64) -> __m512i {
    _mm512_rolv_epi64(words, _mm512_srlv_epi64(_mm512_set1_epi64(choice.cast_signed()), lane_shifts()))
}

/// The bit of each lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn chosen_bits_avx512(choice: u64) -> __m512i {
    turned_avx512(_mm512_set1_epi64(1), choice)
}

/// The bits of a pattern.
#[inline]
#[target_feature(enable = "avx512f")]
fn pattern_bits_avx512(choice: u64, pattern: &Pattern) -> __m512i {
    // SAFETY: a pattern is 64 readable bytes, and the load needs no alignment.
    turned_avx512(unsafe { _mm512_loadu_si512(pattern.0.as_ptr().cast()) }, choice)
}

/// Sets the bits, and says in which lanes one was not set.
#[inline]
#[target_feature(enable = "avx512f")]
fn add_avx512(line: &mut Line, bits: __m512i) -> u8 {
    // SAFETY: `line` is 64 readable and writable bytes, and neither load nor store needs alignment.
    unsafe {
        let old = _mm512_loadu_si512(line.as_ptr().cast());
        let all = _mm512_or_si512(old, bits);
        _mm512_storeu_si512(line.as_mut_ptr().cast(), all);
        _mm512_cmpneq_epi64_mask(all, old)
    }
}

/// See [`super::Lines::set_inline`]: the lanes whose bit was not set.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn set_avx512(line: &mut Line, choice: u64) -> u8 {
    add_avx512(line, chosen_bits_avx512(choice))
}

/// See [`super::Lines::test_inline`]: the lanes whose bit is not set.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn test_avx512(line: &Line, choice: u64) -> u8 {
    // SAFETY: `line` is 64 readable bytes, and the load needs no alignment.
    let line = unsafe { _mm512_loadu_si512(line.as_ptr().cast()) };
    _mm512_testn_epi64_mask(line, chosen_bits_avx512(choice))
}

/// See [`super::Lines::set`]: the lanes of which a bit was not set.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn set_pattern_avx512(line: &mut Line, choice: u64, pattern: &Pattern) -> u8 {
    add_avx512(line, pattern_bits_avx512(choice, pattern))
}

/// See [`super::Lines::test`]: the lanes of which a bit is not set.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn test_pattern_avx512(line: &Line, choice: u64, pattern: &Pattern) -> u8 {
    // SAFETY: `line` is 64 readable bytes, and the load needs no alignment.
    let line = unsafe { _mm512_loadu_si512(line.as_ptr().cast()) };
    let bits = pattern_bits_avx512(choice, pattern);
    // Not `andnot`: of that the line cannot be the operand in memory.
    _mm512_cmpneq_epi64_mask(_mm512_and_si512(bits, line), bits)
}

/// See [`super::Lines::set_halves`]: the lanes whose bit was not set.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn set_halves_avx512([low, high]: [&mut Half; 2], choice: u64) -> u8 {
    let bits = chosen_bits_avx512(choice);
    // SAFETY: each half is 32 readable and writable bytes, and neither loads nor stores need alignment.
    unsafe {
        let low_old = _mm256_loadu_si256(low.as_ptr().cast());
        let high_old = _mm256_loadu_si256(high.as_ptr().cast());
        let old = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low_old), high_old);
        let all = _mm512_or_si512(old, bits);
        _mm256_storeu_si256(low.as_mut_ptr().cast(), _mm512_castsi512_si256(all));
        _mm256_storeu_si256(high.as_mut_ptr().cast(), _mm512_extracti64x4_epi64::<1>(all));
        _mm512_testn_epi64_mask(old, bits)
    }
}

/// See [`super::Lines::test_halves`]: the lanes whose bit is not set.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn test_halves_avx512([low, high]: [&Half; 2], choice: u64) -> u8 {
    // SAFETY: each half is 32 readable bytes, and the loads need no alignment.
    let line = unsafe {
        let low = _mm512_castsi256_si512(_mm256_loadu_si256(low.as_ptr().cast()));
        _mm512_inserti64x4::<1>(low, _mm256_loadu_si256(high.as_ptr().cast()))
    };
    _mm512_testn_epi64_mask(line, chosen_bits_avx512(choice))
}

/// How far each lane is turned, in the lower four and the upper four lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn counts_avx2(choice: u64) -> [__m256i; 2] {
    let choice = _mm256_set1_epi64x(choice.cast_signed());
    let half = |shifts| _mm256_and_si256(_mm256_srlv_epi64(choice, shifts), _mm256_set1_epi64x(63));
    [half(_mm256_set_epi64x(34, 28, 22, 16)), half(_mm256_set_epi64x(58, 52, 46, 40))]
}

/// The bit of each lane.
#[inline]
#[target_feature(enable = "avx2")]
fn chosen_bits_avx2(choice: u64) -> [__m256i; 2] {
    let [low, high] = counts_avx2(choice);
    let one = _mm256_set1_epi64x(1);
    [_mm256_sllv_epi64(one, low), _mm256_sllv_epi64(one, high)]
}

/// The bits of a pattern.
#[inline]
#[target_feature(enable = "avx2")]
fn pattern_bits_avx2(choice: u64, pattern: &Pattern) -> [__m256i; 2] {
    let [low, high] = counts_avx2(choice);
    let turned = |words: __m256i, count| {
        let rest = _mm256_sub_epi64(_mm256_set1_epi64x(64), count);
        let over: __m256i;
        // SAFETY: AVX2 is there. As an intrinsic it is found to be a part of a rotation, and guarded against a shift by 64
        // with two more instructions, which it does not need: 64 or more make 0.
        unsafe {
            asm!(
                "vpsrlvq {over}, {words}, {rest}",
                over = lateout(ymm_reg) over,
                words = in(ymm_reg) words,
                rest = in(ymm_reg) rest,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        _mm256_or_si256(_mm256_sllv_epi64(words, count), over)
    };
    let words = pattern.0.as_ptr().cast::<__m256i>();
    // SAFETY: a pattern is twice 32 readable bytes, and the loads need no alignment.
    unsafe { [turned(_mm256_loadu_si256(words), low), turned(_mm256_loadu_si256(words.add(1)), high)] }
}

/// Sets the bits, and says which were not set, those of both halves together.
#[inline]
#[target_feature(enable = "avx2")]
fn add_avx2([low, high]: [&mut Half; 2], [low_bits, high_bits]: [__m256i; 2]) -> __m256i {
    // SAFETY: each half is 32 readable and writable bytes, and neither loads nor stores need alignment.
    unsafe {
        let low_old = _mm256_loadu_si256(low.as_ptr().cast());
        let high_old = _mm256_loadu_si256(high.as_ptr().cast());
        _mm256_storeu_si256(low.as_mut_ptr().cast(), _mm256_or_si256(low_old, low_bits));
        _mm256_storeu_si256(high.as_mut_ptr().cast(), _mm256_or_si256(high_old, high_bits));
        _mm256_or_si256(_mm256_andnot_si256(low_old, low_bits), _mm256_andnot_si256(high_old, high_bits))
    }
}

/// Which of the bits are not set, those of both halves together.
#[inline]
#[target_feature(enable = "avx2")]
fn lacking_avx2([low, high]: [&Half; 2], [low_bits, high_bits]: [__m256i; 2]) -> __m256i {
    // SAFETY: each half is 32 readable bytes, and the loads need no alignment.
    let (low, high) = unsafe { (_mm256_loadu_si256(low.as_ptr().cast()), _mm256_loadu_si256(high.as_ptr().cast())) };
    _mm256_or_si256(_mm256_andnot_si256(low, low_bits), _mm256_andnot_si256(high, high_bits))
}

/// See [`super::Lines::set_halves`]: which bits were not set, those of both halves together.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn set_avx2(halves: [&mut Half; 2], choice: u64) -> __m256i {
    add_avx2(halves, chosen_bits_avx2(choice))
}

/// See [`super::Lines::test_halves`]: which bits are not set, likewise.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn test_avx2(halves: [&Half; 2], choice: u64) -> __m256i {
    lacking_avx2(halves, chosen_bits_avx2(choice))
}

/// See [`super::Lines::set`]: which bits were not set, likewise.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn set_pattern_avx2(halves: [&mut Half; 2], choice: u64, pattern: &Pattern) -> __m256i {
    add_avx2(halves, pattern_bits_avx2(choice, pattern))
}

/// See [`super::Lines::test`]: which bits are not set, likewise.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn test_pattern_avx2(halves: [&Half; 2], choice: u64, pattern: &Pattern) -> __m256i {
    lacking_avx2(halves, pattern_bits_avx2(choice, pattern))
}

/// Whether no bit is set.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn is_zero_avx2(bits: __m256i) -> bool {
    _mm256_testz_si256(bits, bits) != 0
}
