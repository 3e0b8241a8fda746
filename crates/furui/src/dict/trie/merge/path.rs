use crate::dict::MAX_KEY;
use crate::dict::trie::TrieError;
use crate::format::field::{u32_at, u64_at};
use crate::hash::{Rolling, RollingRun};

/// What is carried along a path: the state of its hash, and how many bytes it has.
#[derive(Clone, Copy)]
pub(super) struct Path {
    pub(super) hash: Rolling,
    length: u32,
}

impl Path {
    pub(super) const BYTES: usize = 12;

    /// As bytes, with a number up to 256.
    #[inline(always)]
    pub(super) fn to_bytes(self, cursors: u32) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.hash.state().to_le_bytes());
        bytes[8..].copy_from_slice(&(self.length << 9 | cursors).to_le_bytes());
        bytes
    }

    #[inline(always)]
    pub(super) fn from_bytes(bytes: [u8; Self::BYTES]) -> (Self, u32) {
        let numbers = u32_at(&bytes, 8);
        (Self { hash: Rolling::resume(u64_at(&bytes, 0)), length: numbers >> 9 }, numbers & 0x1FF)
    }

    pub(super) fn root(hash: Rolling) -> Self {
        Self { hash, length: 0 }
    }

    #[inline(always)]
    pub(super) fn push(self, byte: u8) -> Self {
        Self { hash: self.hash.push(byte), length: self.length + 1 }
    }

    #[inline(always)]
    pub(super) fn push_all(self, text: &[u8]) -> Self {
        Self { hash: self.hash.push_all(text), length: self.length + text.len() as u32 }
    }

    #[inline(always)]
    pub(super) fn push_run(self, run: RollingRun) -> Self {
        Self { hash: self.hash.push_run(run), length: self.length + run.len() }
    }

    /// Behind `length` bytes more, which make `rest` of [`Rolling::ZERO`].
    #[inline(always)]
    pub(super) fn push_rest(self, rest: Rolling, length: u32) -> Self {
        Self { hash: self.hash.push_rest(rest, length as usize), length: self.length + length }
    }

    /// An error if no key is so long.
    #[inline(always)]
    pub(super) fn check(self) -> Result<Self, TrieError> {
        if self.length as usize > MAX_KEY { Err(TrieError::Damaged) } else { Ok(self) }
    }
}
