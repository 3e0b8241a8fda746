use std::fmt;
use std::io;
use std::iter;
use std::ops::{Deref, Range};
use std::sync::Arc;

use memmap2::Mmap;

use super::ReadAt;

/// Bytes of an immutable file, shared: a part of its map, or of memory. A clone is another handle to the same bytes,
/// and they live as long as the last one, whatever becomes of the file's name.
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
    /// All bytes of a map.
    pub(super) fn of_map(map: Arc<Mmap>) -> Self {
        Self { start: 0, end: map.len(), whole: Whole::Map(map) }
    }

    /// `length` bytes of a file from `offset` on, read into memory. Nothing is allocated beyond the file's length.
    pub(super) fn read(file: &(impl ReadAt + ?Sized), offset: u64, length: u64) -> io::Result<Self> {
        match (offset.checked_add(length), usize::try_from(length)) {
            (Some(end), Ok(length)) if end <= file.len() => {
                let mut bytes: Arc<[u8]> = iter::repeat_n(0, length).collect();
                file.read_at(offset, Arc::get_mut(&mut bytes).expect("made a line above"))?;
                Ok(bytes.into())
            }
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// A part of them; `None` if they do not reach so far.
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

impl ReadAt for Bytes {
    fn len(&self) -> u64 {
        (**self).len() as u64
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        (**self).read_at(offset, buf)
    }

    fn mapped(&self) -> Option<&[u8]> {
        Some(self)
    }

    fn bytes(&self, offset: u64, length: u64) -> io::Result<Bytes> {
        let start = usize::try_from(offset).ok();
        let range = start.and_then(|start| Some(start..start.checked_add(usize::try_from(length).ok()?)?));
        range.and_then(|range| self.part(range)).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
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
