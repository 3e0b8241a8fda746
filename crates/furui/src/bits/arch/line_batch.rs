//! Many keys at once, with a bit in every lane of their lines.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "vector instructions are called after their presence was checked")
)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use super::KeyRange;
#[cfg(target_arch = "x86_64")]
use super::{Line, x86_64};
#[cfg(target_arch = "x86_64")]
use crate::bits::scale;
#[cfg(target_arch = "x86_64")]
use crate::hash::KeyHash;

/// How many groups of eight keys ahead a batch asks for the lines of a group.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 12;

/// Keys, and where their bits are in a table of n `lines`, or in a part of it that begins with the line of number
/// `first`: those of a key h in line ⌊h · n / 2⁶⁴⌋, chosen by h · `multiplier`.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only vector code reads batches"))]
pub(crate) struct LineBatch<'a> {
    pub(crate) keys: KeyRange<'a>,
    pub(crate) lines: usize,
    pub(crate) first: usize,
    pub(crate) multiplier: u64,
    /// Whether lookups prefetch: in a near cache the processor overlaps loads by itself. Insertions always do.
    pub(crate) far: bool,
}

#[cfg(target_arch = "x86_64")]
impl LineBatch<'_> {
    /// Whether all keys have their lines in the table, since those with the least and with the greatest hash there can be
    /// have: ⌊h · n / 2⁶⁴⌋ never falls as h grows.
    fn fits(&self, table: &[Line]) -> bool {
        let [least, most] = self.keys.ends().map(|hash| scale(hash, self.lines));
        self.first <= least && most.wrapping_sub(self.first) < table.len()
    }

    /// How many bytes behind line 0, which need not be in the table, the line of the key is.
    #[inline(always)]
    fn offset(&self, key: KeyHash) -> usize {
        scale(key.get(), self.lines).wrapping_mul(size_of::<Line>())
    }

    /// Asks for the lines of the group of eight keys at `index`, if there is one.
    #[inline(always)]
    fn fetch<const HINT: i32>(&self, line_0: *const Line, index: usize) {
        if let Some(soon) = self.keys.keys().as_chunks::<8>().0.get(index) {
            for &key in soon {
                // SAFETY: SSE is part of x86-64, a prefetch never faults, and processors ignore kinds they do not know.
                unsafe { _mm_prefetch::<HINT>(line_0.wrapping_byte_add(self.offset(key)).cast()) };
            }
        }
    }

    /// The words that choose the bits of eight keys, by one multiplication.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn choices(&self, eight: &[KeyHash; 8]) -> [u64; 8] {
        let mut choices = [0; 8];
        // SAFETY: eight hashes, words of 64 bits, are 64 readable bytes, and `choices` 64 writable ones; neither load nor
        // store needs alignment.
        unsafe {
            let hashes = _mm512_loadu_si512(std::ptr::from_ref(eight).cast());
            let products = _mm512_mullo_epi64(hashes, _mm512_set1_epi64(self.multiplier.cast_signed()));
            _mm512_storeu_si512(choices.as_mut_ptr().cast(), products);
        }
        choices
    }
}

/// See [`super::Lines::set_batch`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,bmi1,bmi2")]
pub(super) fn set_batch_avx512(table: &mut [Line], batch: LineBatch<'_>) -> Option<u64> {
    if !batch.fits(table) {
        return None;
    }
    let line_0 = table.as_mut_ptr().wrapping_sub(batch.first);
    // SAFETY: the line is in the table, as was asked above, and no other reference to one is held.
    let set = |key: KeyHash, choice: u64| unsafe {
        u64::from(x86_64::set_avx512(&mut *line_0.wrapping_byte_add(batch.offset(key)), choice, 0xFF))
    };
    let (eights, rest) = batch.keys.keys().as_chunks::<8>();
    (0..AHEAD).for_each(|index| batch.fetch::<_MM_HINT_ET0>(line_0, index));
    let mut new = 0;
    for (index, eight) in eights.iter().enumerate() {
        batch.fetch::<_MM_HINT_ET0>(line_0, index + AHEAD);
        for (&key, choice) in eight.iter().zip(batch.choices(eight)) {
            new += set(key, choice);
        }
    }
    Some(rest.iter().fold(new, |new, &key| new + set(key, key.get().wrapping_mul(batch.multiplier))))
}

/// See [`super::Lines::test_batch`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,bmi1,bmi2")]
pub(super) fn test_batch_avx512(table: &[Line], batch: LineBatch<'_>, answers: &mut [bool]) -> bool {
    if !batch.fits(table) {
        return false;
    }
    let line_0 = table.as_ptr().wrapping_sub(batch.first);
    // SAFETY: the line is in the table, as was asked above.
    let test = |key: KeyHash, choice: u64| unsafe {
        x86_64::test_avx512(&*line_0.wrapping_byte_add(batch.offset(key)), choice, 0xFF)
    };
    let (eights, rest) = batch.keys.keys().as_chunks::<8>();
    let (eight_answers, rest_answers) = answers.as_chunks_mut::<8>();
    if batch.far {
        (0..AHEAD).for_each(|index| batch.fetch::<_MM_HINT_T0>(line_0, index));
    }
    for (index, (eight, answers)) in eights.iter().zip(eight_answers).enumerate() {
        if batch.far {
            batch.fetch::<_MM_HINT_T0>(line_0, index + AHEAD);
        }
        for ((&key, choice), answer) in eight.iter().zip(batch.choices(eight)).zip(answers) {
            *answer = test(key, choice);
        }
    }
    for (&key, answer) in rest.iter().zip(rest_answers) {
        *answer = test(key, key.get().wrapping_mul(batch.multiplier));
    }
    true
}
