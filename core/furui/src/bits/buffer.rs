use std::fmt;
use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;

/// The minimum size of a table that gets pages of its own: the size of a huge page on most machines.
const HUGE_PAGE: usize = 2 << 20;

/// The alignment of every table: the size of a cache line.
const LINE: usize = 64;

/// A table of bytes for random reads and writes, such as that of a filter. It starts at a cache line, and its bytes are
/// 0 at first.
///
/// A large table requests huge pages from the system. Otherwise a random access to a table larger than the caches would
/// also wait for the page table, which doubles its time. A table that is mapped from a file reads the file's pages when
/// they are touched, and writes to private copies of them: the file never changes.
///
/// ```
/// use furui::raw::{Buffer, Rank1};
///
/// let words = Buffer::from(vec![0b1101, 0, 0, 0, 0, 0, 0, 0]);
/// assert_eq!(words.len(), 8);
/// let bits = Rank1::new(words, 64).expect("memory for an index");
/// assert_eq!(bits.rank1(3), 2);
/// ```
pub struct Buffer {
    kind: Kind,
    /// The offset at which the table begins in the memory that `kind` owns.
    start: usize,
    len: usize,
}

/// The source of the memory of a [`Buffer`].
enum Kind {
    Heap(Vec<u8>),
    Pages(MmapMut),
}

/// The error that there is not enough memory for a table.
///
/// ```
/// use furui::raw::{Cells, NoMemory};
///
/// assert_eq!(Cells::new(usize::MAX / 2, 8).err(), Some(NoMemory));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMemory;

impl fmt::Display for NoMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is not enough memory for a table of this size: ask for a smaller one")
    }
}

impl std::error::Error for NoMemory {}

impl Buffer {
    /// A table of no bytes, which takes no memory.
    pub(crate) fn empty() -> Self {
        Self { kind: Kind::Heap(vec![]), start: 0, len: 0 }
    }

    /// A buffer of its own for these bytes; the error is that there is no memory for it.
    pub(crate) fn copied(bytes: &[u8]) -> Result<Self, NoMemory> {
        let mut copy = Self::zeroed(bytes.len())?;
        copy.copy_from_slice(bytes);
        Ok(copy)
    }

    pub(crate) fn zeroed(len: usize) -> Result<Self, NoMemory> {
        if len >= HUGE_PAGE
            && !cfg!(feature = "heap-tables")
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

    /// A table in ordinary pages of its own, which are allocated when touched and returned to the system as soon as the
    /// table is dropped. Meant for short-lived tables that exist while other memory grows.
    pub(crate) fn pages(len: usize) -> Result<Self, NoMemory> {
        match MmapMut::map_anon(len) {
            Ok(pages) if !cfg!(feature = "heap-tables") => Ok(Self::mapped(pages)),
            _ => Self::zeroed(len),
        }
    }

    /// Shortens the table to its first `len` bytes. In a table of [`pages`](Self::pages), the bytes that are cut off
    /// take no memory if they were never touched.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = len.min(self.len);
    }

    /// A table of all bytes of a map, which must be a private map of a file's bytes or an anonymous one.
    pub(crate) fn mapped(pages: MmapMut) -> Self {
        let len = pages.len();
        Self { kind: Kind::Pages(pages), start: 0, len }
    }

    /// A table of `len` bytes that begins at a multiple of the huge-page size, because the system gives huge pages only
    /// to whole ranges of that size.
    ///
    /// Pages mapped beyond the table are never touched, so they take addresses but no memory. The last huge page, which
    /// the table fills only in part, is requested only if that wastes at most an eighth of the table's size.
    fn huge_pages(len: usize) -> Option<Self> {
        let up = len.checked_next_multiple_of(HUGE_PAGE)?;
        let pages = MmapMut::map_anon(up.checked_add(HUGE_PAGE)?).ok()?;
        let start = pages.as_ptr().align_offset(HUGE_PAGE).min(HUGE_PAGE);
        #[cfg(target_os = "linux")]
        {
            let huge = if up - len <= len / 8 { up } else { up - HUGE_PAGE };
            // A failure is ignored: the table then has ordinary pages.
            let _ = pages.advise_range(memmap2::Advice::HugePage, start, huge);
        }
        Some(Self { kind: Kind::Pages(pages), start, len })
    }
}

impl From<Vec<u8>> for Buffer {
    /// Copies `bytes` into memory with the alignment of a table.
    ///
    /// # Panics
    /// If there is no memory for the copy.
    fn from(bytes: Vec<u8>) -> Self {
        Self::copied(&bytes).expect("memory for a copy")
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
    /// If there is no memory for the copy.
    fn clone(&self) -> Self {
        Self::copied(self).expect("memory for a copy")
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
