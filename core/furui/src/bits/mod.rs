//! Operations on bits and words, from which the crate's structures are built. Nothing here knows what a filter is.

pub(crate) mod arch;
mod bit_writer;
mod buffer;
mod cells;
mod counts;
mod merge;
mod packed;
mod rank;
mod scan;
mod select;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod word;
mod words;

pub(crate) use arch::{Cpu, Level, prefetch, prefetch_for_write};
pub(crate) use bit_writer::BitWriter;
pub use buffer::{Buffer, NoMemory};
pub use cells::Cells;
pub(crate) use merge::merge_two;
pub(crate) use packed::{append_packed, pack};
pub use rank::Rank1;
pub use scan::byte_positions;
pub(crate) use scan::{unary_numbers, unary_position};
pub use select::Select0;
pub(crate) use word::{bit, scale};
pub(crate) use words::Words;
