//! Compressed input, which is decoded by a thread of its own.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Chain, Cursor, ErrorKind, Read, Write};
use std::thread::{self, JoinHandle};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use lz4_flex::frame::FrameDecoder as Lz4Decoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{FrameDecoder as ZstdFrame, StreamingDecoder};

use crate::pipes;

/// How many bytes of compressed input are read at a time.
const READ: usize = 64 << 10;

/// How many decoded bytes are written at a time.
const WRITE: usize = 128 << 10;

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

/// What the first bytes of an input tell.
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
        // An empty file.
        (b"BZh*\x17\x72\x45\x38\x50\x90", Self::Bzip2),
        (b"\x04\x22\x4D\x18", Self::Lz4),
    ];

    /// What an input is that begins with these bytes.
    pub fn of(start: &[u8]) -> Start {
        let mut answer = Start::Plain;
        for (magic, compression) in Self::MAGIC {
            // The level of bzip2 is any digit.
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

/// A thread that decodes an input into a pipe.
pub struct Decoder {
    compression: Compression,
    thread: JoinHandle<io::Result<()>>,
}

/// A compressed input from its beginning on. Its first bytes were read before.
type Source = BufReader<Chain<Cursor<Vec<u8>>, File>>;

impl Decoder {
    /// Starts to decode an input, of which `head` was read already. Returns the pipe from which the decoded bytes are read.
    pub fn start(compression: Compression, head: Vec<u8>, file: File) -> io::Result<(File, Self)> {
        let (reader, writer) = pipes::pipe()?;
        pipes::widen(&writer);
        let source = BufReader::with_capacity(READ, Cursor::new(head).chain(file));
        let thread = thread::Builder::new().name("decode".into()).spawn(move || decode(compression, source, writer))?;
        Ok((reader, Self { compression, thread }))
    }

    /// Waits for the thread, so it must be called after the pipe was read to its end. Returns an error if the input
    /// could not be decoded to its end.
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

fn decode(compression: Compression, source: Source, mut out: File) -> io::Result<()> {
    match compression {
        Compression::Gzip => copy(&mut MultiGzDecoder::new(source), &mut out),
        Compression::Bzip2 => copy(&mut MultiBzDecoder::new(source), &mut out),
        Compression::Xz => copy(&mut XzReader::new_mem_limit(source, true, MAX_WINDOW >> 10), &mut out),
        Compression::Zstd => zstd(source, &mut out),
        Compression::Lz4 => lz4(source, &mut out),
    }
}

/// Copies everything. It is not an error if the reader of the pipe has closed it.
fn copy(decoder: &mut impl Read, out: &mut File) -> io::Result<()> {
    let mut buffer = vec![0; WRITE];
    loop {
        let count = match decoder.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        match out.write_all(&buffer[..count]) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
            written => written?,
        }
    }
}

/// Decodes frames of zstd, and skips the skippable frames of the format.
fn zstd(mut source: Source, out: &mut File) -> io::Result<()> {
    let mut decoder = ZstdFrame::new();
    decoder.set_max_window_size(MAX_WINDOW.into());
    while !source.fill_buf()?.is_empty() {
        let mut frame = match StreamingDecoder::new_with_decoder(&mut source, decoder) {
            Ok(frame) => frame,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                let skipped = io::copy(&mut source.by_ref().take(length.into()), &mut io::sink())?;
                if skipped < u64::from(length) {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
                decoder = ZstdFrame::new();
                decoder.set_max_window_size(MAX_WINDOW.into());
                continue;
            }
            Err(error) => return Err(io::Error::other(error)),
        };
        copy(&mut frame, out)?;
        decoder = frame.into_frame_decoder();
        // The library reads the checksum, but does not compare it.
        if decoder.get_checksum_from_data().is_some_and(|stored| decoder.get_calculated_checksum() != Some(stored)) {
            return Err(io::Error::other("a frame has another checksum than its contents"));
        }
    }
    Ok(())
}

/// Decodes frames of lz4.
fn lz4(mut source: Source, out: &mut File) -> io::Result<()> {
    loop {
        // A decoder expects that no frame has smaller blocks than one before it.
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
}
