//! Many keys at once, with a bit in every lane of their lines, and perhaps a ninth in the neighbour line.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "lines are asked for before it is known whether there are such")
)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::_mm_prefetch;

use super::KeyRange;
#[cfg(target_arch = "x86_64")]
use super::Line;
#[cfg(target_arch = "x86_64")]
use crate::bits::scale;
#[cfg(target_arch = "x86_64")]
use crate::hash::KeyHash;

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx512;
#[cfg(test)]
mod tests;

/// How many groups of eight keys ahead a batch asks for the lines of a group.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 12;

/// Keys, and where their bits are in a table of n `lines`, or in a part of it that begins with the line of number
/// `first`: those of a key h in line a = ⌊h · n / 2⁶⁴⌋, chosen by h · `multiplier`.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only vector code reads batches"))]
pub(crate) struct LineBatch<'a> {
    pub(crate) keys: KeyRange<'a>,
    pub(crate) lines: usize,
    pub(crate) first: usize,
    pub(crate) multiplier: u64,
    /// What chooses a ninth bit, in line a ⊕ 1, if there is one: of h · `ninth`, bits 13 to 15 say in which lane.
    pub(crate) ninth: Option<u64>,
    /// What lookups prefetch. Insertions always do, all that they touch.
    pub(crate) ahead: Ahead,
}

/// What a batch asks for ahead of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, reason = "only vector code asks for lines without neighbours")
)]
pub(crate) enum Ahead {
    /// In a near cache the processor overlaps loads by itself.
    Nothing,
    /// The lines of the keys, without neighbours.
    Own,
    /// The neighbours too, where there are ninth bits.
    Pair,
}

#[cfg(target_arch = "x86_64")]
impl LineBatch<'_> {
    /// Whether all keys have their lines in the table, since those with the least and with the greatest hash there can be
    /// have: ⌊h · n / 2⁶⁴⌋ never falls as h grows. With a ninth bit, whether the table is made of whole pairs too.
    fn fits(&self, table: &[Line]) -> bool {
        let [least, most] = self.keys.ends().map(|hash| scale(hash, self.lines));
        let pairs = self.ninth.is_none() || (self.first | table.len()).is_multiple_of(2);
        self.first <= least && most.wrapping_sub(self.first) < table.len() && pairs
    }

    /// How many bytes behind line 0, which need not be in the table, the line of the key is.
    #[inline(always)]
    fn offset(&self, key: KeyHash) -> usize {
        scale(key.get(), self.lines).wrapping_mul(size_of::<Line>())
    }

    /// Asks for the lines of the group of eight keys at `index`, if there is one.
    #[inline(always)]
    fn fetch<const HINT: i32, const NINE: bool>(&self, line_0: *const Line, index: usize) {
        if let Some(soon) = self.keys.keys().as_chunks::<8>().0.get(index) {
            for &key in soon {
                let offset = self.offset(key);
                // SAFETY: SSE is part of x86-64, a prefetch never faults, and processors ignore kinds they do not know.
                unsafe { _mm_prefetch::<HINT>(line_0.wrapping_byte_add(offset).cast()) };
                if NINE {
                    // SAFETY: likewise.
                    unsafe { _mm_prefetch::<HINT>(line_0.wrapping_byte_add(offset ^ size_of::<Line>()).cast()) };
                }
            }
        }
    }
}
