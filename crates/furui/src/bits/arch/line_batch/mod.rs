//! Many keys at once, with bits in the lanes of one line, or of halves of a line and its neighbour.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "lines are asked for before it is known whether there are such")
)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::_mm_prefetch;

use super::lines::Level;
#[cfg(target_arch = "x86_64")]
use super::{Half, prefetch_at};
use super::{KeyRange, Line, Lines, Pattern};
#[cfg(target_arch = "x86_64")]
use crate::bits::scale;
use crate::hash::KeyHash;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(test)]
mod tests;

/// Tables of up to so many lines are in a cache.
const CACHED: usize = (4 << 20) / size_of::<Line>();

/// How many groups of eight keys ahead lines are asked for that are in a cache: they come soon, and are not to drive each other
/// out of the nearest one.
const FEW: usize = 6;

/// The same where they come from main memory.
const MANY: usize = 12;

/// How many groups ahead keys are asked for: in a cache a group takes less time than a processor that reads them one after
/// the other allows for.
#[cfg(target_arch = "x86_64")]
const KEYS_AHEAD: usize = 16;

/// Tables of up to so many are in a near one.
const NEAR: usize = (256 << 10) / size_of::<Line>();

/// Which bits of its line a key has in a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Placing {
    /// One in each lane.
    Line,
    /// Those of a window.
    Window,
    /// One in each lane; but the lower four lanes of keys that [straddle](straddle), those with ⌊h / 2⁶⌋ mod 4 = 3, are those
    /// of line a ⊕ 1.
    Straddling,
    /// Those of a [pattern of nine](Pattern::of_nine).
    Nine,
    /// One in each lane, and those of a window in line a ⊕ 1, chosen by the choice multiplied once more.
    Pair,
}

// The same for kernels, each of which is compiled for one.
#[cfg(target_arch = "x86_64")]
const LINE: u8 = Placing::Line as u8;
#[cfg(target_arch = "x86_64")]
const WINDOW: u8 = Placing::Window as u8;
#[cfg(target_arch = "x86_64")]
const STRADDLING: u8 = Placing::Straddling as u8;
#[cfg(target_arch = "x86_64")]
const NINE: u8 = Placing::Nine as u8;
#[cfg(target_arch = "x86_64")]
const PAIR: u8 = Placing::Pair as u8;

/// Keys, and where their bits are in a table of n `lines`, or in a part of it that begins with the line of number
/// `first`: those of a key h in line a = ⌊h · n / 2⁶⁴⌋, chosen by h · `multiplier`.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only vector code reads batches"))]
pub(crate) struct LineBatch<'a> {
    pub(crate) keys: KeyRange<'a>,
    pub(crate) lines: usize,
    pub(crate) first: usize,
    pub(crate) multiplier: u64,
    pub(crate) placing: Placing,
    /// The [windows](Pattern::windows) of which keys have one, if they do.
    pub(crate) windows: &'static [Pattern; 8],
    /// How many groups of eight keys ahead the lines of a group are asked for: of none with 0.
    pub(crate) ahead: usize,
}

impl Lines {
    /// How many groups of eight keys ahead a batch of keys in so many lines asks for those of a group, or 0 where a processor
    /// that sees many keys at once overlaps the loads by itself. The more instructions a key takes, the fewer it sees; with
    /// those of two lines to ask for, it takes the more.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(unused_variables, reason = "portable code has no batch of such keys")
    )]
    pub(crate) fn ahead(self, lines: usize, placing: Placing) -> usize {
        let itself = match self.0 {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => NEAR,
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 if placing == Placing::Straddling => CACHED,
            _ => 4 * NEAR,
        };
        match lines {
            _ if lines <= itself => 0,
            ..=CACHED => FEW,
            _ => MANY,
        }
    }

    /// Sets for each key of the batch its bits, and says for how many keys one of them was not set. Takes whole groups of
    /// eight keys; those behind the last are left to the caller.
    /// `None`, with nothing done, where eight keys at a time are no faster, or not all have their lines in the table.
    pub(crate) fn set_batch(self, table: &mut [Line], batch: LineBatch<'_>) -> Option<u64> {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` says that the instructions exist.
            Level::Avx512 => unsafe {
                match batch.placing {
                    Placing::Line => avx512::set::<LINE>(table, batch),
                    Placing::Window => avx512::set::<WINDOW>(table, batch),
                    Placing::Straddling => avx512::set::<STRADDLING>(table, batch),
                    Placing::Nine => avx512::set::<NINE>(table, batch),
                    Placing::Pair => avx512::set::<PAIR>(table, batch),
                }
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx2` says that the instructions exist.
            Level::Avx2 => unsafe {
                match batch.placing {
                    Placing::Line => avx2::set::<LINE>(table, batch),
                    Placing::Window => avx2::set::<WINDOW>(table, batch),
                    Placing::Straddling => avx2::set::<STRADDLING>(table, batch),
                    Placing::Nine => avx2::set::<NINE>(table, batch),
                    Placing::Pair => avx2::set::<PAIR>(table, batch),
                }
            },
            Level::Portable => {
                let _ = (table, batch);
                None
            }
        }
    }

    /// Answers for each key of the batch whether all its bits are set. Of whole groups, and false, with nothing done, as with
    /// [`set_batch`](Self::set_batch).
    pub(crate) fn test_batch(self, table: &[Line], batch: LineBatch<'_>, answers: &mut [bool]) -> bool {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` says that the instructions exist.
            Level::Avx512 => unsafe {
                match batch.placing {
                    Placing::Line => avx512::test::<LINE>(table, batch, answers),
                    Placing::Window => avx512::test::<WINDOW>(table, batch, answers),
                    Placing::Straddling => avx512::test::<STRADDLING>(table, batch, answers),
                    Placing::Nine => avx512::test::<NINE>(table, batch, answers),
                    Placing::Pair => avx512::test::<PAIR>(table, batch, answers),
                }
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx2` says that the instructions exist.
            Level::Avx2 => unsafe {
                match batch.placing {
                    Placing::Line => avx2::test::<LINE>(table, batch, answers),
                    Placing::Window => avx2::test::<WINDOW>(table, batch, answers),
                    Placing::Straddling => avx2::test::<STRADDLING>(table, batch, answers),
                    Placing::Nine => avx2::test::<NINE>(table, batch, answers),
                    Placing::Pair => avx2::test::<PAIR>(table, batch, answers),
                }
            },
            Level::Portable => {
                let _ = (table, batch, answers);
                false
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl Placing {
    /// Whether keys may have bits in two lines.
    fn is_of_pairs(self) -> bool {
        matches!(self, Self::Straddling | Self::Pair)
    }
}

#[cfg(target_arch = "x86_64")]
impl LineBatch<'_> {
    /// Whether all keys have their lines in the table, since those with the least and with the greatest hash there can be
    /// have: ⌊h · n / 2⁶⁴⌋ never falls as h grows. Where keys have bits in two lines, whether the table is made of whole pairs
    /// too.
    fn fits(&self, table: &[Line]) -> bool {
        let [least, most] = self.keys.ends().map(|hash| scale(hash, self.lines));
        let whole = !self.placing.is_of_pairs() || (self.first | table.len()).is_multiple_of(2);
        self.first <= least && most.wrapping_sub(self.first) < table.len() && whole
    }

    /// How many bytes behind line 0, which need not be in the table, the line of the key is.
    #[inline(always)]
    fn offset(&self, key: KeyHash) -> usize {
        scale(key.get(), self.lines).wrapping_mul(size_of::<Line>())
    }

    /// The same of the halves that have the bits of a key, which may straddle or not.
    #[inline(always)]
    fn halves<const PLACING: u8>(&self, key: KeyHash) -> [usize; 2] {
        let offset = self.offset(key);
        [if PLACING == STRADDLING { offset ^ turn(key) } else { offset }, offset | size_of::<Half>()]
    }

    /// What chooses the bits of the key in its line.
    #[inline(always)]
    fn choice(&self, key: KeyHash) -> u64 {
        key.get().wrapping_mul(self.multiplier)
    }

    /// The bits of the key in its line, with a choice.
    #[inline(always)]
    fn pattern<const PLACING: u8>(&self, key: KeyHash, choice: u64) -> &'static Pattern {
        if PLACING == NINE { Pattern::of_nine(key) } else { Pattern::window(self.windows, choice) }
    }

    /// What chooses the bits in the other line of the pair, after the choice in the key's own.
    #[inline(always)]
    fn buddy_choice(&self, choice: u64) -> u64 {
        choice.wrapping_mul(self.multiplier)
    }

    /// Asks for the lines of the first groups, if they come from main memory: those in a cache are there as soon by the loads
    /// themselves.
    #[inline(always)]
    fn fetch_first<const HINT: i32, const PLACING: u8>(&self, line_0: *const Line) {
        if self.ahead <= FEW {
            return;
        }
        (0..self.ahead).for_each(|index| self.fetch::<HINT, PLACING>(line_0, index));
    }

    /// Asks for the lines that come [`ahead`](Self::ahead) of the group at `index`, and for the keys further on, which are those
    /// of the next batch towards the end.
    #[inline(always)]
    fn fetch_ahead<const HINT: i32, const PLACING: u8>(&self, line_0: *const Line, index: usize) {
        prefetch_at(self.keys.keys(), (index + KEYS_AHEAD) * size_of::<[KeyHash; 8]>());
        if self.ahead > 0 {
            self.fetch::<HINT, PLACING>(line_0, index + self.ahead);
        }
    }

    /// Asks for the lines of the group of eight keys at `index`, if there is one; where keys have bits in two lines, for both.
    #[inline(always)]
    fn fetch<const HINT: i32, const PLACING: u8>(&self, line_0: *const Line, index: usize) {
        if let Some(soon) = self.keys.keys().as_chunks::<8>().0.get(index) {
            for &key in soon {
                let offset = self.offset(key);
                // SAFETY: SSE is part of x86-64, a prefetch never faults, and processors ignore kinds they do not know.
                unsafe { _mm_prefetch::<HINT>(line_0.wrapping_byte_add(offset).cast()) };
                let other = match PLACING {
                    STRADDLING => offset ^ turn(key),
                    PAIR => offset ^ BUDDY,
                    _ => continue,
                };
                // SAFETY: likewise.
                unsafe { _mm_prefetch::<HINT>(line_0.wrapping_byte_add(other).cast()) };
            }
        }
    }
}

/// What turns the offset of a line into that of the other of its pair.
#[cfg(target_arch = "x86_64")]
const BUDDY: usize = size_of::<Line>();

/// What turns the offset of a key's line into that of the line of its lower lanes, where keys straddle.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn turn(key: KeyHash) -> usize {
    straddle(key) * BUDDY
}

/// What turns the number of a key's line, within its pair, into that of the line of its lower lanes, where keys straddle: 1
/// for a quarter of them, else 0.
#[inline(always)]
pub(crate) fn straddle(key: KeyHash) -> usize {
    (key.get() >> 6 & key.get() >> 7 & 1) as usize
}
