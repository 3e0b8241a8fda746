//! Batches with AVX-512: what chooses the bits is multiplied for eight keys at once.
#![expect(unsafe_code, reason = "vector instructions are called after their presence was checked")]

use std::arch::x86_64::*;

use super::super::{Line, line_vectors};
use super::LineBatch;
use crate::hash::KeyHash;

impl LineBatch<'_> {
    /// The words that choose the bits of eight keys in their lines.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn choices(&self, eight: &[KeyHash; 8]) -> [u64; 8] {
        let mut choices = [0; 8];
        // SAFETY: eight hashes, words of 64 bits, are 64 readable bytes, as eight words are 64 writable ones, and neither load
        // nor store needs alignment.
        unsafe {
            let hashes = _mm512_loadu_si512(std::ptr::from_ref(eight).cast());
            let products = _mm512_mullo_epi64(hashes, _mm512_set1_epi64(self.multiplier.cast_signed()));
            _mm512_storeu_si512(choices.as_mut_ptr().cast(), products);
        }
        choices
    }
}

/// See [`super::Lines::set_batch`].
#[target_feature(enable = "avx512f,avx512dq,bmi1,bmi2")]
pub(super) fn set<const STRADDLE: bool>(table: &mut [Line], batch: LineBatch<'_>) -> Option<u64> {
    if !batch.fits(table) {
        return None;
    }
    let line_0 = table.as_mut_ptr().wrapping_sub(batch.first);
    batch.fetch_first::<_MM_HINT_ET0, STRADDLE>(line_0);
    let mut new = 0;
    for (index, eight) in batch.keys.keys().as_chunks::<8>().0.iter().enumerate() {
        batch.fetch_ahead::<_MM_HINT_ET0, STRADDLE>(line_0, index);
        let choices = batch.choices(eight);
        for i in 0..8 {
            new += u64::from(if STRADDLE {
                // SAFETY: the lines are in the table, as was asked above. The lower half of a line is not the upper one of
                // any, and no other reference is held.
                let halves =
                    batch.halves::<true>(eight[i]).map(|at| unsafe { &mut *line_0.wrapping_byte_add(at).cast() });
                line_vectors::set_halves_avx512(halves, choices[i])
            } else {
                // SAFETY: the line is in the table, as was asked above, and no other reference to one is held.
                let line = unsafe { &mut *line_0.wrapping_byte_add(batch.offset(eight[i])) };
                line_vectors::set_avx512(line, choices[i], 0xFF)
            });
        }
    }
    Some(new)
}

/// See [`super::Lines::test_batch`].
#[target_feature(enable = "avx512f,avx512dq,bmi1,bmi2")]
pub(super) fn test<const STRADDLE: bool>(table: &[Line], batch: LineBatch<'_>, answers: &mut [bool]) -> bool {
    if !batch.fits(table) {
        return false;
    }
    let line_0 = table.as_ptr().wrapping_sub(batch.first);
    batch.fetch_first::<_MM_HINT_T0, STRADDLE>(line_0);
    let eights = batch.keys.keys().as_chunks::<8>().0.iter();
    for (index, (eight, answers)) in eights.zip(answers.as_chunks_mut::<8>().0).enumerate() {
        batch.fetch_ahead::<_MM_HINT_T0, STRADDLE>(line_0, index);
        let choices = batch.choices(eight);
        for i in 0..8 {
            answers[i] = if STRADDLE {
                // SAFETY: the lines are in the table, as was asked above.
                let halves = batch.halves::<true>(eight[i]).map(|at| unsafe { &*line_0.wrapping_byte_add(at).cast() });
                line_vectors::test_halves_avx512(halves, choices[i])
            } else {
                // SAFETY: the line is in the table, as was asked above.
                let line = unsafe { &*line_0.wrapping_byte_add(batch.offset(eight[i])) };
                line_vectors::test_avx512(line, choices[i], 0xFF)
            };
        }
    }
    true
}
