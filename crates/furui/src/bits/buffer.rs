use std::fmt;
use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;

/// From this size on, a table is worth pages of its own: that of a huge page on most machines.
const HUGE_PAGE: usize = 2 << 20;

/// What every table begins at a multiple of: the line of a cache.
const LINE: usize = 64;

/// The bytes of a filter: a table that is read and written at random, at the start of a cache line, 0 at first.
///
/// Large ones ask the system for huge pages: then a random access need not wait for the page table as well, which in
/// a table beyond the caches takes as long again. One that was mapped from a file reads the file's pages as they are
/// touched and writes to copies of its own: the file never changes.
pub struct Buffer {
    kind: Kind,
    /// Where in that memory the table begins.
    start: usize,
    len: usize,
}

/// Where the memory is from.
enum Kind {
    Heap(Vec<u8>),
    Pages(MmapMut),
}

/// There is not enough memory for a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMemory;

impl fmt::Display for NoMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is not enough memory for a table of this size: ask for a smaller one")
    }
}

impl std::error::Error for NoMemory {}

impl Buffer {
    /// A table of no bytes.
    pub(crate) fn empty() -> Self {
        Self { kind: Kind::Heap(vec![]), start: 0, len: 0 }
    }

    pub(crate) fn zeroed(len: usize) -> Result<Self, NoMemory> {
        if len >= HUGE_PAGE
            && let Some(table) = Self::huge_pages(len)
        {
            return Ok(table);
        }
        let room = len.checked_add(LINE - 1).ok_or(NoMemory)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(room).map_err(|_| NoMemory)?;
        bytes.resize(room, 0);
        let start = bytes.as_ptr().align_offset(LINE).min(LINE - 1);
        Ok(Self { kind: Kind::Heap(bytes), start, len })
    }

    /// Memory that goes back to the system as soon as it is dropped: for what comes and goes while other memory grows. In usual
    /// pages, which are taken as they are touched.
    pub(crate) fn pages(len: usize) -> Result<Self, NoMemory> {
        match MmapMut::map_anon(len) {
            Ok(pages) => Ok(Self::mapped(pages)),
            Err(_) => Self::zeroed(len),
        }
    }

    /// Gives up the bytes behind the first `len`. What of them was never touched took no memory.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = len.min(self.len);
    }

    /// All bytes of a map: a private one of some bytes of a file, or one of no file.
    pub(crate) fn mapped(pages: MmapMut) -> Self {
        let len = pages.len();
        Self { kind: Kind::Pages(pages), start: 0, len }
    }

    /// Pages for a table of `len` bytes that begins where a huge page does: the system gives huge pages to whole ones only.
    ///
    /// What is mapped beyond the table is never touched, and so takes addresses, not memory; but the last huge page, which
    /// the table fills in part, is one only if that wastes no more than an eighth of the table.
    fn huge_pages(len: usize) -> Option<Self> {
        let up = len.checked_next_multiple_of(HUGE_PAGE)?;
        let pages = MmapMut::map_anon(up.checked_add(HUGE_PAGE)?).ok()?;
        let start = pages.as_ptr().align_offset(HUGE_PAGE).min(HUGE_PAGE);
        #[cfg(target_os = "linux")]
        {
            let huge = if up - len <= len / 8 { up } else { up - HUGE_PAGE };
            // Where there are no huge pages, the usual ones do.
            let _ = pages.advise_range(memmap2::Advice::HugePage, start, huge);
        }
        Some(Self { kind: Kind::Pages(pages), start, len })
    }
}

impl From<Vec<u8>> for Buffer {
    /// The same bytes, moved to where a table begins.
    ///
    /// # Panics
    /// If there is no memory for them, as any collection.
    fn from(bytes: Vec<u8>) -> Self {
        let mut buffer = Self::zeroed(bytes.len()).expect("memory for a copy");
        buffer.copy_from_slice(&bytes);
        buffer
    }
}

impl Deref for Buffer {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        let all: &[u8] = match &self.kind {
            Kind::Heap(bytes) => bytes,
            Kind::Pages(pages) => pages,
        };
        &all[self.start..][..self.len]
    }
}

impl DerefMut for Buffer {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        let all: &mut [u8] = match &mut self.kind {
            Kind::Heap(bytes) => bytes,
            Kind::Pages(pages) => pages,
        };
        &mut all[self.start..][..self.len]
    }
}

impl Clone for Buffer {
    /// # Panics
    /// If there is no memory for it, as any clone.
    fn clone(&self) -> Self {
        let mut copy = Self::zeroed(self.len()).expect("memory for a copy");
        copy.copy_from_slice(self);
        copy
    }
}

impl PartialEq for Buffer {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Buffer {}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_any_size_begins_a_line_and_is_zero() {
        for len in [0, 1, 63, 64, 65, 100_000, HUGE_PAGE - 1, HUGE_PAGE, HUGE_PAGE + 1] {
            let memory = Buffer::zeroed(len).unwrap();
            for memory in [memory.clone(), memory] {
                assert_eq!(memory.as_ptr().align_offset(LINE), 0, "{len}");
                assert!(memory.len() == len && memory.iter().all(|&byte| byte == 0), "{len}");
            }
        }
    }
}
