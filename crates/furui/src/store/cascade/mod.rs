//! The cascade filter: an exact set of 64-bit hashes, in RAM and in runs on storage.

mod merge;
mod page;

pub use merge::{MERGE_WINDOW, Merge, SortedKeys};
pub use page::{PAGE_BYTES, Page, RemainderBits};
