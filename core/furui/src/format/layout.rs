//! The constants of the envelope, as docs/format.md defines them.

use std::ops::Range;

use super::tag::Tag;

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
/// The tag of the last section of files that [have](super::Kind::has_sums) checksums of their regions.
pub(super) const SUMS: Tag = Tag::new(*b"SUMS");
