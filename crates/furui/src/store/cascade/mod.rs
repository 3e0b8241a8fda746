//! The cascade filter: an exact set of 64-bit hashes, in RAM and in runs on storage.

mod fences;
mod merge;
mod page;
mod page_set;
mod run;
mod run_reader;
mod run_writer;

pub use merge::{MERGE_WINDOW, Merge, SortedKeys};
pub use page::{PAGE_BYTES, Page, RemainderBits};
pub use run::Run;
pub use run_reader::RunReader;
pub use run_writer::{RunWriter, WrittenRun};
