//! Batches with AVX2: half a line in a vector, and what chooses the bits multiplied key by key.
#![expect(unsafe_code, reason = "vector instructions are called after their presence was checked")]

use std::arch::x86_64::{_MM_HINT_ET0, _MM_HINT_T0};

use super::super::{Line, line_vectors};
use super::{AHEAD, Ahead, LineBatch};
use crate::hash::KeyHash;

impl LineBatch<'_> {
    /// What chooses the bits of the key in its line.
    #[inline(always)]
    fn choice(&self, key: KeyHash) -> u64 {
        key.get().wrapping_mul(self.multiplier)
    }

    /// The ninth bit of a key: what turns the offset of its line into that of a word of the neighbour, and which bit of
    /// that it is.
    #[inline(always)]
    fn ninth_bit(&self, key: KeyHash) -> (usize, u32) {
        let choice = key.get().wrapping_mul(self.ninth.unwrap_or_default());
        let lane = choice >> 13 & 7;
        (size_of::<Line>() | (8 * lane as usize), (choice >> (16 + 6 * lane) & 63) as u32)
    }
}

/// See [`super::super::Lines::set_batch`]. `NINE` is whether there is a ninth bit.
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(in super::super) fn set<const NINE: bool>(table: &mut [Line], batch: LineBatch<'_>) -> Option<u64> {
    if !batch.fits(table) {
        return None;
    }
    let line_0 = table.as_mut_ptr().wrapping_sub(batch.first);
    (0..AHEAD).for_each(|index| batch.fetch::<_MM_HINT_ET0, NINE>(line_0, index));
    let mut new = 0;
    for (index, eight) in batch.keys.keys().as_chunks::<8>().0.iter().enumerate() {
        batch.fetch::<_MM_HINT_ET0, NINE>(line_0, index + AHEAD);
        for &key in eight {
            let offset = batch.offset(key);
            // SAFETY: the line is in the table, as was asked above, and no other reference to one is held.
            let line = unsafe { &mut *line_0.wrapping_byte_add(offset) };
            let mut is_new = line_vectors::set_avx2(line, batch.choice(key), 0xFF);
            if NINE {
                let (turn, bit) = batch.ninth_bit(key);
                // SAFETY: this word is in the other line of a pair, so in the table, and no other reference is held.
                let word = unsafe { &mut *line_0.wrapping_byte_add(offset ^ turn).cast::<[u8; 8]>() };
                let old = u64::from_le_bytes(*word);
                *word = (old | (1 << bit)).to_le_bytes();
                is_new |= old >> bit & 1 == 0;
            }
            new += u64::from(is_new);
        }
    }
    Some(new)
}

/// See [`super::super::Lines::test_batch`]. `NINE` is whether there is a ninth bit.
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(in super::super) fn test<const NINE: bool>(table: &[Line], batch: LineBatch<'_>, answers: &mut [bool]) -> bool {
    if !batch.fits(table) {
        return false;
    }
    let line_0 = table.as_ptr().wrapping_sub(batch.first);
    let fetch = |index, pair| match batch.ahead {
        Ahead::Nothing => (),
        Ahead::Pair if NINE && pair => batch.fetch::<_MM_HINT_T0, true>(line_0, index),
        _ => batch.fetch::<_MM_HINT_T0, false>(line_0, index),
    };
    (0..AHEAD).for_each(|index| fetch(index, true));
    let mut some_are_in = false;
    // Neighbours are asked for as long as a key was in of late.
    let mut pairs_until = 1;
    let eights = batch.keys.keys().as_chunks::<8>().0.iter();
    for (index, (eight, answers)) in eights.zip(answers.as_chunks_mut::<8>().0).enumerate() {
        fetch(index + AHEAD, index < pairs_until);
        for (&key, answer) in eight.iter().zip(&mut *answers) {
            // SAFETY: the line is in the table, as was asked above.
            let line = unsafe { &*line_0.wrapping_byte_add(batch.offset(key)) };
            *answer = line_vectors::test_avx2(line, batch.choice(key), 0xFF);
        }
        // Batches are mostly of keys that are in, or of keys that are not. As long as none was, only the keys' own lines
        // are asked, where of eight bits that were not set together one is nearly always 0; else both, without a branch.
        if !NINE || !some_are_in && *answers == [false; 8] {
            continue;
        }
        pairs_until = index + 2 * AHEAD;
        for (&key, answer) in eight.iter().zip(&mut *answers) {
            let (turn, bit) = batch.ninth_bit(key);
            // SAFETY: this word is in the other line of a pair, so in the table.
            let word = unsafe { *line_0.wrapping_byte_add(batch.offset(key) ^ turn).cast::<[u8; 8]>() };
            *answer &= u64::from_le_bytes(word) >> bit & 1 == 1;
        }
        some_are_in = answers[7];
    }
    true
}
