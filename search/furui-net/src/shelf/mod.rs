//! The storage of the lists and documents that a node keeps, in a directory or in memory: [`Shelf`].

mod additions;
mod answers;
mod bounds;
mod change;
mod copy;
mod documents;
mod expire;
mod fault;
mod flush;
mod holdings;
mod listed;
mod lists;
mod near;
mod options;
mod origins;
pub(crate) mod packed;
mod place;
mod posting;
mod publications;
mod purge;
mod recent;
mod records;
mod resolver;
mod room;
mod runs;
mod tables;
mod varint;
mod versions;
mod withdraw;

pub use additions::Addition;
pub use answers::{Statistics, WordList};
pub use bounds::{Bounds, Full};
pub use holdings::{Shelf, Stored};
pub use listed::Listed;
pub use options::ShelfOptions;
pub use origins::{Origin, Usage};
pub use publications::Published;
pub use resolver::Brought;
use runs::Runs;

/// The maximum length of a document's record, in bytes. The value is a choice, not a measurement.
pub const MAX_RECORD: usize = 4 << 20;
/// The maximum size of the additions of one call of [`Shelf::store`], in bytes, as [`Shelf::store`] counts them.
/// The value is a choice, not a measurement.
pub const MAX_CHANGE: usize = 64 << 20;

/// The number of the pseudo-word whose list contains the documents of all records. The dictionary never assigns this
/// number to a word.
const RECORDS: u32 = u32::MAX;
