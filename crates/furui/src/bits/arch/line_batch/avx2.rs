//! Batches with AVX2: half a line in a vector, and what chooses the bits multiplied key by key.
#![expect(unsafe_code, reason = "vector instructions are called after their presence was checked")]

use std::arch::x86_64::{_MM_HINT_ET0, _MM_HINT_T0};

use super::super::{Line, Pattern, line_vectors};
use super::{LineBatch, NINE};

/// See [`super::Lines::set_batch`].
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn set<const PLACING: u8>(table: &mut [Line], batch: LineBatch<'_>) -> Option<u64> {
    if !batch.fits(table) {
        return None;
    }
    let line_0 = table.as_mut_ptr().wrapping_sub(batch.first);
    batch.fetch_first::<_MM_HINT_ET0, PLACING>(line_0);
    let mut new = 0;
    for (index, eight) in batch.keys.keys().as_chunks::<8>().0.iter().enumerate() {
        batch.fetch_ahead::<_MM_HINT_ET0, PLACING>(line_0, index);
        for &key in eight {
            // SAFETY: the line, and the other of its pair if keys straddle, are in the table, as was asked above. The lower
            // half of a line is not the upper one of any, and no other reference is held.
            let halves = batch.halves::<PLACING>(key).map(|at| unsafe { &mut *line_0.wrapping_byte_add(at).cast() });
            let choice = batch.choice(key);
            new += u64::from(if PLACING == NINE {
                line_vectors::set_pattern_avx2(halves, choice, Pattern::of_nine(key))
            } else {
                line_vectors::set_avx2(halves, choice)
            });
        }
    }
    Some(new)
}

/// See [`super::Lines::test_batch`].
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn test<const PLACING: u8>(table: &[Line], batch: LineBatch<'_>, answers: &mut [bool]) -> bool {
    if !batch.fits(table) {
        return false;
    }
    let line_0 = table.as_ptr().wrapping_sub(batch.first);
    batch.fetch_first::<_MM_HINT_T0, PLACING>(line_0);
    let eights = batch.keys.keys().as_chunks::<8>().0.iter();
    for (index, (eight, answers)) in eights.zip(answers.as_chunks_mut::<8>().0).enumerate() {
        batch.fetch_ahead::<_MM_HINT_T0, PLACING>(line_0, index);
        for (&key, answer) in eight.iter().zip(answers) {
            // SAFETY: the line, and the other of its pair if keys straddle, are in the table, as was asked above.
            let halves = batch.halves::<PLACING>(key).map(|at| unsafe { &*line_0.wrapping_byte_add(at).cast() });
            let choice = batch.choice(key);
            *answer = if PLACING == NINE {
                line_vectors::test_pattern_avx2(halves, choice, Pattern::of_nine(key))
            } else {
                line_vectors::test_avx2(halves, choice)
            };
        }
    }
    true
}
