//! The one envelope around every file: magic, version, kind, [`HashSpec`](crate::HashSpec), sections, checksums.
//!
//! docs/format.md is the normative description; this module is its code.

mod error;
mod read_at;

pub use error::{FormatError, Problem, ReadError};
pub use read_at::ReadAt;
