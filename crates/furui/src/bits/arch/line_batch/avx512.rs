//! Batches with AVX-512. A block of keys goes through three loops: what chooses their bits, multiplied eight at a time; their
//! lines, of which the lanes that lack a bit are stored and not asked yet; what is made of these, many at a time.
#![expect(unsafe_code, reason = "vector instructions are called after their presence was checked")]

use std::arch::x86_64::*;

use super::super::{Line, line_vectors};
use super::{BUDDY, LineBatch, NINE, PAIR, STRADDLING, WINDOW};
use crate::hash::KeyHash;

/// How many groups of eight keys go through the loops together. With one, each waits for its products.
const GROUPS: usize = 8;

/// What is known of some keys before their lines are looked at, and of their lines then.
struct Block {
    /// The words that choose the bits.
    choices: [[u64; 8]; GROUPS],
    /// The lanes that lack a bit.
    lacking: [[u8; 8]; GROUPS],
}

impl Block {
    const EMPTY: Self = Self { choices: [[0; 8]; GROUPS], lacking: [[0; 8]; GROUPS] };

    /// Is about these keys from now on.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn prepare(&mut self, keys: &[[KeyHash; 8]], multiplier: u64) {
        for (eight, choices) in keys.iter().zip(&mut self.choices) {
            // SAFETY: eight hashes, words of 64 bits, are 64 readable bytes, as eight words are 64 writable ones, and neither
            // load nor store needs alignment.
            unsafe {
                let hashes = _mm512_loadu_si512(std::ptr::from_ref(eight).cast());
                let products = _mm512_mullo_epi64(hashes, _mm512_set1_epi64(multiplier.cast_signed()));
                _mm512_storeu_si512(choices.as_mut_ptr().cast(), products);
            }
        }
    }
}

/// See [`super::Lines::set_batch`].
#[target_feature(enable = "avx512f,avx512dq,bmi1,bmi2")]
pub(super) fn set<const PLACING: u8>(table: &mut [Line], batch: LineBatch<'_>) -> Option<u64> {
    if !batch.fits(table) {
        return None;
    }
    let line_0 = table.as_mut_ptr().wrapping_sub(batch.first);
    batch.fetch_first::<_MM_HINT_ET0, PLACING>(line_0);
    let mut block = Block::EMPTY;
    let (mut new, mut index) = (0, 0);
    for keys in batch.keys.keys().as_chunks::<8>().0.chunks(GROUPS) {
        block.prepare(keys, batch.multiplier);
        let Block { choices, lacking } = &mut block;
        for ((eight, choices), lacking) in keys.iter().zip(choices).zip(&mut *lacking) {
            batch.fetch_ahead::<_MM_HINT_ET0, PLACING>(line_0, index);
            index += 1;
            for i in 0..8 {
                lacking[i] = if PLACING == STRADDLING {
                    // SAFETY: the lines are in the table, as was asked above. The lower half of a line is not the upper one of
                    // any, and no other reference is held.
                    let halves = batch
                        .halves::<PLACING>(eight[i])
                        .map(|at| unsafe { &mut *line_0.wrapping_byte_add(at).cast() });
                    line_vectors::set_halves_avx512(halves, choices[i])
                } else {
                    // SAFETY: the line is in the table, as was asked above, and no other reference to one is held.
                    let line = unsafe { &mut *line_0.wrapping_byte_add(batch.offset(eight[i])) };
                    if PLACING == NINE || PLACING == WINDOW {
                        line_vectors::set_pattern_avx512(
                            line,
                            choices[i],
                            batch.pattern::<PLACING>(eight[i], choices[i]),
                        )
                    } else if PLACING == PAIR {
                        let choice = batch.buddy_choice(choices[i]);
                        let lacking = line_vectors::set_avx512(line, choices[i]);
                        // SAFETY: likewise.
                        let buddy = unsafe { &mut *line_0.wrapping_byte_add(batch.offset(eight[i]) ^ BUDDY) };
                        let pattern = batch.pattern::<PLACING>(eight[i], choice);
                        lacking | line_vectors::set_pattern_avx512(buddy, choice, pattern)
                    } else {
                        line_vectors::set_avx512(line, choices[i])
                    }
                };
            }
        }
        new += lacking[..keys.len()].as_flattened().iter().map(|&lacking| u64::from(lacking != 0)).sum::<u64>();
    }
    Some(new)
}

/// See [`super::Lines::test_batch`].
#[target_feature(enable = "avx512f,avx512dq,bmi1,bmi2")]
pub(super) fn test<const PLACING: u8>(table: &[Line], batch: LineBatch<'_>, answers: &mut [bool]) -> bool {
    if !batch.fits(table) {
        return false;
    }
    let line_0 = table.as_ptr().wrapping_sub(batch.first);
    batch.fetch_first::<_MM_HINT_T0, PLACING>(line_0);
    let mut block = Block::EMPTY;
    let mut index = 0;
    let blocks = batch.keys.keys().as_chunks::<8>().0.chunks(GROUPS);
    for (keys, answers) in blocks.zip(answers.as_chunks_mut::<8>().0.chunks_mut(GROUPS)) {
        block.prepare(keys, batch.multiplier);
        let Block { choices, lacking } = &mut block;
        for ((eight, choices), lacking) in keys.iter().zip(choices).zip(&mut *lacking) {
            batch.fetch_ahead::<_MM_HINT_T0, PLACING>(line_0, index);
            index += 1;
            for i in 0..8 {
                lacking[i] = if PLACING == STRADDLING {
                    // SAFETY: the lines are in the table, as was asked above.
                    let halves =
                        batch.halves::<PLACING>(eight[i]).map(|at| unsafe { &*line_0.wrapping_byte_add(at).cast() });
                    line_vectors::test_halves_avx512(halves, choices[i])
                } else {
                    // SAFETY: the line is in the table, as was asked above.
                    let line = unsafe { &*line_0.wrapping_byte_add(batch.offset(eight[i])) };
                    if PLACING == NINE || PLACING == WINDOW {
                        line_vectors::test_pattern_avx512(
                            line,
                            choices[i],
                            batch.pattern::<PLACING>(eight[i], choices[i]),
                        )
                    } else if PLACING == PAIR {
                        let choice = batch.buddy_choice(choices[i]);
                        // SAFETY: likewise.
                        let buddy = unsafe { &*line_0.wrapping_byte_add(batch.offset(eight[i]) ^ BUDDY) };
                        let pattern = batch.pattern::<PLACING>(eight[i], choice);
                        line_vectors::test_avx512(line, choices[i])
                            | line_vectors::test_pattern_avx512(buddy, choice, pattern)
                    } else {
                        line_vectors::test_avx512(line, choices[i])
                    }
                };
            }
        }
        for (answer, lacking) in answers.as_flattened_mut().iter_mut().zip(lacking.as_flattened()) {
            *answer = *lacking == 0;
        }
    }
    true
}
