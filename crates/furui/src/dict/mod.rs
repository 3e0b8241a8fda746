//! The dictionary: a map from byte strings to numbers that is read while it grows.

mod buffer;
mod entries;
mod frozen;
mod job;
mod layer;
mod list;
mod merge;
mod options;
mod policy;
mod snapshot;
mod trie;

pub use buffer::{Record, WriteBuffer};
pub use entries::Entries;
pub use frozen::Frozen;
pub use job::{Done, Job};
pub use list::Dict;
pub use options::{DictOptions, Merging};
pub use snapshot::Snapshot;
pub use trie::{Found, MAX_KEY, MAX_MERGED, Skeleton, Trie, TrieEntries, TrieError, TrieNode};
