use super::tag::Tag;

/// The alignment of a section: its offset is a multiple of this number of bytes.
///
/// ```
/// use std::io::Write;
/// use furui::HashSpec;
/// use furui::format::{Align, Envelope, EnvelopeWriter, Kind, Tag};
///
/// let mut file = vec![];
/// let mut writer = EnvelopeWriter::new(&mut file, Kind::Run, HashSpec::default())?;
/// writer.section(Tag::new(*b"KEYS"), Align::Page)?;
/// writer.write_all(b"some bytes")?;
/// writer.finish()?;
/// let section = Envelope::open(&file[..], "example")?.sections()[0];
/// assert_eq!(section.offset, u64::from(Align::Page.bytes()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Align {
    /// The offset is a multiple of 64, the size of a cache line.
    Line = 64,
    /// The offset is a multiple of 4096, the size of a page of memory or storage.
    Page = 4096,
}

impl Align {
    /// The number of bytes of which the section's offset in the file is a multiple.
    pub const fn bytes(self) -> u32 {
        self as u32
    }

    pub(super) const fn from_bytes(bytes: u32) -> Option<Self> {
        match bytes {
            64 => Some(Self::Line),
            4096 => Some(Self::Page),
            _ => None,
        }
    }

    /// `offset` rounded up to a multiple of the alignment; `None` if that does not fit into 64 bits.
    pub(super) const fn round_up(self, offset: u64) -> Option<u64> {
        offset.checked_next_multiple_of(self.bytes() as u64)
    }
}

/// A section of a file, as the table at the file's end describes it.
///
/// ```
/// use std::io::Write;
/// use furui::HashSpec;
/// use furui::format::{Align, Envelope, EnvelopeWriter, Kind, Tag};
///
/// let mut file = vec![];
/// let mut writer = EnvelopeWriter::new(&mut file, Kind::Run, HashSpec::default())?;
/// writer.section(Tag::new(*b"KEYS"), Align::Page)?;
/// writer.write_all(b"some bytes")?;
/// writer.finish()?;
/// for section in Envelope::open(&file[..], "example")?.sections() {
///     println!("{} has {} bytes from byte {} on", section.tag, section.length, section.offset);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// What the section holds. The kind of the file gives the letters their meaning.
    pub tag: Tag,
    /// The alignment of the section's offset.
    pub align: Align,
    /// The offset of the section's first byte from the start of the file.
    pub offset: u64,
    /// The length of the section in bytes.
    pub length: u64,
    /// The XXH3-64 of the section's bytes.
    pub checksum: u64,
}
