use crate::format::Regions;

/// A reader of a trie's bytes tells a guard which bytes it will read; the guard checks them, if that is necessary.
///
/// A search works on any bytes, so it need not stop when the guard reports damage. But its result is valid only if all
/// bytes that it read were undamaged.
pub trait Guard: Copy {
    /// True if the `len` bytes of the trie from `start` on are undamaged.
    #[doc(hidden)]
    fn touch(self, start: usize, len: usize) -> bool;
}

/// The guard of bytes that this process has written or checked. It does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trusted;

impl Guard for Trusted {
    #[inline(always)]
    fn touch(self, _: usize, _: usize) -> bool {
        true
    }
}

/// The guard of the bytes of a file, whose regions are checked when they are first read.
#[derive(Clone, Copy, Debug)]
pub(in crate::dict) struct Checked<'a> {
    pub(in crate::dict) regions: &'a Regions,
    /// The offset of the trie's bytes in the file.
    pub(in crate::dict) base: usize,
}

impl Guard for Checked<'_> {
    #[inline(always)]
    fn touch(self, start: usize, len: usize) -> bool {
        self.regions.touch(self.base.saturating_add(start), len)
    }
}
