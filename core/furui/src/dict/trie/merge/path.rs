use crate::dict::MAX_KEY;
use crate::dict::trie::TrieError;
use crate::format::field::{u32_at, u64_at};
use crate::hash::{Rolling, RollingRun, RollingState};

/// A path from the root, as the state of its rolling hash and its length in bytes.
#[derive(Clone, Copy)]
pub(super) struct Path {
    pub(super) hash: RollingState,
    length: u32,
}

impl Path {
    pub(super) const BYTES: usize = 12;

    /// Encodes the path, together with `cursors`, the number of places in the merged tries that a node has, which is at
    /// most 256.
    #[inline(always)]
    pub(super) fn to_bytes(self, cursors: u32) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.hash.get().to_le_bytes());
        bytes[8..].copy_from_slice(&(self.length << 9 | cursors).to_le_bytes());
        bytes
    }

    #[inline(always)]
    pub(super) fn from_bytes(bytes: [u8; Self::BYTES]) -> (Self, u32) {
        let numbers = u32_at(&bytes, 8);
        (Self { hash: RollingState::resume(u64_at(&bytes, 0)), length: numbers >> 9 }, numbers & 0x1FF)
    }

    pub(super) fn root(hash: RollingState) -> Self {
        Self { hash, length: 0 }
    }

    #[inline(always)]
    pub(super) fn push(self, rolling: &Rolling, byte: u8) -> Self {
        Self { hash: rolling.push(self.hash, byte), length: self.length + 1 }
    }

    #[inline(always)]
    pub(super) fn push_all(self, rolling: &Rolling, text: &[u8]) -> Self {
        Self { hash: rolling.push_all(self.hash, text), length: self.length + text.len() as u32 }
    }

    #[inline(always)]
    pub(super) fn push_run(self, rolling: &Rolling, run: RollingRun) -> Self {
        Self { hash: rolling.push_run(self.hash, run), length: self.length + run.len() }
    }

    /// The path extended by `length` bytes. `rest` is the state of these bytes alone: the state after they are pushed
    /// to [`RollingState::ZERO`].
    #[inline(always)]
    pub(super) fn push_rest(self, rolling: &Rolling, rest: RollingState, length: u32) -> Self {
        Self { hash: rolling.push_rest(self.hash, rest, length as usize), length: self.length + length }
    }

    /// Returns the path, or an error if it is longer than the longest key that is allowed.
    #[inline(always)]
    pub(super) fn check(self) -> Result<Self, TrieError> {
        if self.length as usize > MAX_KEY { Err(TrieError::Damaged) } else { Ok(self) }
    }
}
