use std::io;
use std::iter;
use std::sync::Arc;

use super::Bytes;

/// An immutable file that is read at offsets. The readers of file formats need no other access to storage.
///
/// A file never changes while it is open (storage publishes files whole), so any number of readers may share it.
///
/// ```
/// use furui::format::ReadAt;
///
/// let file: &[u8] = b"some bytes";
/// let mut word = [0; 5];
/// file.read_at(5, &mut word)?;
/// assert_eq!(&word, b"bytes");
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait ReadAt: Send + Sync {
    /// The file's length in bytes.
    fn len(&self) -> u64;

    /// Fills `buf` with the bytes from `offset` on.
    ///
    /// # Errors
    /// An error of kind [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if the file ends before `buf` is full;
    /// otherwise the operating system's error. After an error, the contents of `buf` are unspecified.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()>;

    /// True if the file has no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The whole file as a slice, if it is in memory or mapped into memory. A reader that calls this must also work
    /// when it gets `None`, through [`read_at`](Self::read_at).
    fn mapped(&self) -> Option<&[u8]> {
        None
    }

    /// Returns `length` bytes from `offset` on, which the caller can keep. The bytes are shared with the file if it is
    /// in memory or mapped into memory, and read otherwise.
    ///
    /// # Errors
    /// Those of [`read_at`](Self::read_at). No more memory is allocated than the file's length.
    fn bytes(&self, offset: u64, length: u64) -> io::Result<Bytes> {
        read_part(self, offset, length)
    }
}

/// Reads `length` bytes of a file from `offset` on into memory. No more memory is allocated than the file's length.
pub(super) fn read_part(file: &(impl ReadAt + ?Sized), offset: u64, length: u64) -> io::Result<Bytes> {
    match (offset.checked_add(length), usize::try_from(length)) {
        (Some(end), Ok(length)) if end <= file.len() => {
            let mut bytes: Arc<[u8]> = iter::repeat_n(0, length).collect();
            file.read_at(offset, Arc::get_mut(&mut bytes).expect("made a line above"))?;
            Ok(bytes.into())
        }
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

impl ReadAt for [u8] {
    fn len(&self) -> u64 {
        <[u8]>::len(self) as u64
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let found = usize::try_from(offset)
            .ok()
            .and_then(|start| self.get(start..start.checked_add(buf.len())?))
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        buf.copy_from_slice(found);
        Ok(())
    }

    fn mapped(&self) -> Option<&[u8]> {
        Some(self)
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

impl<T: ReadAt + ?Sized> ReadAt for Arc<T> {
    fn len(&self) -> u64 {
        (**self).len()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        (**self).read_at(offset, buf)
    }

    fn mapped(&self) -> Option<&[u8]> {
        (**self).mapped()
    }

    fn bytes(&self, offset: u64, length: u64) -> io::Result<Bytes> {
        (**self).bytes(offset, length)
    }
}
