use std::ops::{Deref, DerefMut};
use std::slice;

use memmap2::MmapMut;

use super::buffer::NoMemory;

/// A table of 64-bit numbers that grows in place, such as the hash table of a set. New numbers are 0.
///
/// A table of [`pages`](Self::pages) has pages of its own, which the system moves when the table grows: nothing is
/// copied, no second table exists meanwhile, and the memory goes back to the system as soon as the table is dropped. A
/// large table that an allocator grows leaves a hole of its old size behind, and others in the memory of each thread.
pub(crate) struct Words {
    /// A pointer to the first number, in the memory that `kind` owns.
    start: *mut u64,
    kind: Kind,
    len: usize,
}

#[expect(unsafe_code, reason = "a pointer is sent with what it points to")]
// SAFETY: `start` points into memory that `kind` owns, which is reached only through borrows of this value.
unsafe impl Send for Words {}
#[expect(unsafe_code, reason = "a pointer is shared with what it points to")]
// SAFETY: as for `Send`; a shared borrow only reads.
unsafe impl Sync for Words {}

/// The source of the memory of [`Words`].
enum Kind {
    Heap(Vec<u64>),
    Pages(MmapMut),
}

impl Words {
    /// A table of this many numbers from the allocator: one of many small tables, or one whose memory the program's
    /// own allocator counts.
    ///
    /// # Panics
    /// If there is no memory.
    pub(crate) fn heap(len: usize) -> Self {
        Self::of(Kind::Heap(vec![0; len]), len)
    }

    /// A table of this many numbers in pages of its own.
    ///
    /// # Panics
    /// If there is no memory. The table is meant to begin small.
    pub(crate) fn pages(len: usize) -> Self {
        match MmapMut::map_anon(len * size_of::<u64>()) {
            Ok(pages) if !cfg!(feature = "heap-tables") => Self::of(Kind::Pages(pages), len),
            _ => Self::heap(len),
        }
    }

    fn of(mut kind: Kind, len: usize) -> Self {
        Self { start: kind.start(), kind, len }
    }

    /// Appends zeros, so that the table has `len` numbers.
    ///
    /// # Errors
    /// If there is no memory. The table is then unchanged.
    pub(crate) fn grow(&mut self, len: usize) -> Result<(), NoMemory> {
        match &mut self.kind {
            Kind::Heap(words) => {
                words.try_reserve_exact(len.saturating_sub(words.len())).map_err(|_| NoMemory)?;
                words.resize(len, 0);
            }
            Kind::Pages(pages) => remap(pages, len.checked_mul(size_of::<u64>()).ok_or(NoMemory)?)?,
        }
        (self.start, self.len) = (self.kind.start(), len);
        Ok(())
    }
}

impl Kind {
    fn start(&mut self) -> *mut u64 {
        match self {
            Self::Heap(words) => words.as_mut_ptr(),
            Self::Pages(pages) => pages.as_mut_ptr().cast(),
        }
    }
}

/// Enlarges an anonymous map. Its new bytes are 0.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the map is anonymous, which the compiler cannot see")]
fn remap(pages: &mut MmapMut, bytes: usize) -> Result<(), NoMemory> {
    // SAFETY: an anonymous map has no file whose end it could pass.
    unsafe { pages.remap(bytes, memmap2::RemapOptions::new().may_move(true)) }.map_err(|_| NoMemory)
}

/// Enlarges an anonymous map. Its new bytes are 0.
#[cfg(not(target_os = "linux"))]
fn remap(pages: &mut MmapMut, bytes: usize) -> Result<(), NoMemory> {
    let mut larger = MmapMut::map_anon(bytes).map_err(|_| NoMemory)?;
    larger[..pages.len()].copy_from_slice(pages);
    *pages = larger;
    Ok(())
}

impl Deref for Words {
    type Target = [u64];

    #[inline(always)]
    #[expect(unsafe_code, reason = "the numbers are in memory of either kind")]
    fn deref(&self) -> &[u64] {
        // SAFETY: the memory has `len` numbers. A map begins at a page, and any eight of its bytes are a number.
        unsafe { slice::from_raw_parts(self.start, self.len) }
    }
}

impl DerefMut for Words {
    #[inline(always)]
    #[expect(unsafe_code, reason = "the numbers are in memory of either kind")]
    fn deref_mut(&mut self) -> &mut [u64] {
        // SAFETY: as for `deref`, and nobody else has a borrow.
        unsafe { slice::from_raw_parts_mut(self.start, self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_keeps_its_numbers_and_appends_zeros() {
        for mut table in [Words::heap(3), Words::pages(3)] {
            let mut model = vec![0; 3];
            for len in [3, 4, 511, 512, 513, 20_000, 1 << 20] {
                table.grow(len).unwrap();
                model.resize(len, 0);
                assert!(*table == *model, "{len}");
                for (number, at) in (1..).zip((0..len).rev().step_by(len / 3 + 1)) {
                    (table[at], model[at]) = (number, number);
                }
            }
            assert_eq!(table.grow(usize::MAX), Err(NoMemory));
            assert_eq!(table.grow(usize::MAX / 16), Err(NoMemory));
            assert!(*table == *model);
        }
    }
}
