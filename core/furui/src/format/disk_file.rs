use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use memmap2::{Mmap, MmapMut, MmapOptions};

use super::read_at::read_part;
use super::{Bytes, ReadAt};

/// True if files can be mapped: a 64-bit address space has room for any file.
const CAN_MAP: bool = cfg!(all(target_pointer_width = "64", any(unix, windows)));

/// An immutable file of the operating system, read at offsets and, if wanted, mapped into memory.
///
/// # Mapped or not
///
/// A look-up in a resident map costs a tenth of one through a system call. But an error of the device is then not
/// returned as a value: it is a signal (SIGBUS) that ends the process. The signal also comes if another program
/// truncates the file. Nothing durable is lost by that. [`read_at`](ReadAt::read_at) always makes a system call, even
/// if the file is mapped, so its errors are values. Mapped pages that were touched count as memory of the process.
///
/// ```
/// use furui::format::{DiskFile, ReadAt};
///
/// # let path = std::env::temp_dir().join(format!("furui-doc-disk-file-{}", std::process::id()));
/// std::fs::write(&path, b"some bytes")?;
/// let file = DiskFile::open(&path)?;
/// let mut word = [0; 5];
/// file.read_at(5, &mut word)?;
/// assert_eq!(&word, b"bytes");
/// # std::fs::remove_file(path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct DiskFile {
    file: File,
    length: u64,
    map: Option<Arc<Mmap>>,
}

impl DiskFile {
    /// Opens a file outside the directory of a store, without mapping it.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::new(File::open(path)?, 0)
    }

    /// The bytes of a file outside a store, mapped into memory if this platform can map files.
    pub(crate) fn bytes_of(path: &Path) -> io::Result<Bytes> {
        let file = Self::new(File::open(path)?, u64::MAX)?;
        file.bytes(0, file.length)
    }

    /// Wraps an open file, whose bytes must not change as long as it is open. It is mapped if it has at most `mapped`
    /// bytes.
    pub(crate) fn new(file: File, mapped: u64) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let map = if CAN_MAP && (1..=mapped).contains(&length) { Some(Arc::new(map(&file)?)) } else { None };
        Ok(Self { file, length, map })
    }
}

impl DiskFile {
    /// A private map of `length` bytes from `offset` on: writes to it stay in memory. `None` if files cannot be mapped.
    pub(crate) fn map_private(&self, offset: u64, length: usize) -> io::Result<Option<MmapMut>> {
        if !CAN_MAP {
            return Ok(None);
        }
        map_private(&self.file, offset, length).map(Some)
    }
}

#[expect(unsafe_code, reason = "a memory map is only as immutable as its file, which the compiler cannot see")]
fn map_private(file: &File, offset: u64, length: usize) -> io::Result<MmapMut> {
    // SAFETY: as for `map`; a caller that opens a file outside a store is told not to change it (`AnyFilter::open`).
    // Writes to this map go to copies of the file's pages.
    unsafe { MmapOptions::new().offset(offset).len(length).map_copy(file) }
}

#[expect(unsafe_code, reason = "a memory map is only as immutable as its file, which the compiler cannot see")]
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the bytes under the map never change. A published file is replaced by another file or removed, never
    // written to, and a scratch file has no name by which anybody else could reach it. Every user of a memory map must
    // assume that other programs leave the files alone.
    unsafe { Mmap::map(file) }
}

#[cfg(unix)]
fn read_exact_at(file: &File, offset: u64, buf: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buf, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut offset: u64, mut buf: &mut [u8]) -> io::Result<()> {
    while !buf.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, buf, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                offset += read as u64;
                buf = &mut buf[read..];
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// There are no files on this platform, so there is nothing to read. Filters and storage in memory still work.
#[cfg(not(any(unix, windows)))]
fn read_exact_at(_file: &File, _offset: u64, _buf: &mut [u8]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

impl ReadAt for DiskFile {
    fn len(&self) -> u64 {
        self.length
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        // The range is checked first, because the operating system returns a different error for an offset above the
        // largest that it accepts.
        match offset.checked_add(buf.len() as u64) {
            Some(end) if end <= self.length => read_exact_at(&self.file, offset, buf),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn mapped(&self) -> Option<&[u8]> {
        self.map.as_deref().map(|map| &**map)
    }

    fn bytes(&self, offset: u64, length: u64) -> io::Result<Bytes> {
        match &self.map {
            Some(map) => Bytes::of_map(Arc::clone(map)).bytes(offset, length),
            None => read_part(self, offset, length),
        }
    }
}
