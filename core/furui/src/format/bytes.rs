use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use memmap2::Mmap;

/// Shared bytes of an immutable file: a part of the file's map, or of memory. A clone is another handle to the same
/// bytes. They live as long as the last handle, even if the file is removed.
///
/// ```
/// use std::sync::Arc;
/// use furui::format::Bytes;
///
/// let bytes = Bytes::from(Arc::<[u8]>::from(*b"some bytes"));
/// assert_eq!(&*bytes.part(5..10).unwrap(), b"bytes");
/// assert_eq!(bytes.part(5..11), None);
/// ```
#[derive(Clone)]
pub struct Bytes {
    whole: Whole,
    start: usize,
    end: usize,
}

#[derive(Clone)]
enum Whole {
    Map(Arc<Mmap>),
    Memory(Arc<[u8]>),
}

impl Bytes {
    /// All bytes of a memory map, as shared bytes.
    pub(super) fn of_map(map: Arc<Mmap>) -> Self {
        Self { start: 0, end: map.len(), whole: Whole::Map(map) }
    }

    /// The bytes of a range; `None` if the range ends after the last byte.
    pub fn part(&self, range: Range<usize>) -> Option<Self> {
        let (start, end) = (self.start.checked_add(range.start)?, self.start.checked_add(range.end)?);
        (start <= end && end <= self.end).then(|| Self { whole: self.whole.clone(), start, end })
    }
}

impl From<Arc<[u8]>> for Bytes {
    fn from(bytes: Arc<[u8]>) -> Self {
        Self { start: 0, end: bytes.as_ref().len(), whole: Whole::Memory(bytes) }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.whole {
            Whole::Map(map) => &map[self.start..self.end],
            Whole::Memory(bytes) => &bytes[self.start..self.end],
        }
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Bytes {}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_the_bytes_of_its_range_or_is_none() {
        let bytes = Bytes::from(Arc::<[u8]>::from(*b"0123456789"));
        let middle = bytes.part(2..8).unwrap();
        for start in 0..8 {
            for end in 0..8 {
                let range = Range { start, end };
                assert_eq!(middle.part(range.clone()).as_deref(), b"234567".get(range), "{start}..{end}");
            }
        }
        assert_eq!(middle.part(0..usize::MAX), None);
        assert!(bytes.part(0..2) != bytes.part(2..4) && bytes.part(2..4) == middle.part(0..2));
    }
}
