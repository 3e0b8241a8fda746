//! Storage: immutable files, published whole, and the exact set that is built from them.

pub mod cascade;
mod storage;

pub use crate::format::ReadAt;
pub use storage::Storage;
