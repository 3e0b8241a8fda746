//! The members, frames and streams of compressed data, one after the other.

use std::io::{self, BufRead, ErrorKind, Read};

use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;
use lz4_flex::frame::FrameDecoder as Lz4Decoder;
use lzma_rust2::XzReader;
use zstd::Decoder as ZstdDecoder;
use zstd::zstd_safe::{DCtx, DParameter, get_error_name};

use super::chunks::Chunks;
use super::problem::Problem;
use super::source::Source;
use super::{Compression, tail::Tail};

/// The greatest logarithm of a window that zstd decodes.
const MAX_WINDOW_LOG: u32 = if cfg!(target_pointer_width = "64") { 31 } else { 30 };

/// The memory of a decoder of xz besides its dictionary, at most.
const XZ_TABLES: u64 = 1 << 20;

/// How many bytes of text a block of a legacy frame of lz4 has, at most.
const LEGACY_TEXT: usize = 8 << 20;
/// How many bytes such a block takes, at most.
const LEGACY_BLOCK: usize = LEGACY_TEXT + LEGACY_TEXT / 255 + 16;
/// The first bytes of a legacy frame.
const LEGACY: [u8; 4] = *b"\x02\x21\x4C\x18";

/// What follows the first byte of a frame without data.
const SKIPPED: [u8; 3] = *b"\x2A\x4D\x18";

/// A whole stream of bzip2 without data, after the four bytes in which the size of blocks is.
const EMPTY_BZIP2: &[u8] = b"\x17\x72\x45\x38\x50\x90\0\0\0\0";

/// Compressed data and where its text goes.
pub struct Frames<'a> {
    /// The format of the next frame, and of all after it.
    pub compression: Compression,
    pub source: &'a mut Source,
    pub out: &'a mut Chunks,
    /// The memory that a decoder of xz or zstd may take for its window.
    pub memory: u64,
}

impl Frames<'_> {
    /// Decodes everything. If the reader of the text is gone, this returns an error, which nobody sees.
    pub fn decode(&mut self) -> Result<(), Problem> {
        match self.compression {
            Compression::Gzip => self.gzip(),
            Compression::Bzip2 => self.bzip2(),
            Compression::Xz => self.xz(),
            Compression::Zstd => self.zstd(),
            Compression::Lz4 => self.lz4(),
            Compression::Framed => {
                if !self.skip_frames()? {
                    return Ok(());
                }
                self.compression = match self.source.peek(4)? {
                    b"\x28\xB5\x2F\xFD" => Compression::Zstd,
                    b"\x04\x22\x4D\x18" | b"\x02\x21\x4C\x18" => Compression::Lz4,
                    _ => return Err(stray()),
                };
                self.decode()
            }
        }
    }

    fn gzip(&mut self) -> Result<(), Problem> {
        loop {
            self.out.copy(&mut GzDecoder::new(&mut *self.source))?;
            if self.is_at_end(b"\x1F\x8B")? {
                return Ok(());
            }
        }
    }

    fn bzip2(&mut self) -> Result<(), Problem> {
        loop {
            // A new decoder takes a hundred times as long as this comparison, and there are files of many empty
            // streams.
            let start = self.source.peek(4 + EMPTY_BZIP2.len())?;
            if matches!(start, [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..] if rest == EMPTY_BZIP2) {
                self.source.consume(4 + EMPTY_BZIP2.len());
            } else {
                self.out.copy(&mut BzDecoder::new(&mut *self.source))?;
            }
            if self.is_at_end(b"BZh")? {
                return Ok(());
            }
        }
    }

    /// True if nothing or only zeros follow a member of gzip or bzip2, as from tapes and some servers; false if another
    /// member follows, which begins with `magic`.
    fn is_at_end(&mut self, magic: &[u8]) -> Result<bool, Problem> {
        let next = self.source.peek(magic.len())?;
        if next.first().is_some_and(|&byte| byte != 0) {
            return if magic.starts_with(next) { Ok(false) } else { Err(stray()) };
        }
        loop {
            let bytes = self.source.fill_buf()?;
            let count = bytes.len();
            match bytes.iter().position(|&byte| byte != 0) {
                _ if count == 0 => return Ok(true),
                None => self.source.consume(count),
                Some(zeros) => {
                    self.source.consume(zeros);
                    return Err(stray());
                }
            }
        }
    }

    fn xz(&mut self) -> Result<(), Problem> {
        let limit = u32::try_from((self.memory.saturating_add(XZ_TABLES)) >> 10).unwrap_or(u32::MAX);
        let mut source = Tail::new(&mut *self.source);
        let copied = self.out.copy(&mut XzReader::new_mem_limit(&mut source, true, limit));
        copied.map_err(|error| match error.kind() {
            ErrorKind::OutOfMemory => Problem::Window { window: dictionary(source.last()), allowed: self.memory },
            _ => error.into(),
        })
    }

    fn zstd(&mut self) -> Result<(), Problem> {
        let mut context = DCtx::try_create().ok_or(ErrorKind::OutOfMemory).map_err(io::Error::from)?;
        // The windows are compared with a limit that need not be a power of two.
        let set = context.set_parameter(DParameter::WindowLogMax(MAX_WINDOW_LOG));
        set.map_err(|code| io::Error::other(get_error_name(code)))?;
        while self.skip_frames()? {
            let (window, dictionary) = self.zstd_header()?;
            if window > 1 << MAX_WINDOW_LOG {
                return Err(wrong("a frame with a window larger than any that can be decoded").into());
            }
            if window > self.memory {
                return Err(Problem::Window { window: Some(window), allowed: self.memory });
            }
            if dictionary != 0 {
                return Err(Problem::Dictionary(dictionary));
            }
            self.out.copy(&mut ZstdDecoder::with_context(&mut *self.source, &mut context).single_frame())?;
        }
        Ok(())
    }

    /// Reads, and does not take, the size of the window and the number of the dictionary from the header of a frame of
    /// zstd. The number is 0 if there is none.
    fn zstd_header(&mut self) -> Result<(u64, u32), Problem> {
        let start = self.source.peek(5)?;
        if !start.starts_with(b"\x28\xB5\x2F\xFD") {
            return Err(stray());
        }
        let Some(&descriptor) = start.get(4) else { return Err(cut()) };
        let is_single = descriptor & 0x20 != 0;
        let id = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let content = [usize::from(is_single), 2, 4, 8][usize::from(descriptor >> 6)];
        let length = 5 + usize::from(!is_single) + id + content;
        let header = self.source.peek(length)?;
        if header.len() < length {
            return Err(cut());
        }
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
        let dictionary = number(&header[length - content - id..length - content]) as u32;
        let window = if is_single {
            // The window is the whole content. A size of two bytes begins at 256.
            number(&header[length - content..]) + if content == 2 { 256 } else { 0 }
        } else {
            let base = 1 << (10 + (header[5] >> 3));
            base + base / 8 * u64::from(header[5] & 7)
        };
        Ok((window, dictionary))
    }

    fn lz4(&mut self) -> Result<(), Problem> {
        while self.skip_frames()? {
            match self.source.peek(4)? {
                [0x04, 0x22, 0x4D, 0x18] => {}
                start if start == LEGACY => {
                    self.legacy_lz4()?;
                    continue;
                }
                _ => return Err(stray()),
            }
            // Each frame gets a new decoder, because a decoder expects that no frame has smaller blocks than an earlier
            // one.
            let mut source = Tail::new(&mut *self.source);
            self.out.copy(&mut Lz4Decoder::new(&mut source))?;
            // The decoder takes the end of the input between two blocks for the end of the frame.
            if source.is_at_end() {
                return Err(cut());
            }
        }
        Ok(())
    }

    /// Decodes a frame of lz4's first versions: blocks, each after its size, up to the end of the input or another
    /// frame.
    fn legacy_lz4(&mut self) -> Result<(), Problem> {
        self.source.consume(LEGACY.len());
        let (mut packed, mut text) = (vec![], vec![0; LEGACY_TEXT]);
        loop {
            let size = match self.source.peek(4)? {
                &[a, b, c, d] => u32::from_le_bytes([a, b, c, d]) as usize,
                [] => return Ok(()),
                _ => return Err(cut()),
            };
            // The first bytes of a frame are a greater number than any size.
            if size > LEGACY_BLOCK {
                return Ok(());
            }
            self.source.consume(4);
            packed.resize(size, 0);
            self.source.read_exact(&mut packed)?;
            let length =
                lz4_flex::block::decompress_into(&packed, &mut text).map_err(|error| wrong(&error.to_string()))?;
            self.out.copy(&mut &text[..length])?;
        }
    }

    /// Takes the frames without data that come next, and returns true if another frame follows.
    fn skip_frames(&mut self) -> Result<bool, Problem> {
        loop {
            match self.source.peek(4)? {
                [] => return Ok(false),
                [0x50..=0x5F, rest @ ..] if *rest == SKIPPED => {}
                _ => return Ok(true),
            }
            self.source.consume(4);
            let mut size = [0; 4];
            self.source.read_exact(&mut size)?;
            self.source.skip(u32::from_le_bytes(size).into())?;
        }
    }
}

/// The error of bytes after the last frame.
fn stray() -> Problem {
    wrong("what follows does not belong to it").into()
}

/// The error of data that ends too early.
fn cut() -> Problem {
    io::Error::from(ErrorKind::UnexpectedEof).into()
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

/// The size of the dictionary that a block of xz needs, by the last bytes of the block's header: the filter LZMA2,
/// padding, and four bytes of a checksum. `None` if another filter is the last.
fn dictionary(header: &[u8]) -> Option<u64> {
    let filters = header.get(..header.len().checked_sub(4)?)?;
    let used = filters.iter().rposition(|&byte| byte != 0)? + 1;
    match filters[..used] {
        [.., 0x21, 1, bits @ 0..=40] => Some((2 | u64::from(bits & 1)) << (bits / 2 + 11)),
        _ => None,
    }
}
