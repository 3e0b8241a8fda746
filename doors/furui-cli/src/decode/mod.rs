//! Decodes compressed input in a separate thread.

mod chunks;
mod frames;
mod problem;
mod source;
mod tail;

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use crate::pipes;
use chunks::{Chunk, Chunks};
use frames::Frames;
use problem::Problem;
use source::Source;

/// The number of pieces of memory ([`Chunk`]s) that circulate between a decoder's thread and the reader. All of them
/// together fit into the caches of the processor.
const CHUNKS: usize = 4;
/// The size, in bytes, of a piece of memory into which a decoder's thread writes decoded bytes.
const CHUNK: usize = 256 << 10;

/// The format of compressed data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    Gzip,
    Zstd,
    Xz,
    Bzip2,
    Lz4,
    /// Either zstd or lz4: the input begins with a skippable frame, which both formats have.
    Framed,
}

impl Compression {
    /// The name of the program that decodes the format, for messages.
    pub fn program(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd | Self::Framed => "zstd",
            Self::Xz => "xz",
            Self::Bzip2 => "bzip2",
            Self::Lz4 => "lz4",
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Framed { "zstd or lz4" } else { self.program() })
    }
}

/// A thread that decodes an input into chunks of memory, which circulate between the thread and the reader.
///
/// The thread hands out what it has before it waits for more input, so a chunk may be short.
pub struct Decoder {
    compression: Compression,
    thread: JoinHandle<Result<(), (Compression, u64, Problem)>>,
    /// Receives chunks of decoded bytes from the thread.
    full: Receiver<Chunk>,
    /// Sends chunks that were read back to the thread, which fills them again.
    empty: Sender<Chunk>,
    /// The chunk of decoded bytes that is being read.
    current: Option<Chunk>,
    /// The number of bytes of the current chunk that have been read.
    done: usize,
}

impl Decoder {
    /// Starts a thread that decodes `file`, whose first bytes, `head`, were read already. `memory` is the maximum size
    /// of a window in bytes. Returns a pipe, which poll reports as readable while [`read`](Self::read) would not wait,
    /// and the decoder.
    pub fn start(compression: Compression, memory: u64, head: Vec<u8>, file: File) -> io::Result<(File, Self)> {
        let (rings, bell) = pipes::pipe()?;
        let (fill, full) = mpsc::channel();
        let (empty, refill) = mpsc::channel();
        for _ in 0..CHUNKS {
            let chunk = Chunk { bytes: vec![0; CHUNK].into(), length: 0 };
            empty.send(chunk).map_err(io::Error::other)?;
        }
        let (mut source, mut out) = (Source::new(head, file), Chunks::new(fill, refill, bell));
        let decode = move || {
            let mut frames = Frames { compression, source: &mut source, out: &mut out, memory };
            frames.decode().map_err(|problem| (frames.compression, frames.source.position(), problem))
        };
        let thread = thread::Builder::new().name("decode".into()).spawn(decode)?;
        Ok((rings, Self { compression, thread, full, empty, current: None, done: 0 }))
    }

    /// Copies decoded bytes to `buffer`, which must not be empty, and returns their number, which is 0 at the end.
    /// Waits if no bytes have been decoded yet. `bell` is the pipe that [`start`](Self::start) returned.
    pub fn read(&mut self, buffer: &mut [u8], mut bell: &File) -> io::Result<usize> {
        let chunk = match self.current.take() {
            Some(chunk) => chunk,
            None => match self.full.recv() {
                Ok(chunk) => chunk,
                // The thread has ended.
                Err(_) => return Ok(0),
            },
        };
        let rest = &chunk.bytes[self.done..chunk.length];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.done += count;
        if self.done < chunk.length {
            self.current = Some(chunk);
        } else {
            self.done = 0;
            // The send fails if the thread has ended, because then it needs no chunk.
            let _ = self.empty.send(chunk);
            bell.read_exact(&mut [0])?;
        }
        Ok(count)
    }

    /// Waits for the thread, so it must be called after everything was read. Returns an error if the input could not be
    /// decoded to its end. `file` is the name of the input as a word of the shell, if it is not standard input.
    pub fn finish(self, file: Option<&str>) -> Result<(), String> {
        let failed = |_| Err((self.compression, 0, io::Error::other("the decoder failed").into()));
        let decoded = self.thread.join().unwrap_or_else(failed);
        decoded.map_err(|(compression, position, problem)| problem.describe(compression, position, file))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_few_chunks_carry_an_input_of_any_length() {
        let text: Vec<u8> = (0..1_000_000).flat_map(|line: u32| format!("{line}\n").into_bytes()).collect();
        assert!(text.len() > 6 * CHUNKS * CHUNK);
        let path = std::env::temp_dir().join(format!("furui-decode-{}", std::process::id()));
        let file = File::create(&path).expect("a file for the test");
        let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        encoder.write_all(&text).and_then(|()| encoder.finish()).expect("it can be written");
        let (bell, mut decoder) =
            Decoder::start(Compression::Gzip, 0, vec![], File::open(&path).expect("it is there")).expect("a thread");
        std::fs::remove_file(&path).expect("it is there");
        let mut chunks = std::collections::HashSet::new();
        let (mut decoded, mut buffer) = (vec![], vec![0; 100_000]);
        loop {
            let count = decoder.read(&mut buffer, &bell).expect("it can be read");
            chunks.extend(decoder.current.iter().map(|chunk| chunk.bytes.as_ptr()));
            decoded.extend_from_slice(&buffer[..count]);
            if count == 0 {
                break;
            }
        }
        assert!(decoded == text && (1..=CHUNKS).contains(&chunks.len()), "{} chunks", chunks.len());
        decoder.finish(None).expect("the data is whole");
    }
}
