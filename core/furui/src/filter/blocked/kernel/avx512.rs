//! Testing and setting the bits of a key in a line, which is one vector of AVX-512.
#![expect(unsafe_code, reason = "lines are loaded and stored as vectors")]

use std::arch::x86_64::*;

use super::{Layout, Line, Row, contains_all_by, contains_by, insert_all_by, insert_by};
use crate::hash::KeyHash;

#[target_feature(enable = "avx512f,bmi1,bmi2")]
pub(super) fn contains(table: &[Line], layout: Layout, key: KeyHash) -> bool {
    contains_by(table, layout, key, |line, choice, row| test(line, choice, row))
}

#[target_feature(enable = "avx512f,bmi1,bmi2")]
pub(super) fn insert(table: &mut [Line], layout: Layout, key: KeyHash) -> bool {
    insert_by(table, layout, key, |line, choice, row| set(line, choice, row))
}

#[target_feature(enable = "avx512f,bmi1,bmi2")]
pub(super) fn contains_all(table: &[Line], layout: Layout, keys: &[KeyHash], answers: &mut [bool]) {
    contains_all_by(table, layout, keys, answers, |line, choice, row| test(line, choice, row));
}

#[target_feature(enable = "avx512f,bmi1,bmi2")]
pub(super) fn insert_all(table: &mut [Line], layout: Layout, keys: &[KeyHash]) -> u64 {
    insert_all_by(table, layout, keys, |line, choice, row| set(line, choice, row))
}

/// The bits that a key has in each lane of a line. A rotation takes its count modulo 64, so the counts need no mask.
#[inline]
#[target_feature(enable = "avx512f")]
fn bits(choice: u64, row: &Row) -> __m512i {
    let starts = _mm512_set_epi64(58, 52, 46, 40, 34, 28, 22, 16);
    let counts = _mm512_srlv_epi64(_mm512_set1_epi64(choice.cast_signed()), starts);
    // SAFETY: a row is 64 readable bytes, and the load needs no alignment.
    _mm512_rolv_epi64(unsafe { _mm512_loadu_si512(row.0.as_ptr().cast()) }, counts)
}

/// The AVX-512 version of [`super::portable::test`], which tests the bits of a key.
#[inline]
#[target_feature(enable = "avx512f")]
fn test(line: &Line, choice: u64, row: &Row) -> bool {
    let bits = bits(choice, row);
    // SAFETY: `line` is 64 readable bytes, and the load needs no alignment.
    let line = unsafe { _mm512_loadu_si512(line.as_ptr().cast()) };
    // `and` can take the line as an operand in memory; `andnot` could not.
    _mm512_cmpneq_epi64_mask(_mm512_and_si512(bits, line), bits) == 0
}

/// The AVX-512 version of [`super::portable::set`], which sets the bits of a key.
#[inline]
#[target_feature(enable = "avx512f")]
fn set(line: &mut Line, choice: u64, row: &Row) -> bool {
    let bits = bits(choice, row);
    // SAFETY: `line` is 64 readable and writable bytes, and neither load nor store needs alignment.
    unsafe {
        let old = _mm512_loadu_si512(line.as_ptr().cast());
        let all = _mm512_or_si512(old, bits);
        _mm512_storeu_si512(line.as_mut_ptr().cast(), all);
        _mm512_cmpneq_epi64_mask(all, old) != 0
    }
}
