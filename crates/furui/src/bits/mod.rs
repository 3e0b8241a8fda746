//! Bits and words: the floor every structure stands on. Nothing here knows what a filter is.

pub(crate) mod arch;
mod cells;
mod scan;
mod unary;

pub(crate) use arch::prefetch;
pub use cells::Cells;
pub use scan::byte_positions;
pub use unary::unary_position;
