//! Many keys at once, with a bit in every lane of their lines.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "vector instructions are called after their presence was checked")
)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

#[cfg(target_arch = "x86_64")]
use super::{Line, x86_64};
#[cfg(target_arch = "x86_64")]
use crate::bits::scale;
use crate::hash::KeyHash;

/// How many groups of eight keys ahead a batch asks for the lines of a group.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 12;

/// Keys, and where their bits are in a table of n lines: those of a key h in line ⌊h · n / 2⁶⁴⌋, chosen by
/// h · `multiplier`.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only vector code reads batches"))]
pub(crate) struct LineBatch<'a> {
    pub(crate) keys: &'a [KeyHash],
    pub(crate) multiplier: u64,
    /// Whether lookups prefetch: in a near cache the processor overlaps loads by itself. Insertions always do.
    pub(crate) far: bool,
}

#[cfg(target_arch = "x86_64")]
impl LineBatch<'_> {
    /// Asks for the lines of the group of eight keys at `index`, if there is one.
    #[inline(always)]
    fn fetch<const HINT: i32>(&self, table: &[Line], index: usize) {
        if let Some(soon) = self.keys.as_chunks::<8>().0.get(index) {
            for &key in soon {
                // SAFETY: SSE is part of x86-64, a prefetch never faults, and processors ignore kinds they do not know.
                unsafe { _mm_prefetch::<HINT>(table.as_ptr().wrapping_add(scale(key.get(), table.len())).cast()) };
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
    if table.is_empty() {
        return None;
    }
    // SAFETY: ⌊h · n / 2⁶⁴⌋ < n, since h < 2⁶⁴ and the number n of lines is not 0.
    let set = |table: &mut [Line], key: KeyHash, choice: u64| unsafe {
        u64::from(x86_64::set_avx512(table.get_unchecked_mut(scale(key.get(), table.len())), choice, 0xFF))
    };
    let (eights, rest) = batch.keys.as_chunks::<8>();
    (0..AHEAD).for_each(|index| batch.fetch::<_MM_HINT_ET0>(table, index));
    let mut new = 0;
    for (index, eight) in eights.iter().enumerate() {
        batch.fetch::<_MM_HINT_ET0>(table, index + AHEAD);
        for (&key, choice) in eight.iter().zip(batch.choices(eight)) {
            new += set(table, key, choice);
        }
    }
    Some(rest.iter().fold(new, |new, &key| new + set(table, key, key.get().wrapping_mul(batch.multiplier))))
}

/// See [`super::Lines::test_batch`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,bmi1,bmi2")]
pub(super) fn test_batch_avx512(table: &[Line], batch: LineBatch<'_>, answers: &mut [bool]) -> bool {
    if table.is_empty() {
        return false;
    }
    // SAFETY: ⌊h · n / 2⁶⁴⌋ < n, since h < 2⁶⁴ and the number n of lines is not 0.
    let test = |key: KeyHash, choice: u64| unsafe {
        x86_64::test_avx512(table.get_unchecked(scale(key.get(), table.len())), choice, 0xFF)
    };
    let (eights, rest) = batch.keys.as_chunks::<8>();
    let (eight_answers, rest_answers) = answers.as_chunks_mut::<8>();
    if batch.far {
        (0..AHEAD).for_each(|index| batch.fetch::<_MM_HINT_T0>(table, index));
    }
    for (index, (eight, answers)) in eights.iter().zip(eight_answers).enumerate() {
        if batch.far {
            batch.fetch::<_MM_HINT_T0>(table, index + AHEAD);
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
