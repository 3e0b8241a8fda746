use std::fmt;
use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;

/// From this size on, a table is worth pages of its own: that of a huge page on most machines.
const HUGE_PAGE: usize = 2 << 20;

/// Bytes of a table that is read and written at random, 0 at first. Large ones ask the system for huge pages: then a
/// random access need not wait for the page table as well, which in a table beyond the caches takes as long again.
pub(crate) enum Memory {
    Heap(Vec<u8>),
    Pages(MmapMut),
}

/// There is no room for as many bytes.
#[derive(Debug)]
pub(crate) struct NoMemory;

impl Memory {
    pub(crate) fn zeroed(len: usize) -> Result<Self, NoMemory> {
        if len >= HUGE_PAGE
            && let Ok(pages) = MmapMut::map_anon(len)
        {
            // Where there are no huge pages, the usual ones do.
            #[cfg(target_os = "linux")]
            let _ = pages.advise(memmap2::Advice::HugePage);
            return Ok(Self::Pages(pages));
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len).map_err(|_| NoMemory)?;
        bytes.resize(len, 0);
        Ok(Self::Heap(bytes))
    }
}

impl Deref for Memory {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Heap(bytes) => bytes,
            Self::Pages(pages) => pages,
        }
    }
}

impl DerefMut for Memory {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Heap(bytes) => bytes,
            Self::Pages(pages) => pages,
        }
    }
}

impl Clone for Memory {
    /// # Panics
    /// If there is no memory for it, as any clone.
    fn clone(&self) -> Self {
        let mut copy = Self::zeroed(self.len()).expect("memory for a copy");
        copy.copy_from_slice(self);
        copy
    }
}

impl PartialEq for Memory {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Memory {}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.len())
    }
}
