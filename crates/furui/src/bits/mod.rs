//! Bits and words: the floor every structure stands on. Nothing here knows what a filter is.

pub(crate) mod arch;
mod scan;
pub(crate) mod word;

pub use scan::byte_positions;
