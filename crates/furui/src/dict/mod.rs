//! The dictionary: a map from byte strings to numbers that is read while it grows.

mod buffer;

pub use buffer::{Record, WriteBuffer};

/// The longest key, in bytes: 64 KiB.
pub const MAX_KEY: usize = 1 << 16;

/// What was last said about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Entry {
    /// It was put, with this value.
    Value(u32),
    /// It was deleted: whatever older parts of a dictionary say, it is not there.
    Deleted,
}
