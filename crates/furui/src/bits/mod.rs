//! Bits and words: the floor every structure stands on. Nothing here knows what a filter is.

pub(crate) mod arch;
mod buffer;
mod cells;
mod merge;
mod packed;
mod scan;
mod unary;
pub(crate) mod word;

pub(crate) use arch::{prefetch, split_block};
pub use buffer::Buffer;
pub use cells::Cells;
pub(crate) use merge::merge_two;
pub use packed::{append_packed, pack};
pub use scan::byte_positions;
pub use unary::{unary_numbers, unary_position};
pub(crate) use word::scale;
