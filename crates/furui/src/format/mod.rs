//! The one envelope around every file: magic, version, kind, [`HashSpec`](crate::HashSpec), sections, checksums.
//!
//! ```text
//! header | section | padding | section | … | padding | section table | footer
//! ```
//!
//! A file is written front to back and never changed ([`EnvelopeWriter`]); it is opened by its two ends ([`Envelope`]).
//! docs/format.md is the normative description; this module is its code.

mod envelope;
mod error;
pub(crate) mod field;
mod layout;
mod read_at;
mod writer;

pub use envelope::Envelope;
pub use error::{FormatError, Problem, ReadError};
pub use layout::{Align, Kind, MAX_SECTIONS, Seal, Section, Tag, VERSION};
pub use read_at::ReadAt;
pub use writer::EnvelopeWriter;
