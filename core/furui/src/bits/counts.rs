use std::ops::{Deref, Range};

use super::{Buffer, NoMemory};

/// The number of bits that have one count in an index: a block is a cache line.
pub(super) const BLOCK: u64 = 512;

/// The bytes of the block at `index`: fewer than 64 at the end of `words`, and none beyond it.
#[inline(always)]
pub(super) fn block_bytes(words: &[u8], index: usize) -> &[u8] {
    let rest = words.get(index.saturating_mul(64)..).unwrap_or_default();
    &rest[..rest.len().min(64)]
}

/// The eight words of the block at `index`; words beyond the end are 0.
#[inline(always)]
pub(super) fn block(words: &[u8], index: usize) -> [u64; 8] {
    let (blocks, tail) = words.as_chunks::<64>();
    let mut last = [0; 64];
    let bytes = blocks.get(index).unwrap_or_else(|| {
        if index == blocks.len() {
            last[..tail.len()].copy_from_slice(tail);
        }
        &last
    });
    std::array::from_fn(|i| u64::from_le_bytes(bytes.as_chunks().0[i]))
}

/// An array of little-endian numbers up to a known limit. Each takes 4 bytes if the limit fits in them, and 8
/// otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Counts<M> {
    bytes: M,
    wide: bool,
}

impl Counts<Buffer> {
    /// Stores `numbers`. There must be `len` of them, and none may be above `limit`.
    pub(super) fn collect(numbers: impl Iterator<Item = u64>, len: usize, limit: u64) -> Result<Self, NoMemory> {
        let wide = is_wide(limit);
        let width = if wide { 8 } else { 4 };
        let mut bytes = Buffer::zeroed(len.checked_mul(width).ok_or(NoMemory)?)?;
        for (number, room) in numbers.zip(bytes.chunks_exact_mut(width)) {
            debug_assert!(number <= limit);
            room.copy_from_slice(&number.to_le_bytes()[..width]);
        }
        Ok(Self { bytes, wide })
    }
}

impl<M: Deref<Target = [u8]>> Counts<M> {
    /// The numbers stored in `bytes`, as returned by [`bytes`](Self::bytes); `None` if they are not `len` numbers.
    pub(super) fn from_bytes(bytes: M, len: usize, limit: u64) -> Option<Self> {
        let wide = is_wide(limit);
        (Some(bytes.len()) == len.checked_mul(if wide { 8 } else { 4 })).then_some(Self { bytes, wide })
    }

    /// A view of these numbers that borrows their bytes.
    pub(super) fn borrowed(&self) -> Counts<&[u8]> {
        Counts { bytes: &self.bytes, wide: self.wide }
    }

    /// The bytes of the numbers in a range. Numbers beyond the end are left out.
    #[inline(always)]
    pub(super) fn bytes_of(&self, range: Range<usize>) -> &[u8] {
        let width = if self.wide { 8 } else { 4 };
        let [start, end] = [range.start, range.end].map(|index| index.saturating_mul(width).min(self.bytes.len()));
        self.bytes.get(start..end).unwrap_or_default()
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The number at `index`; 0 beyond the end.
    #[inline(always)]
    pub(super) fn get(&self, index: usize) -> u64 {
        if self.wide {
            self.bytes.as_chunks().0.get(index).map_or(0, |&bytes| u64::from_le_bytes(bytes))
        } else {
            self.bytes.as_chunks().0.get(index).map_or(0, |&bytes| u64::from(u32::from_le_bytes(bytes)))
        }
    }
}

fn is_wide(limit: u64) -> bool {
    limit > u64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_both_widths_come_back() {
        for limit in [7, u64::from(u32::MAX), u64::from(u32::MAX) + 1, u64::MAX] {
            let numbers = [0, limit / 3, limit];
            let counts = Counts::collect(numbers.into_iter(), 3, limit).unwrap();
            let borrowed = Counts::from_bytes(counts.bytes(), 3, limit).unwrap();
            assert_eq!([0, 1, 2, 3].map(|i| borrowed.get(i)), [0, limit / 3, limit, 0]);
            assert!(Counts::from_bytes(counts.bytes(), 2, limit).is_none());
        }
    }
}
