//! Decodes the members, frames and streams of which compressed data consists, one after the other.

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

/// The maximum window log that zstd decodes on this platform: a window has at most 2 to this power bytes.
const MAX_WINDOW_LOG: u32 = if cfg!(target_pointer_width = "64") { 31 } else { 30 };

/// The maximum memory of a decoder of xz in addition to its dictionary, in bytes.
const XZ_TABLES: u64 = 1 << 20;

/// The maximum decoded size of a block in a legacy frame of lz4, in bytes.
const LEGACY_TEXT: usize = 8 << 20;
/// The maximum compressed size of a block in a legacy frame of lz4, in bytes.
const LEGACY_BLOCK: usize = LEGACY_TEXT + LEGACY_TEXT / 255 + 16;
/// The magic number of a legacy frame of lz4.
const LEGACY: [u8; 4] = *b"\x02\x21\x4C\x18";

/// The last three bytes of the magic number of a skippable frame of zstd or lz4. Its first byte is 0x50 to 0x5F.
const SKIPPED: [u8; 3] = *b"\x2A\x4D\x18";

/// A bzip2 stream without data, except for its first four bytes: `BZh` and the digit of the block size.
const EMPTY_BZIP2: &[u8] = b"\x17\x72\x45\x38\x50\x90\0\0\0\0";

/// A decoder of compressed data, which sends the decoded text to `out`.
pub struct Frames<'a> {
    /// The format of the next frame, and of all later ones.
    pub compression: Compression,
    pub source: &'a mut Source,
    pub out: &'a mut Chunks,
    /// The maximum memory of the window of zstd or of the dictionary of xz, in bytes.
    pub memory: u64,
}

impl Frames<'_> {
    /// Decodes all data. If the reader of the text was dropped, this returns an error, which nobody receives.
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

    /// True if a member of gzip or bzip2 is the last one: nothing or only zeros follow it, as from tapes and some
    /// servers. False if another member follows, which begins with `magic`. Anything else after the member is an error.
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
        // The decoder accepts every window that it supports. The limit of the user, which need not be a power of two,
        // is compared with the window size in the header.
        let set = context.set_parameter(DParameter::WindowLogMax(MAX_WINDOW_LOG));
        set.map_err(|code| io::Error::other(get_error_name(code)))?;
        while self.skip_frames()? {
            let (window, dictionary) = self.zstd_header()?;
            if window > 1 << MAX_WINDOW_LOG {
                return Err(wrong("a frame has a larger window than can be decoded").into());
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

    /// Reads the window size in bytes and the dictionary number from the header of a zstd frame, without consuming the
    /// header. The number is 0 if the frame needs no dictionary.
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
            // The frame is a single segment, so its window is the whole content. A size in two bytes is stored minus
            // 256.
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

    /// Decodes a legacy frame of lz4: blocks, each preceded by its compressed size, up to the end of the input or the
    /// magic number of the next frame.
    fn legacy_lz4(&mut self) -> Result<(), Problem> {
        self.source.consume(LEGACY.len());
        let (mut packed, mut text) = (vec![], vec![0; LEGACY_TEXT]);
        loop {
            let size = match self.source.peek(4)? {
                &[a, b, c, d] => u32::from_le_bytes([a, b, c, d]) as usize,
                [] => return Ok(()),
                _ => return Err(cut()),
            };
            // The number is no size, but the magic number of the next frame, which is larger than any size.
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

    /// Skips the skippable frames that come next. Returns true if another frame follows, and false at the end of the
    /// input.
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

/// The error for bytes after the last frame that do not begin another frame.
fn stray() -> Problem {
    wrong("the bytes that follow are not of this format").into()
}

/// The error for data that ends in the middle of a frame.
fn cut() -> Problem {
    io::Error::from(ErrorKind::UnexpectedEof).into()
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

/// The size in bytes of the dictionary that a block of xz needs. The block's header ends with the properties of the
/// filter LZMA2, padding, and four bytes of a checksum. `None` if the last filter is not LZMA2.
fn dictionary(header: &[u8]) -> Option<u64> {
    let filters = header.get(..header.len().checked_sub(4)?)?;
    let used = filters.iter().rposition(|&byte| byte != 0)? + 1;
    match filters[..used] {
        [.., 0x21, 1, bits @ 0..=40] => Some((2 | u64::from(bits & 1)) << (bits / 2 + 11)),
        _ => None,
    }
}
