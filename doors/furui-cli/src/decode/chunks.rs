//! The chunks of memory into which the thread of a decoder writes decoded bytes.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::mpsc::{Receiver, Sender};

/// A piece of memory that holds a part of the decoded input.
pub struct Chunk {
    pub bytes: Box<[u8]>,
    /// The number of bytes at the beginning of `bytes` that hold decoded input.
    pub length: usize,
}

/// The thread's end of a decoder: it fills chunks with decoded bytes and sends them to the reader.
pub struct Chunks {
    full: Sender<Chunk>,
    empty: Receiver<Chunk>,
    /// An empty chunk that was left over at the end of a frame. The next bytes are written into it.
    spare: Option<Chunk>,
    /// A pipe that holds one byte for each chunk that has not been read to its end, so that the reader can wait for a
    /// chunk, a signal and a deadline in one poll. The pipe has room for more bytes than there are chunks, so a write
    /// never blocks.
    bell: File,
}

impl Chunks {
    pub fn new(full: Sender<Chunk>, empty: Receiver<Chunk>, bell: File) -> Self {
        Self { full, empty, spare: None, bell }
    }

    /// Reads `decoder` to its end, and sends the bytes to the reader in chunks. If the reader was dropped, this returns
    /// an error, which nobody receives.
    pub fn copy(&mut self, decoder: &mut impl Read) -> io::Result<()> {
        loop {
            let mut chunk = match self.spare.take() {
                Some(chunk) => chunk,
                None => self.empty.recv().map_err(io::Error::other)?,
            };
            chunk.length = loop {
                match decoder.read(&mut chunk.bytes) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    read => break read?,
                }
            };
            if chunk.length == 0 {
                self.spare = Some(chunk);
                return Ok(());
            }
            self.full.send(chunk).map_err(io::Error::other)?;
            self.bell.write_all(&[0])?;
        }
    }
}
