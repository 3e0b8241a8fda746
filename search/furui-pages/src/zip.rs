//! The files in a ZIP archive, as EPUB has it: stored or deflated, in an archive below 4 GiB.
//!
//! The crate `zip` makes room for as many files as an archive of the form for more than 4 GiB claims to have, before it
//! finds that they are not there.

use std::collections::HashMap;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use flate2::read::DeflateDecoder;

/// The maximum number of files in an archive. The field for their number has 16 bits.
const MAX_FILES: usize = 1 << 16;
/// The maximum size of the list of files, in bytes. Chosen: 128 bytes a file.
const MAX_LIST: u64 = 8 << 20;
/// The size of the record at the end of an archive without its comment, which has at most 64 KiB.
const END: usize = 22;

/// An archive, with the list of its files in memory.
pub(crate) struct Zip<R> {
    from: R,
    files: HashMap<String, File>,
}

/// What the list says about a file.
struct File {
    /// The offset in the archive of the header before the file's bytes.
    at: u64,
    compressed: u64,
    is_deflated: bool,
}

impl<R: Read + Seek> Zip<R> {
    /// Reads the list of files.
    ///
    /// # Errors
    /// If reading fails, or if these are not the bytes of an archive.
    pub(crate) fn open(mut from: R) -> io::Result<Self> {
        let size = from.seek(SeekFrom::End(0))?;
        let tail = size.min((END + (1 << 16)) as u64);
        from.seek(SeekFrom::Start(size - tail))?;
        let mut end = Vec::new();
        from.by_ref().take(tail).read_to_end(&mut end)?;
        let at = end.windows(END).rposition(|record| record.starts_with(b"PK\x05\x06"));
        let end = at.map(|at| &end[at..]).ok_or_else(|| invalid("no ZIP archive: it has no end"))?;
        let (list, start) = (u64::from(u32_at(end, 12)?), u64::from(u32_at(end, 16)?));
        if list > MAX_LIST {
            return Err(invalid(&format!("an archive whose list of files has more than {MAX_LIST} bytes")));
        }
        from.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        from.by_ref().take(list).read_to_end(&mut bytes)?;
        let mut files = HashMap::new();
        let mut rest = &bytes[..];
        while rest.starts_with(b"PK\x01\x02") && files.len() < MAX_FILES {
            let method = u16_at(rest, 10)?;
            let lengths = [u16_at(rest, 28)?, u16_at(rest, 30)?, u16_at(rest, 32)?].map(usize::from);
            let name = rest.get(46..46 + lengths[0]).ok_or_else(cut)?;
            let is_encrypted = u16_at(rest, 8)? & 1 == 1;
            if matches!(method, 0 | 8) && !is_encrypted {
                let (at, compressed) = (u64::from(u32_at(rest, 42)?), u64::from(u32_at(rest, 20)?));
                let file = File { at, compressed, is_deflated: method == 8 };
                files.insert(String::from_utf8_lossy(name).into_owned(), file);
            }
            rest = rest.get(46 + lengths.iter().sum::<usize>()..).unwrap_or_default();
        }
        Ok(Self { from, files })
    }

    /// The bytes of a file with at most `most` bytes; `None` if there is no such file, or if it is encrypted.
    ///
    /// # Errors
    /// If the file is longer or damaged, or if reading fails.
    pub(crate) fn read(&mut self, name: &str, most: usize) -> io::Result<Option<Vec<u8>>> {
        let Some(File { at, compressed, is_deflated }) = self.files.get(name) else { return Ok(None) };
        self.from.seek(SeekFrom::Start(*at))?;
        let mut header = [0; 30];
        self.from.read_exact(&mut header)?;
        if !header.starts_with(b"PK\x03\x04") {
            return Err(invalid("a file that is not where the archive says"));
        }
        let skipped = i64::from(u16_at(&header, 26)?) + i64::from(u16_at(&header, 28)?);
        self.from.seek(SeekFrom::Current(skipped))?;
        let stored = BufReader::new(self.from.by_ref().take(*compressed));
        let mut bytes = Vec::new();
        let most_read = most as u64 + 1;
        if *is_deflated {
            DeflateDecoder::new(stored).take(most_read).read_to_end(&mut bytes)?;
        } else {
            stored.take(most_read).read_to_end(&mut bytes)?;
        }
        if bytes.len() > most {
            return Err(invalid(&format!("a file of more than {most} bytes in the archive")));
        }
        Ok(Some(bytes))
    }
}

fn u16_at(bytes: &[u8], at: usize) -> io::Result<u16> {
    bytes.get(at..).and_then(|bytes| bytes.first_chunk()).map(|bytes| u16::from_le_bytes(*bytes)).ok_or_else(cut)
}

fn u32_at(bytes: &[u8], at: usize) -> io::Result<u32> {
    bytes.get(at..).and_then(|bytes| bytes.first_chunk()).map(|bytes| u32::from_le_bytes(*bytes)).ok_or_else(cut)
}

fn cut() -> io::Error {
    invalid("an archive that is cut off")
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
