//! A line in one vector of AVX-512, or in two of AVX2, inside code that is compiled for these.
#![expect(unsafe_code, reason = "lines are loaded and stored as vectors")]

use std::arch::x86_64::*;

use super::lines::Half;

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

/// The bit that each of the `lanes` is asked for; 0 in the others. A rotation takes its count modulo 64, so nothing
/// need be masked.
#[inline]
#[target_feature(enable = "avx512f")]
fn chosen_bits_avx512(choice: u64, lanes: u8) -> __m512i {
    let counts = _mm512_srlv_epi64(_mm512_set1_epi64(choice as i64), lane_shifts());
    _mm512_maskz_rolv_epi64(lanes, _mm512_set1_epi64(1), counts)
}

/// See [`super::Lines::set`].
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn set_avx512(line: &mut [u8; 64], choice: u64, lanes: u8) -> bool {
    let bits = chosen_bits_avx512(choice, lanes);
    // SAFETY: `line` is 64 readable and writable bytes, and neither load nor store needs alignment.
    unsafe {
        let old = _mm512_loadu_si512(line.as_ptr().cast());
        _mm512_storeu_si512(line.as_mut_ptr().cast(), _mm512_or_si512(old, bits));
        let missing = _mm512_andnot_si512(old, bits);
        _mm512_test_epi64_mask(missing, missing) != 0
    }
}

/// See [`super::Lines::test`].
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn test_avx512(line: &[u8; 64], choice: u64, lanes: u8) -> bool {
    let bits = chosen_bits_avx512(choice, lanes);
    // SAFETY: `line` is 64 readable bytes, and the load needs no alignment.
    let missing = unsafe { _mm512_andnot_si512(_mm512_loadu_si512(line.as_ptr().cast()), bits) };
    _mm512_test_epi64_mask(missing, missing) == 0
}

/// See [`super::Lines::set_halves`].
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn set_halves_avx512([low, high]: [&mut Half; 2], choice: u64) -> bool {
    let bits = chosen_bits_avx512(choice, 0xFF);
    // SAFETY: each half is 32 readable and writable bytes, and neither loads nor stores need alignment.
    unsafe {
        let low_old = _mm256_loadu_si256(low.as_ptr().cast());
        let high_old = _mm256_loadu_si256(high.as_ptr().cast());
        let old = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low_old), high_old);
        let all = _mm512_or_si512(old, bits);
        _mm256_storeu_si256(low.as_mut_ptr().cast(), _mm512_castsi512_si256(all));
        _mm256_storeu_si256(high.as_mut_ptr().cast(), _mm512_extracti64x4_epi64::<1>(all));
        let missing = _mm512_andnot_si512(old, bits);
        _mm512_test_epi64_mask(missing, missing) != 0
    }
}

/// See [`super::Lines::test_halves`].
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn test_halves_avx512([low, high]: [&Half; 2], choice: u64) -> bool {
    let bits = chosen_bits_avx512(choice, 0xFF);
    // SAFETY: each half is 32 readable bytes, and the loads need no alignment.
    let line = unsafe {
        let low = _mm512_castsi256_si512(_mm256_loadu_si256(low.as_ptr().cast()));
        _mm512_inserti64x4::<1>(low, _mm256_loadu_si256(high.as_ptr().cast()))
    };
    let missing = _mm512_andnot_si512(line, bits);
    _mm512_test_epi64_mask(missing, missing) == 0
}

/// The bit that each of the `lanes` is asked for, in the lower four and the upper four lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn chosen_bits_avx2(choice: u64, lanes: u8) -> (__m256i, __m256i) {
    let choice = _mm256_set1_epi64x(choice as i64);
    let lanes = _mm256_set1_epi64x(i64::from(lanes));
    let one = _mm256_set1_epi64x(1);
    let half = |shifts, lane_numbers| {
        let counts = _mm256_and_si256(_mm256_srlv_epi64(choice, shifts), _mm256_set1_epi64x(63));
        _mm256_sllv_epi64(_mm256_and_si256(_mm256_srlv_epi64(lanes, lane_numbers), one), counts)
    };
    (
        half(_mm256_set_epi64x(34, 28, 22, 16), _mm256_set_epi64x(3, 2, 1, 0)),
        half(_mm256_set_epi64x(58, 52, 46, 40), _mm256_set_epi64x(7, 6, 5, 4)),
    )
}

/// See [`super::Lines::set`].
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn set_avx2([low, high]: [&mut Half; 2], choice: u64, lanes: u8) -> bool {
    let (low_bits, high_bits) = chosen_bits_avx2(choice, lanes);
    // SAFETY: each half is 32 readable and writable bytes, and neither loads nor stores need alignment.
    unsafe {
        let low_old = _mm256_loadu_si256(low.as_ptr().cast());
        let high_old = _mm256_loadu_si256(high.as_ptr().cast());
        _mm256_storeu_si256(low.as_mut_ptr().cast(), _mm256_or_si256(low_old, low_bits));
        _mm256_storeu_si256(high.as_mut_ptr().cast(), _mm256_or_si256(high_old, high_bits));
        // testc: whether the second is in the first.
        (_mm256_testc_si256(low_old, low_bits) & _mm256_testc_si256(high_old, high_bits)) == 0
    }
}

/// See [`super::Lines::test`].
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn test_avx2([low, high]: [&Half; 2], choice: u64, lanes: u8) -> bool {
    let (low_bits, high_bits) = chosen_bits_avx2(choice, lanes);
    // SAFETY: each half is 32 readable bytes, and the loads need no alignment.
    let (low, high) = unsafe { (_mm256_loadu_si256(low.as_ptr().cast()), _mm256_loadu_si256(high.as_ptr().cast())) };
    (_mm256_testc_si256(low, low_bits) & _mm256_testc_si256(high, high_bits)) != 0
}
