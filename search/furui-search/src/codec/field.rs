//! The numeric fields at the beginning of a coded set or an answer.

use crate::varint;

/// Reads fields from the front of a byte string. Reading beyond the end returns `None`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl Fields<'_> {
    pub(super) fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (&bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(bytes)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.bytes().map(|[byte]| byte)
    }

    /// Reads a number in [LEB128](varint); `None` if it is invalid or cut off.
    pub(super) fn number(&mut self) -> Option<u64> {
        varint::take(&mut self.0)
    }
}
