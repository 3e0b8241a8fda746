//! Batches with AVX2: half a line in a vector, and what chooses the bits multiplied key by key. What four keys lack is looked at
//! together.
#![expect(unsafe_code, reason = "vector instructions are called after their presence was checked")]

use std::arch::x86_64::*;

use super::super::{Line, line_vectors};
use super::{BUDDY, LineBatch, NINE, PAIR, WINDOW};

/// For each of four vectors, whether it is zero: 1 in its byte, else 0.
#[inline]
#[target_feature(enable = "avx2")]
fn are_zero([a, b, c, d]: [__m256i; 4]) -> u32 {
    // Numbers that are not zero stay so when they are packed with saturation: four bytes of each half of a vector.
    let packed = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    let zero = _mm256_cmpeq_epi32(packed, _mm256_setzero_si256());
    let halves = _mm256_movemask_ps(_mm256_castsi256_ps(zero)).cast_unsigned();
    // Of four bits, one to each byte.
    ((halves & halves >> 4 & 0xF) * 0x0020_4081) & 0x0101_0101
}

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
        for &four in eight.as_chunks::<4>().0 {
            let lacking = four.map(|key| {
                // SAFETY: the line, and the other of its pair if keys straddle, are in the table, as was asked above. The lower
                // half of a line is not the upper one of any, and no other reference is held.
                let halves =
                    batch.halves::<PLACING>(key).map(|at| unsafe { &mut *line_0.wrapping_byte_add(at).cast() });
                let choice = batch.choice(key);
                if PLACING == NINE || PLACING == WINDOW {
                    line_vectors::set_pattern_avx2(halves, choice, batch.pattern::<PLACING>(key, choice))
                } else if PLACING == PAIR {
                    let lacking = line_vectors::set_avx2(halves, choice);
                    let choice = batch.buddy_choice(choice);
                    let halves = batch
                        .halves::<PLACING>(key)
                        // SAFETY: likewise.
                        .map(|at| unsafe { &mut *line_0.wrapping_byte_add(at ^ BUDDY).cast() });
                    let pattern = batch.pattern::<PLACING>(key, choice);
                    _mm256_or_si256(lacking, line_vectors::set_pattern_avx2(halves, choice, pattern))
                } else {
                    line_vectors::set_avx2(halves, choice)
                }
            });
            new += u64::from((are_zero(lacking) ^ 0x0101_0101).count_ones());
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
        for (&four, answers) in eight.as_chunks::<4>().0.iter().zip(answers.as_chunks_mut::<4>().0) {
            let lacking = four.map(|key| {
                // SAFETY: the line, and the other of its pair if keys straddle, are in the table, as was asked above.
                let halves = batch.halves::<PLACING>(key).map(|at| unsafe { &*line_0.wrapping_byte_add(at).cast() });
                let choice = batch.choice(key);
                if PLACING == NINE || PLACING == WINDOW {
                    line_vectors::test_pattern_avx2(halves, choice, batch.pattern::<PLACING>(key, choice))
                } else if PLACING == PAIR {
                    let lacking = line_vectors::test_avx2(halves, choice);
                    let choice = batch.buddy_choice(choice);
                    let halves = batch
                        .halves::<PLACING>(key)
                        // SAFETY: likewise.
                        .map(|at| unsafe { &*line_0.wrapping_byte_add(at ^ BUDDY).cast() });
                    let pattern = batch.pattern::<PLACING>(key, choice);
                    _mm256_or_si256(lacking, line_vectors::test_pattern_avx2(halves, choice, pattern))
                } else {
                    line_vectors::test_avx2(halves, choice)
                }
            });
            *answers = are_zero(lacking).to_le_bytes().map(|zero| zero == 1);
        }
    }
    true
}
