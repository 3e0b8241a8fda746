//! The one envelope around every file: magic, version, kind, [`HashSpec`](crate::HashSpec), sections, checksums.
//!
//! docs/format.md is the normative description; this module is its code.

mod error;

pub use error::{FormatError, Problem};
