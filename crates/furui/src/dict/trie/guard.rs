use crate::format::Regions;

/// What a reader of a trie's bytes tells before it reads some: either nothing is to be told, or they are checked.
///
/// A search goes on whatever it is answered, for it is total; but what was found is believed only if all was whole.
pub trait Guard: Copy {
    /// Whether the `len` bytes of the trie from `start` on are what was written.
    #[doc(hidden)]
    fn touch(self, start: usize, len: usize) -> bool;
}

/// The guard of bytes that this process wrote, or has checked all.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trusted;

impl Guard for Trusted {
    #[inline(always)]
    fn touch(self, _: usize, _: usize) -> bool {
        true
    }
}

/// The guard of a file's bytes, whose regions are checked when they are first read.
#[derive(Clone, Copy, Debug)]
pub(in crate::dict) struct Checked<'a> {
    pub(super) regions: &'a Regions,
    /// Where the trie's bytes begin in the file.
    pub(super) base: usize,
}

impl Guard for Checked<'_> {
    #[inline(always)]
    fn touch(self, start: usize, len: usize) -> bool {
        self.regions.touch(self.base.saturating_add(start), len)
    }
}
