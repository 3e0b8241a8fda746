//! Recognises the contents of an input by its first bytes.

use crate::decode::Compression;
use crate::say::quote::with;

/// The number of first bytes of an input that are examined to recognise a format, unless a line or the input ends
/// earlier.
const LOOK: usize = 16;

/// The number of first bytes of an input that are searched for the NUL pattern of UTF-16 or UTF-32, if it has so many.
const PATTERN: usize = 512;

/// The contents of an input, as far as its first bytes show them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    Compressed(Compression),
    Foreign(Foreign),
    Text,
    /// More bytes are needed for a decision.
    Short,
}

/// Contents that are not text in UTF-8 or a single-byte encoding, but that another program can convert to text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    Zip,
    SevenZip,
    Rar,
    Tar,
    Lzma,
    Lzip,
    Compress,
    Brotli,
    Parquet,
    /// A text in an encoding of this name, whose characters take at least two bytes each.
    Encoded(&'static str),
}

/// The magic number of a format: the bytes with which its files begin.
struct Magic {
    bytes: &'static [u8],
    /// The index, in `bytes`, of a byte that may have any value from the one in `bytes` up to `to`.
    at: usize,
    to: u8,
}

impl Magic {
    const fn new(bytes: &'static [u8]) -> Self {
        Self { bytes, at: 0, to: bytes[0] }
    }

    const fn up_to(bytes: &'static [u8], at: usize, to: u8) -> Self {
        Self { bytes, at, to }
    }

    /// True if `start` begins with the magic number, or is a beginning of it.
    fn agrees(&self, start: &[u8]) -> bool {
        let fits =
            |(index, (&expected, &byte))| byte == expected || index == self.at && (expected..=self.to).contains(&byte);
        self.bytes.iter().zip(start).enumerate().all(fits)
    }
}

/// The magic numbers of all formats. No text is likely to begin with them: they have bytes that do not occur in texts,
/// or, for bzip2, are ten characters that make no sense in a text.
const MAGIC: [(Magic, Contents); 21] = [
    (Magic::new(b"\x1F\x8B\x08"), Contents::Compressed(Compression::Gzip)),
    (Magic::new(b"\x28\xB5\x2F\xFD"), Contents::Compressed(Compression::Zstd)),
    (Magic::new(b"\xFD7zXZ\x00"), Contents::Compressed(Compression::Xz)),
    (Magic::up_to(b"BZh1\x31\x41\x59\x26\x53\x59", 3, b'9'), Contents::Compressed(Compression::Bzip2)),
    // The compressed form of an empty file.
    (Magic::up_to(b"BZh1\x17\x72\x45\x38\x50\x90", 3, b'9'), Contents::Compressed(Compression::Bzip2)),
    (Magic::new(b"\x04\x22\x4D\x18"), Contents::Compressed(Compression::Lz4)),
    // The legacy frame format of lz4, which `lz4 -l` still writes.
    (Magic::new(b"\x02\x21\x4C\x18"), Contents::Compressed(Compression::Lz4)),
    // A skippable frame, which may precede any frame of zstd or lz4.
    (Magic::up_to(b"\x50\x2A\x4D\x18", 0, 0x5F), Contents::Compressed(Compression::Framed)),
    (Magic::new(b"PK\x03\x04"), Contents::Foreign(Foreign::Zip)),
    // A zip archive without files, and a part of a split archive.
    (Magic::new(b"PK\x05\x06"), Contents::Foreign(Foreign::Zip)),
    (Magic::new(b"PK\x07\x08"), Contents::Foreign(Foreign::Zip)),
    (Magic::new(b"7z\xBC\xAF\x27\x1C"), Contents::Foreign(Foreign::SevenZip)),
    (Magic::new(b"Rar!\x1A\x07"), Contents::Foreign(Foreign::Rar)),
    // The format .lzma has no magic number. These are the usual properties, and a dictionary size that is a multiple of
    // 64 KiB.
    (Magic::new(b"\x5D\x00\x00"), Contents::Foreign(Foreign::Lzma)),
    (Magic::new(b"LZIP\x01"), Contents::Foreign(Foreign::Lzip)),
    // The third byte holds the maximum number of bits of a code, from 9 to 16.
    (Magic::up_to(b"\x1F\x9D\x89", 2, 0x90), Contents::Foreign(Foreign::Compress)),
    (Magic::new(b"PAR1\x15"), Contents::Foreign(Foreign::Parquet)),
    // Byte order marks. That of UTF-16 begins that of UTF-32.
    (Magic::new(b"\xFF\xFE\x00\x00"), Contents::Foreign(Foreign::Encoded("UTF-32"))),
    (Magic::new(b"\x00\x00\xFE\xFF"), Contents::Foreign(Foreign::Encoded("UTF-32"))),
    (Magic::new(b"\xFF\xFE"), Contents::Foreign(Foreign::Encoded("UTF-16"))),
    (Magic::new(b"\xFE\xFF"), Contents::Foreign(Foreign::Encoded("UTF-16"))),
];

/// The byte range of the magic number in the first header of a tar archive.
const TAR: std::ops::Range<usize> = 257..262;

impl Contents {
    /// Recognises the contents of an input by its first bytes, `start`. `is_all` is true if no more bytes follow. Once
    /// `start` contains a `separator`, the answer is never [`Short`](Self::Short), because the line must not wait; if
    /// the separator is NUL, no encoding with NULs is recognised. `is_br` is true if the name of the input ends in .br,
    /// because brotli has no magic number.
    pub fn of(start: &[u8], is_all: bool, separator: u8, is_br: bool) -> Self {
        let may_wait = !is_all && !start.contains(&separator);
        // If lines end in NUL, bytes that look like UTF-16, UTF-32 or .lzma are lines.
        let is_nuls = |found: &Self| matches!(found, Self::Foreign(Foreign::Encoded(_) | Foreign::Lzma));
        for (magic, contents) in MAGIC.iter().filter(|(_, found)| separator != 0 || !is_nuls(found)) {
            match magic.agrees(start) {
                true if start.len() >= magic.bytes.len() => return *contents,
                true if may_wait => return Self::Short,
                _ => {}
            }
        }
        if may_wait && start.len() < LOOK {
            return Self::Short;
        }
        let first = &start[..start.len().min(PATTERN)];
        let foreign = match first {
            _ if first.get(TAR).is_some_and(|mark| mark == b"ustar") => Some(Foreign::Tar),
            _ if is_br && !is_text(first) => Some(Foreign::Brotli),
            _ if separator == 0 => None,
            _ => encoding(first).map(Foreign::Encoded),
        };
        foreign.map_or(Self::Text, Self::Foreign)
    }
}

impl Foreign {
    /// Describes the contents for a message.
    pub fn description(self) -> String {
        match self {
            Self::Zip => "a zip archive".into(),
            Self::SevenZip => "a 7z archive".into(),
            Self::Rar => "a rar archive".into(),
            Self::Tar => "a tar archive".into(),
            Self::Lzma => "data of lzma, the format before xz".into(),
            Self::Lzip => "data of lzip".into(),
            Self::Compress => "data of compress (.Z)".into(),
            Self::Brotli => "data of brotli".into(),
            Self::Parquet => "a Parquet file".into(),
            Self::Encoded(name) => format!("text in {name}"),
        }
    }

    /// Returns a shell command that prints the contents as text. They are in `file`, which is a word of the shell, or
    /// in standard input if `file` is `None`.
    pub fn command(self, file: Option<&str>) -> String {
        let name = file.unwrap_or("FILE");
        let command = match self {
            Self::Zip if file.is_none() => "funzip",
            Self::Zip => "unzip -p",
            // These programs read only files.
            Self::SevenZip => return format!("7z x -so {name}"),
            Self::Rar => return format!("unrar p -inul {name}"),
            Self::Parquet => return format!("duckdb -csv -c \"FROM '{}'\"", name.trim_matches('\'')),
            Self::Tar if file.is_none() => "tar -xO",
            Self::Tar => "tar -xOf",
            Self::Lzma => "xz --format=lzma -dc",
            Self::Lzip => "lzip -dc",
            Self::Compress => "zcat",
            Self::Brotli => "brotli -dc",
            Self::Encoded(encoding) => return with(&format!("iconv -f {encoding} -t UTF-8"), file),
        };
        with(command, file)
    }
}

/// True if these bytes could be the beginning of a text in UTF-8 or an encoding of single bytes such as Latin-1.
fn is_text(bytes: &[u8]) -> bool {
    let is_utf8 = str::from_utf8(bytes).map_or_else(|error| error.error_len().is_none(), |_| true);
    let is_control =
        |byte: u8| byte < b' ' && !b"\t\n\x0C\r\x1B".contains(&byte) || !is_utf8 && (0x7F..0xA0).contains(&byte);
    !bytes.iter().any(|&byte| is_control(byte))
}

/// Recognises the encoding of a text without a byte order mark in which most characters are ASCII. All but one of the
/// bytes of such a character are NUL, always at the same places. `None` if the text is in none of these encodings.
fn encoding(start: &[u8]) -> Option<&'static str> {
    let names = [("UTF-32LE", 4, 0), ("UTF-32BE", 4, 3), ("UTF-16LE", 2, 0), ("UTF-16BE", 2, 1)];
    let fits = |&(_, size, low): &(_, usize, usize)| {
        let (mut ascii, mut others) = (0, 0);
        for unit in start.chunks_exact(size) {
            let is_ascii = matches!(unit[low], b'\t' | b'\n' | b'\r' | b' '..=b'~')
                && unit.iter().enumerate().all(|(index, &byte)| index == low || byte == 0);
            if is_ascii { ascii += 1 } else { others += 1 }
        }
        // If there are only a few such characters, all others must fit the pattern, too. A number of UTF-32 is at most
        // 0x10FFFF.
        let is_number = |unit: &[u8]| unit[3 - low] == 0 && unit[if low == 0 { 2 } else { 1 }] <= 0x10;
        let limit = if ascii < 8 { 0 } else { ascii / 4 };
        ascii >= 2 && others <= limit && (size == 2 || start.chunks_exact(4).all(is_number))
    };
    names.iter().find(|name| fits(name)).map(|&(name, ..)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(start: &[u8]) -> Contents {
        Contents::of(start, false, b'\n', false)
    }

    #[test]
    fn formats_are_known_by_their_first_bytes_and_no_sooner() {
        for (magic, contents) in MAGIC {
            for byte in magic.bytes[magic.at]..=magic.to {
                let mut start = magic.bytes.to_vec();
                start[magic.at] = byte;
                let whole = [&start[..], b"the rest of it\n"].concat();
                assert_eq!(of(&whole), contents);
                let is_known = |length| of(&whole[..length]) != Contents::Short;
                let known = (0..).find(|&length| is_known(length)).expect("it is known in the end");
                // The byte order mark of UTF-16 may be the beginning of the one of UTF-32.
                assert!(known == start.len() || start == b"\xFF\xFE" && known == 3, "{start:?}: {known}");
            }
        }
        for plain in
            ["BZh is no format", "BZh9 neither\n", "a\n", "\n", "(\n", "\u{1F}\n", "PK is a country\n", "PK\n", "7z\n"]
        {
            assert_eq!(of(plain.as_bytes()), Contents::Text, "{plain:?}");
            assert_eq!(Contents::of(plain.trim_end().as_bytes(), true, b'\n', false), Contents::Text, "{plain:?}");
        }
    }

    #[test]
    fn encodings_are_known_by_their_nuls_and_nul_data_is_not_taken_for_them() {
        let units = |text: &str, size: usize, is_big: bool| -> Vec<u8> {
            let unit = |c: char| {
                let mut unit = u32::from(c).to_le_bytes()[..size].to_vec();
                if is_big {
                    unit.reverse();
                }
                unit
            };
            text.chars().flat_map(unit).collect()
        };
        let names = [("UTF-16LE", 2, false), ("UTF-16BE", 2, true), ("UTF-32LE", 4, false), ("UTF-32BE", 4, true)];
        for (name, size, is_big) in names {
            for text in ["a\n", "id,name\n1,Zoë\n2,Łukasz\n3,李\n", &"a long line without an end ".repeat(99)] {
                let bytes = units(text, size, is_big);
                let found = Contents::of(&bytes, true, b'\n', false);
                assert_eq!(found, Contents::Foreign(Foreign::Encoded(name)), "{text:?}");
                assert_eq!(Contents::of(&bytes, true, 0, false), Contents::Text, "{text:?}");
            }
        }
        let binary: [&[u8]; 7] = [
            b"",
            b"a\0",
            b"abc\0",
            b"a\0b\0c\0de\0f\0",
            b"./file\0./other\0",
            &[0; 100],
            b"\x01\0\x02\0\x03\0\x04\0\x05\0",
        ];
        for bytes in binary {
            assert_eq!(Contents::of(bytes, true, b'\n', false), Contents::Text, "{bytes:?}");
        }
    }

    #[test]
    fn a_name_tells_brotli_only_if_the_bytes_are_no_text() {
        let of = |start: &[u8]| Contents::of(start, true, b'\n', true);
        assert_eq!(of(b"\x0B\x02\x80hello\n\x03"), Contents::Foreign(Foreign::Brotli));
        assert_eq!(of("endereço.com.br\n".as_bytes()), Contents::Text);
        assert_eq!(of(b"endere\xE7o.com.br\n"), Contents::Text);
    }
}
