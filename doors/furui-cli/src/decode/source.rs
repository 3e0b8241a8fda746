//! A buffered reader of compressed bytes, for a decoder.

use std::fs::File;
use std::io::{self, BufRead, ErrorKind, Read};

use crate::interrupt::Interrupt;

/// The number of bytes of compressed input that one read requests.
const READ: usize = 64 << 10;

/// A compressed input from its beginning on. A read waits until bytes arrive, even if another process has made standard
/// input non-blocking.
pub struct Source {
    file: File,
    /// Bytes that were read from the file. Those from `start` to `end` have not been consumed.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// The number of bytes of the compressed input that were consumed.
    position: u64,
}

impl Source {
    /// Creates an input whose first bytes, `head`, were read from `file` already.
    pub fn new(head: Vec<u8>, file: File) -> Self {
        let (mut buffer, end) = (head, 0);
        let end = end + buffer.len();
        buffer.resize(READ.max(end), 0);
        Self { file, buffer, start: 0, end, position: 0 }
    }

    /// The number of bytes of the input that were consumed.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns the next `count` bytes without consuming them, or fewer if the input ends. The buffer has room for a
    /// header, but not for more.
    pub fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        if self.end - self.start < count {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        while self.end < count && self.read_more()? > 0 {}
        Ok(&self.buffer[self.start..self.end.min(self.start + count)])
    }

    /// Consumes `count` bytes and ignores them. Returns an error if the input ends before.
    pub fn skip(&mut self, mut count: u64) -> io::Result<()> {
        while count > 0 {
            let there = self.fill_buf()?.len().min(usize::try_from(count).unwrap_or(usize::MAX));
            if there == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            self.consume(there);
            count -= there as u64;
        }
        Ok(())
    }

    /// Reads once into the rest of the buffer. Returns 0 at the end of the input.
    fn read_more(&mut self) -> io::Result<usize> {
        loop {
            match self.file.read(&mut self.buffer[self.end..]) {
                Ok(count) => {
                    self.end += count;
                    return Ok(count);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => drop(Interrupt::ignore().wait(&self.file)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl BufRead for Source {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            self.read_more()?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    fn consume(&mut self, count: usize) {
        self.start += count;
        self.position += count as u64;
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}
