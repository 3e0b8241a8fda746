use std::ops::Range;

use super::skeleton::common_prefix;
use crate::hash::{Rolling, RollingRun};

/// A text with more bytes after it in memory, so that a short text can be read and copied with a fixed length. With the
/// length of the text itself, there would be branches that the processor could not predict.
#[derive(Clone, Copy, Default)]
pub(super) struct Text<'a> {
    bytes: &'a [u8],
    len: usize,
}

/// The number of bytes of a text that are copied or compared at a time. Most texts are not longer than this.
const SHORT: usize = 16;

/// The number of bytes after the beginning of a text that must be readable, or writable in a copy, so that a short text
/// is processed with a fixed length.
pub(super) const SLACK: usize = 2 * SHORT;

impl<'a> Text<'a> {
    /// The text that is in `range` of `bytes`.
    #[inline(always)]
    pub(super) fn of(bytes: &'a [u8], range: Range<usize>) -> Self {
        Self { bytes: &bytes[range.start..], len: range.len() }
    }

    /// The text of the first `len` bytes of `bytes`; `None` if there are fewer.
    #[inline(always)]
    pub(super) fn beginning(bytes: &'a [u8], len: usize) -> Option<Self> {
        (len <= bytes.len()).then_some(Self { bytes, len })
    }

    #[inline(always)]
    pub(super) fn len(self) -> usize {
        self.len
    }

    #[inline(always)]
    pub(super) fn as_bytes(self) -> &'a [u8] {
        &self.bytes[..self.len]
    }

    /// Returns the first byte, and the text after it; `None` if the text is empty.
    #[inline(always)]
    pub(super) fn split_first(self) -> Option<(u8, Self)> {
        let (&first, bytes) = self.bytes.split_first()?;
        Some((first, Self { bytes, len: self.len.checked_sub(1)? }))
    }

    /// The text without its first `count` bytes. It must have at least this many bytes.
    #[inline(always)]
    pub(super) fn behind(self, count: usize) -> Self {
        Self { bytes: &self.bytes[count..], len: self.len - count }
    }

    /// The first `len` bytes of the text, or the whole text if it is shorter.
    #[inline(always)]
    pub(super) fn up_to(self, len: usize) -> Self {
        Self { len: len.min(self.len), ..self }
    }

    /// The length of the common prefix of two texts, in bytes.
    #[inline(always)]
    pub(super) fn common_prefix(self, other: Self) -> usize {
        let most = self.len.min(other.len);
        if let (Some(a), Some(b)) = (self.bytes.first_chunk::<SHORT>(), other.bytes.first_chunk::<SHORT>()) {
            let differ = u128::from_le_bytes(*a) ^ u128::from_le_bytes(*b);
            let alike = differ.trailing_zeros() as usize / 8;
            if alike < SHORT || most <= SHORT {
                return alike.min(most);
            }
        }
        common_prefix(self.as_bytes(), other.as_bytes())
    }

    /// The effect of appending this text to a rolling hash, which can be applied to any state; `None` if the text is
    /// too long.
    #[inline(always)]
    pub(super) fn run(self, rolling: &Rolling) -> Option<RollingRun> {
        match self.bytes.first_chunk::<SHORT>() {
            Some(bytes) if (1..=SHORT).contains(&self.len) => Some(rolling.run_of_first(*bytes, self.len)),
            _ => rolling.run(self.as_bytes()),
        }
    }

    /// Copies the text to the beginning of `out`, which must be longer than the text by [`SLACK`] bytes.
    #[inline(always)]
    pub(super) fn copy_to(self, out: &mut [u8]) {
        match (self.bytes.first_chunk::<SLACK>(), out.first_chunk_mut()) {
            (Some(bytes), Some(out)) if self.len <= SLACK => *out = *bytes,
            _ => out[..self.len].copy_from_slice(self.as_bytes()),
        }
    }

    #[inline(always)]
    pub(super) fn append_to(self, out: &mut Vec<u8>) {
        match self.bytes.first_chunk::<SLACK>() {
            Some(bytes) if self.len <= SLACK => {
                let end = out.len() + self.len;
                out.extend_from_slice(bytes);
                out.truncate(end);
            }
            _ => out.extend_from_slice(self.as_bytes()),
        }
    }
}

impl<'a> From<&'a [u8]> for Text<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self { bytes, len: bytes.len() }
    }
}
