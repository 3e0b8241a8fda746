//! Testing and setting the bits of a key in a line, which is two vectors of AVX2.
#![expect(unsafe_code, reason = "lines are loaded and stored as vectors")]

use std::arch::x86_64::*;

use super::{Layout, Line, Row, contains_all_by, contains_by, insert_all_by, insert_by};
use crate::hash::KeyHash;

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn contains(table: &[Line], layout: Layout, key: KeyHash) -> bool {
    contains_by(table, layout, key, |line, choice, row| test(line, choice, row))
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn insert(table: &mut [Line], layout: Layout, key: KeyHash) -> bool {
    insert_by(table, layout, key, |line, choice, row| set(line, choice, row))
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn contains_all(table: &[Line], layout: Layout, keys: &[KeyHash], answers: &mut [bool]) {
    contains_all_by(table, layout, keys, answers, |line, choice, row| test(line, choice, row));
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn insert_all(table: &mut [Line], layout: Layout, keys: &[KeyHash]) -> u64 {
    insert_all_by(table, layout, keys, |line, choice, row| set(line, choice, row))
}

/// Returns the bits that a key has in a line, in two vectors: the lower four lanes and the upper four.
#[inline]
#[target_feature(enable = "avx2")]
fn bits(choice: u64, row: &Row) -> [__m256i; 2] {
    let choice = _mm256_set1_epi64x(choice.cast_signed());
    let (low, high) = row.0.split_at(4);
    [(low, _mm256_set_epi64x(34, 28, 22, 16)), (high, _mm256_set_epi64x(58, 52, 46, 40))].map(|(lanes, starts)| {
        let counts = _mm256_and_si256(_mm256_srlv_epi64(choice, starts), _mm256_set1_epi64x(63));
        // SAFETY: half a row is 32 readable bytes, and the load needs no alignment.
        _mm256_sllv_epi64(unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }, counts)
    })
}

/// The AVX2 version of [`super::portable::test`], which tests the bits of a key.
#[inline]
#[target_feature(enable = "avx2")]
fn test(line: &Line, choice: u64, row: &Row) -> bool {
    let [low, high] = bits(choice, row);
    // SAFETY: `line` is twice 32 readable bytes, and the loads need no alignment.
    let (low_half, high_half) =
        unsafe { (_mm256_loadu_si256(line.as_ptr().cast()), _mm256_loadu_si256(line.as_ptr().add(32).cast())) };
    let missing = _mm256_or_si256(_mm256_andnot_si256(low_half, low), _mm256_andnot_si256(high_half, high));
    _mm256_testz_si256(missing, missing) == 1
}

/// The AVX2 version of [`super::portable::set`], which sets the bits of a key.
#[inline]
#[target_feature(enable = "avx2")]
fn set(line: &mut Line, choice: u64, row: &Row) -> bool {
    let [low, high] = bits(choice, row);
    let at = line.as_mut_ptr();
    // SAFETY: `line` is twice 32 readable and writable bytes, and neither loads nor stores need alignment.
    let missing = unsafe {
        let (low_half, high_half) = (_mm256_loadu_si256(at.cast()), _mm256_loadu_si256(at.add(32).cast()));
        _mm256_storeu_si256(at.cast(), _mm256_or_si256(low_half, low));
        _mm256_storeu_si256(at.add(32).cast(), _mm256_or_si256(high_half, high));
        _mm256_or_si256(_mm256_andnot_si256(low_half, low), _mm256_andnot_si256(high_half, high))
    };
    _mm256_testz_si256(missing, missing) == 0
}
