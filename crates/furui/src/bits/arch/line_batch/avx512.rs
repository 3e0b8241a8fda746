//! Batches with AVX-512: what chooses the bits is multiplied for eight keys at once.
#![expect(unsafe_code, reason = "vector instructions are called after their presence was checked")]

use std::arch::x86_64::*;

use super::super::{Line, line_vectors};
use super::{AHEAD, Ahead, LineBatch};
use crate::hash::KeyHash;

impl LineBatch<'_> {
    /// The words that choose the bits of eight keys in their lines.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn choices(&self, eight: &[KeyHash; 8]) -> [u64; 8] {
        words(products(eight, self.multiplier))
    }

    /// The ninth bits of eight keys: what turns the offset of a key's line into that of a word of the neighbour, and a bit
    /// of that.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn ninth_bits(&self, eight: &[KeyHash; 8]) -> ([usize; 8], [u64; 8]) {
        let choices = products(eight, self.ninth.unwrap_or_default());
        let lane_offsets = _mm512_and_si512(_mm512_srli_epi64::<10>(choices), _mm512_set1_epi64(7 << 3));
        let turns = _mm512_or_si512(lane_offsets, _mm512_set1_epi64(size_of::<Line>() as i64));
        // By the lowest three bits of each.
        let shifts = _mm512_permutexvar_epi64(_mm512_srli_epi64::<13>(choices), line_vectors::lane_shifts());
        let bits = _mm512_rolv_epi64(_mm512_set1_epi64(1), _mm512_srlv_epi64(choices, shifts));
        (words(turns).map(|turn| turn as usize), words(bits))
    }
}

/// The hashes of eight keys times the multiplier.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn products(eight: &[KeyHash; 8], multiplier: u64) -> __m512i {
    // SAFETY: eight hashes, words of 64 bits, are 64 readable bytes, and the load needs no alignment.
    let hashes = unsafe { _mm512_loadu_si512(std::ptr::from_ref(eight).cast()) };
    _mm512_mullo_epi64(hashes, _mm512_set1_epi64(multiplier.cast_signed()))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn words(vector: __m512i) -> [u64; 8] {
    let mut words = [0; 8];
    // SAFETY: eight words are 64 writable bytes, and the store needs no alignment.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), vector) };
    words
}

/// See [`super::super::Lines::set_batch`]. `NINE` is whether there is a ninth bit.
#[target_feature(enable = "avx512f,avx512dq,bmi1,bmi2")]
pub(in super::super) fn set<const NINE: bool>(table: &mut [Line], batch: LineBatch<'_>) -> Option<u64> {
    if !batch.fits(table) {
        return None;
    }
    let line_0 = table.as_mut_ptr().wrapping_sub(batch.first);
    (0..AHEAD).for_each(|index| batch.fetch::<_MM_HINT_ET0, NINE>(line_0, index));
    let mut new = 0;
    for (index, eight) in batch.keys.keys().as_chunks::<8>().0.iter().enumerate() {
        batch.fetch::<_MM_HINT_ET0, NINE>(line_0, index + AHEAD);
        let choices = batch.choices(eight);
        let (turns, bits) = if NINE { batch.ninth_bits(eight) } else { Default::default() };
        for i in 0..8 {
            let offset = batch.offset(eight[i]);
            // SAFETY: the line is in the table, as was asked above, and no other reference to one is held.
            let line = unsafe { &mut *line_0.wrapping_byte_add(offset) };
            let mut is_new = line_vectors::set_avx512(line, choices[i], 0xFF);
            if NINE {
                // SAFETY: this word is in the other line of a pair, so in the table, and no other reference is held.
                let word = unsafe { &mut *line_0.wrapping_byte_add(offset ^ turns[i]).cast::<[u8; 8]>() };
                let old = u64::from_le_bytes(*word);
                *word = (old | bits[i]).to_le_bytes();
                is_new |= old & bits[i] == 0;
            }
            new += u64::from(is_new);
        }
    }
    Some(new)
}

/// See [`super::super::Lines::test_batch`]. `NINE` is whether there is a ninth bit.
#[target_feature(enable = "avx512f,avx512dq,bmi1,bmi2")]
pub(in super::super) fn test<const NINE: bool>(table: &[Line], batch: LineBatch<'_>, answers: &mut [bool]) -> bool {
    if !batch.fits(table) {
        return false;
    }
    let line_0 = table.as_ptr().wrapping_sub(batch.first);
    let far = batch.ahead != Ahead::Nothing;
    if far {
        (0..AHEAD).for_each(|index| batch.fetch::<_MM_HINT_T0, NINE>(line_0, index));
    }
    let mut some_are_in = false;
    let eights = batch.keys.keys().as_chunks::<8>().0.iter();
    for (index, (eight, answers)) in eights.zip(answers.as_chunks_mut::<8>().0).enumerate() {
        if far {
            batch.fetch::<_MM_HINT_T0, NINE>(line_0, index + AHEAD);
        }
        let choices = batch.choices(eight);
        // SAFETY: the line is in the table, as was asked above.
        let line = |i: usize| unsafe { &*line_0.wrapping_byte_add(batch.offset(eight[i])) };
        let test = |i: usize| line_vectors::test_avx512(line(i), choices[i], 0xFF);
        if !NINE {
            (0..8).for_each(|i| answers[i] = test(i));
            continue;
        }
        // Batches are mostly of keys that are in, or of keys that are not. As long as none was, only the keys' own lines
        // are asked, where of eight bits that were not set together one is nearly always 0; else both, without a branch.
        if !some_are_in && !(0..8).any(test) {
            *answers = [false; 8];
            continue;
        }
        let (turns, bits) = batch.ninth_bits(eight);
        for i in 0..8 {
            // SAFETY: this word is in the other line of a pair, so in the table.
            let word = unsafe { *line_0.wrapping_byte_add(batch.offset(eight[i]) ^ turns[i]).cast::<[u8; 8]>() };
            let missing = _mm512_set1_epi64((!u64::from_le_bytes(word) & bits[i]).cast_signed());
            let missing = _mm512_or_si512(missing, line_vectors::missing_avx512(line(i), choices[i], 0xFF));
            answers[i] = _mm512_test_epi64_mask(missing, missing) == 0;
        }
        some_are_in = answers[7];
    }
    true
}
