//! Testing and setting the bits of keys in cells: the hot loops of a filter with a window.

use crate::bits::{Cpu, prefetch, prefetch_for_write, scale};
use crate::filter::batch;
use crate::filter::probes::MULTIPLIER;
use crate::hash::KeyHash;
use crate::window::Window;

/// The number of bits of a cell: one for each slice of the window, and one for the slice that has begun.
pub(super) const SLICES: usize = Window::SLICES as usize + 1;
/// All bits of a cell.
pub(super) const ALL: u32 = (1 << SLICES) - 1;
/// The number of cells in a half of a line. Cell i of a half begins at bit i of its byte 2 i.
pub(super) const CELLS: usize = 15;
/// The number of bytes of a half of a line.
const HALF: usize = 32;

/// A cache line: two halves of 32 bytes, each of which has 15 cells of 17 bits and an unused bit.
pub(super) type CellLine = [u8; 2 * HALF];

/// A table of at most this size, in bytes, is not prefetched: the processor overlaps the loads of keys by itself.
/// Borrowed from the blocked filter.
const NEAR: usize = 1 << 20;

/// How a table is divided: a key has a line in each range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ranges {
    /// The number of ranges.
    pub(super) count: usize,
    /// The number of lines of each range.
    pub(super) lines: usize,
}

/// The byte at which four bytes with a cell begin, and the number of bits before the cell in these bytes. The cell is
/// the one that the state of a key chooses in this half of a line.
#[inline(always)]
fn place(state: u64, half: usize) -> (usize, u32) {
    let cell = ((state >> (8 + 10 * half)) % 1024) as usize * CELLS / 1024;
    // Never more than 60: `min` lets the compiler see it.
    ((HALF * half + 2 * cell).min(60), cell as u32)
}

/// The slices whose bits are set in both cells of a key in `line`; bits above [`ALL`] mean nothing.
#[inline(always)]
fn test(line: &CellLine, state: u64) -> u32 {
    let read = |half| {
        let (at, shift) = place(state, half);
        u32::from_le_bytes(std::array::from_fn(|i| line[at + i])) >> shift
    };
    read(0) & read(1)
}

/// Sets the bit `slice` in both cells of a key in `line`, and returns what [`test`] returned before.
#[inline(always)]
fn set(line: &mut CellLine, state: u64, slice: u32) -> u32 {
    let mut write = |half| {
        let (at, shift) = place(state, half);
        let old = u32::from_le_bytes(std::array::from_fn(|i| line[at + i]));
        line[at..at + 4].copy_from_slice(&(old | slice << shift).to_le_bytes());
        old >> shift
    };
    write(0) & write(1)
}

/// The lines of a key, one in each range, with its state for each.
#[inline(always)]
fn lines_of(key: KeyHash, ranges: Ranges) -> impl Iterator<Item = (usize, u64)> {
    let mut state = key.get();
    (0..ranges.count).map(move |range| {
        let now = state;
        state = state.wrapping_mul(MULTIPLIER);
        (range * ranges.lines + scale(now, ranges.lines), now)
    })
}

/// Calls `see` with each line in which `key` has cells.
pub(super) fn each_line(table: &[CellLine], ranges: Ranges, key: KeyHash, mut see: impl FnMut(&CellLine)) {
    lines_of(key, ranges).for_each(|(line, _)| see(&table[line]));
}

/// Those of the slices `live` in which `key` may be.
#[inline(always)]
pub(super) fn slices_of(table: &[CellLine], ranges: Ranges, key: KeyHash, live: u32) -> u32 {
    // The most common number of ranges has a loop of its own, in which it is a constant.
    if ranges.count == 3 {
        test_all(table, Ranges { count: 3, ..ranges }, key, live)
    } else {
        test_all(table, ranges, key, live)
    }
}

#[inline(always)]
fn test_all(table: &[CellLine], ranges: Ranges, key: KeyHash, live: u32) -> u32 {
    let mut slices = live;
    for (i, (line, state)) in lines_of(key, ranges).enumerate() {
        slices &= test(&table[line], state);
        // In most misses a slice is left after the first line, and in one of eight after the second.
        if i > 0 && slices == 0 {
            return 0;
        }
    }
    slices
}

/// Puts `key` into `slice`, which is one bit. Returns those of the slices `live` in which it may have been before.
#[inline(always)]
pub(super) fn put(table: &mut [CellLine], ranges: Ranges, key: KeyHash, live: u32, slice: u32) -> u32 {
    if ranges.count == 3 {
        set_all(table, Ranges { count: 3, ..ranges }, key, live, slice)
    } else {
        set_all(table, ranges, key, live, slice)
    }
}

#[inline(always)]
fn set_all(table: &mut [CellLine], ranges: Ranges, key: KeyHash, live: u32, slice: u32) -> u32 {
    let mut slices = live;
    for (line, state) in lines_of(key, ranges) {
        slices &= set(&mut table[line], state, slice);
    }
    slices
}

/// Calls `each` with the index of every key and what [`slices_of`] returns for it.
pub(super) fn slices_of_all(
    table: &[CellLine],
    ranges: Ranges,
    keys: &[KeyHash],
    live: u32,
    mut each: impl FnMut(usize, u32),
) {
    Cpu::detect().run(
        #[inline(always)]
        |_| {
            if ranges.count == 3 {
                test_each(table, Ranges { count: 3, ..ranges }, keys, live, &mut each);
            } else {
                test_each(table, ranges, keys, live, &mut each);
            }
        },
    );
}

#[inline(always)]
fn test_each(table: &[CellLine], ranges: Ranges, keys: &[KeyHash], live: u32, each: &mut impl FnMut(usize, u32)) {
    let fetch = |table: &&[CellLine], key| {
        for (line, _) in lines_of(key, ranges) {
            prefetch(&table[line]);
        }
    };
    batch::for_each(
        table,
        size_of_val(table) > NEAR,
        keys,
        fetch,
        #[inline(always)]
        |table, i, key| each(i, test_all(table, ranges, key, live)),
    );
}

/// Works like [`put`] for every key. Returns how many were in no live slice, and how many were not in `slice`.
pub(super) fn put_all(table: &mut [CellLine], ranges: Ranges, keys: &[KeyHash], live: u32, slice: u32) -> (u64, u64) {
    Cpu::detect().run(
        #[inline(always)]
        |_| {
            if ranges.count == 3 {
                set_each(table, Ranges { count: 3, ..ranges }, keys, live, slice)
            } else {
                set_each(table, ranges, keys, live, slice)
            }
        },
    )
}

#[inline(always)]
fn set_each(table: &mut [CellLine], ranges: Ranges, keys: &[KeyHash], live: u32, slice: u32) -> (u64, u64) {
    let fetch = |table: &&mut [CellLine], key| {
        for (line, _) in lines_of(key, ranges) {
            prefetch_for_write(table, line);
        }
    };
    let (far, mut new, mut added) = (size_of_val(table) > NEAR, 0, 0);
    batch::for_each(
        table,
        far,
        keys,
        fetch,
        #[inline(always)]
        |table, _, key| {
            let slices = set_all(table, ranges, key, live, slice);
            new += u64::from(slices == 0);
            added += u64::from(slices & slice == 0);
        },
    );
    (new, added)
}

/// The words of a line in which these bits are set in every cell.
fn in_all_cells(slices: u32) -> [u64; 8] {
    let mut words = [0; 8];
    for bit in (0..2 * CELLS).flat_map(|cell| {
        let first = 8 * HALF * (cell / CELLS) + SLICES * (cell % CELLS);
        (0..SLICES).filter(move |slice| slices >> slice & 1 == 1).map(move |slice| first + slice)
    }) {
        words[bit / 64] |= 1 << (bit % 64);
    }
    words
}

/// Clears the bits of these slices in all cells. Cost: one pass over the table.
pub(super) fn clear(table: &mut [CellLine], slices: u32) {
    let kept = in_all_cells(slices).map(|word| !word);
    for line in table {
        for (word, kept) in line.as_chunks_mut::<8>().0.iter_mut().zip(kept) {
            *word = (u64::from_le_bytes(*word) & kept).to_le_bytes();
        }
    }
}

/// For each slice, the probability that a random cell of the first half and a random cell of the second half of a
/// random line of `lines` have its bit.
pub(super) fn shares(lines: &[CellLine]) -> [f64; SLICES] {
    std::array::from_fn(|slice| {
        let mask = in_all_cells(1 << slice);
        let ones = |words: &[[u8; 8]], mask: &[u64]| {
            words.iter().zip(mask).map(|(word, mask)| u64::from((u64::from_le_bytes(*word) & mask).count_ones())).sum()
        };
        let pairs = lines.iter().map(|line| {
            let (first, second) = line.as_chunks::<8>().0.split_at(4);
            let (a, b): (u64, u64) = (ones(first, &mask[..4]), ones(second, &mask[4..]));
            a * b
        });
        pairs.sum::<u64>() as f64 / (CELLS * CELLS * lines.len()) as f64
    })
}
