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
mod kind;
mod layout;
pub(crate) mod parquet;
mod printable;
mod publish;
mod read_at;
mod regions;
mod seal;
mod section;
mod sums;
mod tag;
mod writer;

pub use bytes::Bytes;
pub use disk_file::DiskFile;
pub use envelope::Envelope;
pub use error::{FormatError, Problem, ReadError, WriteError};
pub(crate) use header::Header;
pub use kind::Kind;
pub use layout::{END_MAGIC, MAGIC, MAX_SECTIONS, VERSION};
pub use parquet::ParquetProblem;
pub use printable::Printable;
pub use publish::{Access, create_directory, is_still, publish, sync_name};
pub(crate) use publish::{TEMPORARY, WRITE_BUFFER, buffered, replace, sync_directory, sync_if_writable};
pub use read_at::ReadAt;
pub(crate) use regions::Regions;
pub use seal::Seal;
pub use section::{Align, Section};
pub use tag::Tag;
pub use writer::EnvelopeWriter;
