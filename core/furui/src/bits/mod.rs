//! Operations on bits and words, from which the crate's structures are built. Nothing here knows what a filter is.

pub(crate) mod arch;
mod bit_writer;
pub(crate) mod buffer;
pub(crate) mod cells;
mod counts;
mod merge;
mod packed;
pub(crate) mod rank;
pub(crate) mod scan;
pub(crate) mod select;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod word;
mod words;

pub(crate) use arch::{Cpu, Level, prefetch, prefetch_for_write};
pub(crate) use bit_writer::BitWriter;
pub(crate) use buffer::{Buffer, NoMemory};
pub(crate) use cells::Cells;
pub(crate) use merge::merge_two;
pub(crate) use packed::{append_packed, pack};
pub(crate) use rank::Rank1;
pub(crate) use scan::{unary_numbers, unary_position};
pub(crate) use select::Select0;
pub(crate) use word::{bit, scale};
pub(crate) use words::Words;
