//! The envelope around every file: magic number, version, kind, [`HashSpec`](crate::HashSpec), sections, checksums.
//!
//! ```text
//! header | section | padding | section | … | padding | section table | footer
//! ```
//!
//! A file is written front to back ([`EnvelopeWriter`]) and never changed. Opening a file reads only its beginning and
//! its end ([`Envelope`]).
//! docs/format.md is the normative description, and this module implements it.

mod bytes;
mod disk_file;
mod envelope;
mod error;
pub(crate) mod field;
mod header;
mod layout;
pub(crate) mod parquet;
mod printable;
mod publish;
mod read_at;
mod regions;
mod sums;
mod writer;

pub use bytes::Bytes;
pub use disk_file::DiskFile;
pub use envelope::Envelope;
pub use error::{FormatError, Problem, ReadError, WriteError};
pub(crate) use header::Header;
pub use layout::{Align, END_MAGIC, Kind, MAGIC, MAX_SECTIONS, Seal, Section, Tag, VERSION};
pub use parquet::ParquetProblem;
pub use printable::Printable;
pub use publish::{Access, create_directory, is_still, publish, sync_name};
pub(crate) use publish::{TEMPORARY, WRITE_BUFFER, replace, sync_directory, sync_if_writable};
pub use read_at::ReadAt;
pub(crate) use regions::Regions;
pub use writer::EnvelopeWriter;
