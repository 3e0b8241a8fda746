//! Testing and setting the bits of a key in a line, lane by lane. All vector code must give the same results.

use super::{Line, Row};

/// True if all bits of the key are set in `line`.
#[inline(always)]
pub(super) fn test(line: &Line, choice: u64, row: &Row) -> bool {
    let words = line.as_chunks::<8>().0.iter().zip(row.bits(choice));
    words.fold(0, |missing, (&word, bits)| missing | bits & !u64::from_le_bytes(word)) == 0
}

/// Sets all bits of the key in `line`. Returns true if one of them was not set before.
#[inline(always)]
pub(super) fn set(line: &mut Line, choice: u64, row: &Row) -> bool {
    let mut missing = 0;
    for (word, bits) in line.as_chunks_mut::<8>().0.iter_mut().zip(row.bits(choice)) {
        let old = u64::from_le_bytes(*word);
        missing |= bits & !old;
        *word = (old | bits).to_le_bytes();
    }
    missing != 0
}
