use crate::format::Regions;

/// A check of a trie's bytes before they are read: the reader reports which bytes it will read, and the guard verifies
/// their checksums if that is necessary.
///
/// A search works on any bytes, so it need not stop when the guard reports damage. But its result is valid only if all
/// bytes that it read were undamaged.
pub trait Guard: Copy {
    /// Checks the `len` bytes of the trie from offset `start` on. True if they are undamaged.
    #[doc(hidden)]
    fn touch(self, start: usize, len: usize) -> bool;
}

/// A [`Guard`] of bytes that this process has written or checked itself. It does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trusted;

impl Guard for Trusted {
    #[inline(always)]
    fn touch(self, _: usize, _: usize) -> bool {
        true
    }
}

/// A [`Guard`] of the bytes of a file. Each region of the file is checked when it is first read.
#[derive(Clone, Copy, Debug)]
pub(in crate::dict) struct Checked<'a> {
    pub(in crate::dict) regions: &'a Regions,
    /// The offset of the trie's bytes in the file. The guard is given offsets from there.
    pub(in crate::dict) base: usize,
}

impl Guard for Checked<'_> {
    #[inline(always)]
    fn touch(self, start: usize, len: usize) -> bool {
        self.regions.touch(self.base.saturating_add(start), len)
    }
}
