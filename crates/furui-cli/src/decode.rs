//! Compressed input, which is decoded by a thread of its own.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Chain, Cursor, ErrorKind, Read, Write};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use lz4_flex::frame::FrameDecoder as Lz4Decoder;
use lzma_rust2::XzReader;
use zstd::Decoder as ZstdDecoder;

use crate::interrupt::Interrupt;
use crate::pipes;

/// How many bytes of compressed input are read at a time.
const READ: usize = 64 << 10;

/// The number of chunks of a decoder. All of them stay in the caches of the processor.
const CHUNKS: usize = 4;
/// The size of a chunk in bytes.
const CHUNK: usize = 256 << 10;

/// The memory that a decoder of xz or zstd may take for its window. Files that were made with the usual options take at most 65 MiB.
const MAX_WINDOW: u32 = 256 << 20;

/// The format of compressed data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    Gzip,
    Zstd,
    Xz,
    Bzip2,
    Lz4,
}

/// What the first bytes of an input tell about its compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    Compressed(Compression),
    Plain,
    /// More bytes are needed.
    Short,
}

impl Compression {
    /// The bytes with which files of each format begin; `*` stands for any digit. No text is likely to begin with them:
    /// they have bytes that do not occur in texts, or, for bzip2, are ten characters that make no sense in a text.
    const MAGIC: [(&'static [u8], Self); 6] = [
        (b"\x1F\x8B\x08", Self::Gzip),
        (b"\x28\xB5\x2F\xFD", Self::Zstd),
        (b"\xFD7zXZ\x00", Self::Xz),
        (b"BZh*\x31\x41\x59\x26\x53\x59", Self::Bzip2),
        // The compressed form of an empty file.
        (b"BZh*\x17\x72\x45\x38\x50\x90", Self::Bzip2),
        (b"\x04\x22\x4D\x18", Self::Lz4),
    ];

    /// Tells from the first bytes of an input whether and how it is compressed.
    pub fn of(start: &[u8]) -> Start {
        let mut answer = Start::Plain;
        for (magic, compression) in Self::MAGIC {
            // `*` stands for the compression level of bzip2, which is any digit.
            if magic
                .iter()
                .zip(start)
                .all(|(&expected, &byte)| expected == byte || expected == b'*' && byte.is_ascii_digit())
            {
                if start.len() >= magic.len() {
                    return Start::Compressed(compression);
                }
                answer = Start::Short;
            }
        }
        answer
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
            Self::Bzip2 => "bzip2",
            Self::Lz4 => "lz4",
        })
    }
}

/// A thread that decodes an input into chunks of memory, which circulate between the thread and the reader.
///
/// The thread hands out what it has before it waits for more input, so a chunk may be short.
pub struct Decoder {
    compression: Compression,
    thread: JoinHandle<io::Result<()>>,
    /// Chunks of decoded bytes.
    full: Receiver<Chunk>,
    /// Chunks that were read, for the thread to fill again.
    empty: Sender<Chunk>,
    /// The chunk that is being read.
    current: Option<Chunk>,
    /// How many bytes of the current chunk were read.
    done: usize,
}

/// A piece of decoded input.
struct Chunk {
    bytes: Box<[u8]>,
    /// How many of the bytes are in use.
    length: usize,
}

/// Where the thread of a decoder puts the decoded bytes.
struct Chunks {
    full: Sender<Chunk>,
    empty: Receiver<Chunk>,
    /// A chunk for the next bytes, if one was left at the end of a frame.
    spare: Option<Chunk>,
    /// A pipe that holds a byte for each chunk whose end was not read. So the reader can wait for a chunk, a signal and a deadline
    /// in one poll. The pipe holds more bytes than there are chunks, so a write never waits.
    bell: File,
}

/// A compressed input from its beginning on. Its first bytes were read before.
type Source = BufReader<Chain<Cursor<Vec<u8>>, Waiting>>;

/// A file whose reads wait, even if another process has made standard input non-blocking.
struct Waiting(File);

impl Read for Waiting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => Interrupt::ignore().wait(&self.0),
                read => return read,
            };
        }
    }
}

impl Decoder {
    /// Starts to decode an input, whose first bytes, `head`, were read already. Also returns a pipe, which poll reports
    /// as readable while [`read`](Self::read) would not wait.
    pub fn start(compression: Compression, head: Vec<u8>, file: File) -> io::Result<(File, Self)> {
        let (rings, bell) = pipes::pipe()?;
        let (fill, full) = mpsc::channel();
        let (empty, refill) = mpsc::channel();
        for _ in 0..CHUNKS {
            let chunk = Chunk { bytes: vec![0; CHUNK].into(), length: 0 };
            empty.send(chunk).map_err(io::Error::other)?;
        }
        let source = BufReader::with_capacity(READ, Cursor::new(head).chain(Waiting(file)));
        let chunks = Chunks { full: fill, empty: refill, spare: None, bell };
        let thread = thread::Builder::new().name("decode".into()).spawn(move || decode(compression, source, chunks))?;
        Ok((rings, Self { compression, thread, full, empty, current: None, done: 0 }))
    }

    /// Copies decoded bytes to `buffer`, which is not empty, and returns how many: 0 at the end. Waits if there are none. `bell` is the
    /// pipe that [`start`](Self::start) returned.
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
            // The send fails if the thread has ended, which then needs no chunk.
            let _ = self.empty.send(chunk);
            bell.read_exact(&mut [0])?;
        }
        Ok(count)
    }

    /// Waits for the thread, so it must be called after everything was read. Returns an error if the input could not be decoded to
    /// its end.
    pub fn finish(self) -> Result<(), String> {
        let decoded = self.thread.join().unwrap_or_else(|_| Err(io::Error::other("the decoder failed")));
        decoded.map_err(|error| {
            format!(
                "damaged {} data, of which no more can be decoded: {error}; with --no-decompress the bytes are read as they are",
                self.compression
            )
        })
    }
}

fn decode(compression: Compression, source: Source, mut out: Chunks) -> io::Result<()> {
    match compression {
        Compression::Gzip => copy(&mut MultiGzDecoder::new(source), &mut out),
        Compression::Bzip2 => copy(&mut MultiBzDecoder::new(source), &mut out),
        Compression::Xz => copy(&mut XzReader::new_mem_limit(source, true, MAX_WINDOW >> 10), &mut out),
        Compression::Zstd => {
            let mut decoder = ZstdDecoder::with_buffer(source)?;
            decoder.window_log_max(MAX_WINDOW.ilog2())?;
            copy(&mut decoder, &mut out)
        }
        Compression::Lz4 => lz4(source, &mut out),
    }
}

/// Decodes everything into chunks for the reader. If the reader is gone, this returns an error, which nobody sees.
fn copy(decoder: &mut impl Read, out: &mut Chunks) -> io::Result<()> {
    loop {
        let mut chunk = match out.spare.take() {
            Some(chunk) => chunk,
            None => out.empty.recv().map_err(io::Error::other)?,
        };
        chunk.length = loop {
            match decoder.read(&mut chunk.bytes) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        if chunk.length == 0 {
            out.spare = Some(chunk);
            return Ok(());
        }
        out.full.send(chunk).map_err(io::Error::other)?;
        out.bell.write_all(&[0])?;
    }
}

/// Decodes frames of lz4.
fn lz4(mut source: Source, out: &mut Chunks) -> io::Result<()> {
    loop {
        // Each frame gets a new decoder, because a decoder expects that no frame has smaller blocks than an earlier
        // one.
        copy(&mut Lz4Decoder::new(&mut source), out)?;
        if source.fill_buf()?.is_empty() {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_known_by_their_first_bytes_and_no_sooner() {
        for (magic, compression) in Compression::MAGIC {
            let start: Vec<u8> = magic.iter().map(|&byte| if byte == b'*' { b'9' } else { byte }).collect();
            assert_eq!(Compression::of(&[&start[..], b"rest"].concat()), Start::Compressed(compression));
            assert!((0..start.len()).all(|length| Compression::of(&start[..length]) == Start::Short));
        }
        for plain in ["BZh is no format", "BZh9 neither", "a", "\n", "(", "\u{1F}"] {
            let answer = Compression::of(plain.as_bytes());
            assert!(answer == Start::Plain || plain.len() < 2, "{plain:?}: {answer:?}");
        }
    }

    #[test]
    fn a_few_chunks_carry_an_input_of_any_length() {
        let text: Vec<u8> = (0..1_000_000).flat_map(|line: u32| format!("{line}\n").into_bytes()).collect();
        assert!(text.len() > 6 * CHUNKS * CHUNK);
        let path = std::env::temp_dir().join(format!("furui-decode-{}", std::process::id()));
        let file = File::create(&path).expect("a file for the test");
        let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        encoder.write_all(&text).and_then(|()| encoder.finish()).expect("it can be written");
        let (bell, mut decoder) =
            Decoder::start(Compression::Gzip, vec![], File::open(&path).expect("it is there")).expect("a thread");
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
        decoder.finish().expect("the data is whole");
    }
}
