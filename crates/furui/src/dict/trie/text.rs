use std::ops::Range;

use super::skeleton::common_prefix;
use crate::hash::{Rolling, RollingRun};

/// A text that lies in memory with more behind it, so that short ones are read and copied as one of usual length: how short
/// they are nobody can foresee.
#[derive(Clone, Copy, Default)]
pub(super) struct Text<'a> {
    bytes: &'a [u8],
    len: usize,
}

/// What most texts are shorter than.
const SHORT: usize = 16;

/// So many bytes behind a text let it be copied as one of usual length.
pub(super) const SLACK: usize = 2 * SHORT;

impl<'a> Text<'a> {
    /// Some bytes of these.
    #[inline(always)]
    pub(super) fn of(bytes: &'a [u8], range: Range<usize>) -> Self {
        Self { bytes: &bytes[range.start..], len: range.len() }
    }

    /// The first `len` of some bytes, if they are so many.
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

    /// Its first byte, and what is behind that.
    #[inline(always)]
    pub(super) fn split_first(self) -> Option<(u8, Self)> {
        let (&first, bytes) = self.bytes.split_first()?;
        Some((first, Self { bytes, len: self.len.checked_sub(1)? }))
    }

    /// What is behind the first `count` bytes, of which it has as many.
    #[inline(always)]
    pub(super) fn behind(self, count: usize) -> Self {
        Self { bytes: &self.bytes[count..], len: self.len - count }
    }

    /// Its first bytes, `len` at most.
    #[inline(always)]
    pub(super) fn up_to(self, len: usize) -> Self {
        Self { len: len.min(self.len), ..self }
    }

    /// How many bytes both begin with alike.
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

    /// What it does to a hash, if it is not too long.
    #[inline(always)]
    pub(super) fn run(self, rolling: &Rolling) -> Option<RollingRun> {
        match self.bytes.first_chunk::<SHORT>() {
            Some(bytes) if (1..=SHORT).contains(&self.len) => Some(rolling.run_of_first(*bytes, self.len)),
            _ => rolling.run(self.as_bytes()),
        }
    }

    /// Writes it to the beginning of `out`, where there are [`SLACK`] bytes more.
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
