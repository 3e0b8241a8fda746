//! Where the thread of a decoder puts the decoded bytes.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::mpsc::{Receiver, Sender};

/// A piece of decoded input.
pub struct Chunk {
    pub bytes: Box<[u8]>,
    /// How many of the bytes are in use.
    pub length: usize,
}

/// Where the thread of a decoder puts the decoded bytes.
pub struct Chunks {
    full: Sender<Chunk>,
    empty: Receiver<Chunk>,
    /// A chunk for the next bytes, if one was left at the end of a frame.
    spare: Option<Chunk>,
    /// A pipe that holds a byte for each chunk whose end was not read. So the reader can wait for a chunk, a signal and
    /// a deadline in one poll. The pipe holds more bytes than there are chunks, so a write never waits.
    bell: File,
}

impl Chunks {
    pub fn new(full: Sender<Chunk>, empty: Receiver<Chunk>, bell: File) -> Self {
        Self { full, empty, spare: None, bell }
    }

    /// Decodes everything that a decoder has. If the reader is gone, this returns an error, which nobody sees.
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
