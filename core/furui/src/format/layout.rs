//! The constants of the envelope, as docs/format.md defines them.

use std::fmt;
use std::ops::Range;

use super::printable::Printable;

/// The format version that is written, and the newest that is read.
pub const VERSION: u16 = 1;

/// The maximum number of sections that a file may have. It bounds the memory that an invalid envelope takes.
pub const MAX_SECTIONS: usize = 64;

/// The first bytes of every file.
pub const MAGIC: [u8; 8] = *b"FURUI\r\n\x1a";
/// The last bytes of every file.
pub const END_MAGIC: [u8; 8] = *b"FURUIEND";

pub(super) const HEADER_LEN: usize = 64;
pub(super) const HEADER_VERSION: usize = 8;
pub(super) const HEADER_KIND: usize = 10;
pub(super) const HEADER_ALGORITHM: usize = 12;
pub(super) const HEADER_SEED_PLACE: usize = 14;
pub(super) const HEADER_SEED: usize = 16;
pub(super) const HEADER_RESERVED: Range<usize> = 24..56;
pub(super) const HEADER_CHECKSUM: usize = 56;

pub(super) const ENTRY_LEN: usize = 32;
pub(super) const ENTRY_TAG: usize = 0;
pub(super) const ENTRY_ALIGN: usize = 4;
pub(super) const ENTRY_OFFSET: usize = 8;
pub(super) const ENTRY_LENGTH: usize = 16;
pub(super) const ENTRY_CHECKSUM: usize = 24;

pub(super) const FOOTER_LEN: usize = 64;
pub(super) const FOOTER_TABLE: usize = 0;
pub(super) const FOOTER_COUNT: usize = 8;
pub(super) const FOOTER_RESERVED: [Range<usize>; 2] = [12..16, 32..48];
pub(super) const FOOTER_FILE_LEN: usize = 16;
pub(super) const FOOTER_SUMS: usize = 24;
pub(super) const FOOTER_CHECKSUM: usize = 48;
pub(super) const FOOTER_END_MAGIC: usize = 56;

/// The tag of the section of a [`KeyForm`](crate::KeyForm). In a manifest or a filter, only [`SUMS`] may follow it.
pub(super) const FORM: Tag = Tag::new(*b"FORM");
/// The tag of the last section of files that [have](Kind::has_sums) checksums of their regions.
pub(super) const SUMS: Tag = Tag::new(*b"SUMS");

/// The kind of a furui file.
///
/// ```
/// use furui::filter::{AnyFilter, Bloom};
/// use furui::format::{Envelope, Kind};
///
/// let mut file = vec![];
/// AnyFilter::from(Bloom::with_rate(100, 0.01)?).write_to(&mut file)?;
/// let kind = Envelope::open(&file[..], "words.filter")?.kind();
/// assert!(kind == Kind::Bloom && kind.is_filter());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The manifest of a store, which names its files.
    Manifest = 1,
    /// A run of a store: one sorted set of hashes.
    Run = 2,
    /// The journal of a store: hashes that are in no run yet, in order of arrival.
    Journal = 3,
    /// The caches (tiers) in front of the set of a store, as the last process left them.
    Tiers = 8,
    /// The manifest of a set that many machines share in a bucket.
    SharedManifest = 4,
    /// A pack of a shared set: the runs of its shards in one object.
    Pack = 5,
    /// A [`Bloom`](crate::filter::Bloom) filter.
    Bloom = 16,
    /// A [`BlockedBloom`](crate::filter::BlockedBloom) filter: the bits of a key are in one cache line.
    BlockedBloom = 17,
    /// A [`CountingBloom`](crate::filter::CountingBloom) filter, from which keys can be removed.
    CountingBloom = 18,
    /// A [`StableBloom`](crate::filter::StableBloom) filter, which forgets old keys.
    StableBloom = 19,
    /// A [`StableBloomLight`](crate::filter::StableBloomLight) filter, which forgets old keys in turn.
    StableBloomLight = 20,
    /// A [`RingedBloom`](crate::filter::RingedBloom) filter.
    RingedBloom = 21,
    /// A [`QuotientFilter`](crate::filter::QuotientFilter): sorted fingerprints.
    QuotientFilter = 22,
    /// A split-block Bloom filter, as in Parquet files.
    SplitBlockBloom = 23,
    /// A [`GrowingBloom`](crate::filter::GrowingBloom): a chain of Bloom filters.
    GrowingBloom = 24,
    /// A path-compressed trie of keys and numbers without a filter.
    Trie = 64,
    /// A part of a dictionary: a trie and its filter, and its values if they are byte strings.
    FilteredTrie = 65,
    /// A trie with one byte for each node, as in Koyanagi et al. (2011), without a filter.
    LoudsTrie = 66,
    /// The values of a part of a dictionary, if they are byte strings.
    Values = 67,
    /// A Bloom filter whose positions are polynomials of the keys.
    PolynomialBloom = 68,
}

impl Kind {
    /// Every kind that this version knows.
    const ALL: [Self; 20] = [
        Self::Manifest,
        Self::Run,
        Self::Journal,
        Self::SharedManifest,
        Self::Pack,
        Self::Tiers,
        Self::Bloom,
        Self::BlockedBloom,
        Self::CountingBloom,
        Self::StableBloom,
        Self::StableBloomLight,
        Self::RingedBloom,
        Self::QuotientFilter,
        Self::SplitBlockBloom,
        Self::GrowingBloom,
        Self::Trie,
        Self::FilteredTrie,
        Self::LoudsTrie,
        Self::Values,
        Self::PolynomialBloom,
    ];

    /// The number that stands for this kind of file in the header of a file.
    pub const fn code(self) -> u16 {
        self as u16
    }

    /// The kind of file that a number in a header stands for; `None` if this version does not know it.
    pub(crate) fn from_code(code: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }

    /// True if [`AnyFilter`](crate::filter::AnyFilter) opens files of this kind: those with codes from 16 to 63. The
    /// filter of [`PolynomialBloom`](Self::PolynomialBloom) exists only as a part of a dictionary.
    pub const fn is_filter(self) -> bool {
        matches!(self.code(), 16..64)
    }

    /// True if files of this kind end with checksums of their regions: these are the files that are mapped and read at
    /// random. The pages of a run have checksums of their own, a manifest is read whole, and the parts of a filtered
    /// trie are files with checksums of regions themselves.
    pub(super) const fn has_sums(self) -> bool {
        self.is_filter() || matches!(self, Self::Trie | Self::LoudsTrie | Self::Values | Self::PolynomialBloom)
    }

    /// The name of the kind in options and output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Manifest => "manifest",
            Self::Run => "run",
            Self::Journal => "journal",
            Self::SharedManifest => "shared-manifest",
            Self::Pack => "pack",
            Self::Tiers => "tiers",
            Self::Bloom => "bloom",
            Self::BlockedBloom => "blocked",
            Self::CountingBloom => "counting",
            Self::StableBloom => "stable",
            Self::StableBloomLight => "stable-light",
            Self::RingedBloom => "ringed",
            Self::QuotientFilter => "quotient",
            Self::SplitBlockBloom => "parquet",
            Self::GrowingBloom => "growing",
            Self::Trie => "trie",
            Self::FilteredTrie => "filtered-trie",
            Self::LoudsTrie => "louds-trie",
            Self::Values => "values",
            Self::PolynomialBloom => "polynomials",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Manifest => "the manifest of a store",
            Self::Run => "a run of a store",
            Self::Journal => "the journal of a store",
            Self::SharedManifest => "the manifest of a shared set",
            Self::Pack => "a pack of a shared set",
            Self::Tiers => "the tiers of a store",
            Self::Bloom => "a Bloom filter",
            Self::BlockedBloom => "a blocked Bloom filter",
            Self::CountingBloom => "a counting Bloom filter",
            Self::StableBloom => "a stable Bloom filter",
            Self::StableBloomLight => "a stable Bloom filter light",
            Self::RingedBloom => "a ringed Bloom filter",
            Self::QuotientFilter => "a quotient filter",
            Self::SplitBlockBloom => "a split-block Bloom filter, as in Parquet files",
            Self::GrowingBloom => "a growing chain of Bloom filters",
            Self::Trie => "a compact trie",
            Self::FilteredTrie => "a trie of a dictionary, with its filter",
            Self::LoudsTrie => "a LOUDS trie",
            Self::Values => "the values of a part of a dictionary",
            Self::PolynomialBloom => "a Bloom filter of polynomials",
        })
    }
}

/// The name of a section: four upper-case letters, which have a meaning within one [`Kind`] of file.
///
/// ```
/// use furui::format::Tag;
///
/// const KEYS: Tag = Tag::new(*b"KEYS");
/// assert_eq!(KEYS.to_string(), "KEYS");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tag([u8; 4]);

impl Tag {
    /// The tag of these letters.
    ///
    /// # Panics
    /// If they are not upper-case ASCII letters. Tags are constants, so that is a compile-time error.
    pub const fn new(letters: [u8; 4]) -> Self {
        match Self::from_bytes(letters) {
            Some(tag) => tag,
            None => panic!("a tag is four upper-case letters"),
        }
    }

    /// The tag with these bytes; `None` if they are not upper-case letters.
    pub(super) const fn from_bytes(bytes: [u8; 4]) -> Option<Self> {
        let [a, b, c, d] = bytes;
        if a.is_ascii_uppercase() && b.is_ascii_uppercase() && c.is_ascii_uppercase() && d.is_ascii_uppercase() {
            Some(Self(bytes))
        } else {
            None
        }
    }

    pub(super) const fn bytes(self) -> [u8; 4] {
        self.0
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|&letter| write!(f, "{}", Printable(char::from(letter))))
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tag({self})")
    }
}

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

/// The length and the checksum that identify a finished file. A file that refers to another one holds its seal, so that
/// an exchanged file is noticed.
///
/// ```
/// use furui::HashSpec;
/// use furui::format::{Envelope, EnvelopeWriter, Kind};
///
/// let mut file = vec![];
/// let seal = EnvelopeWriter::new(&mut file, Kind::Run, HashSpec::default())?.finish()?;
/// assert_eq!(seal.length, file.len() as u64);
/// assert!(Envelope::open(&file[..], "example")?.seal() == seal, "the file that was written, and no other");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seal {
    /// The file's length in bytes.
    pub length: u64,
    /// The checksum in the footer, which covers the header and the checksums of all sections.
    pub checksum: u64,
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
