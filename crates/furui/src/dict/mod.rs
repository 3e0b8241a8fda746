//! A dictionary: a map from byte strings to numbers that is read while it grows.
//!
//! A [`Dict`] consists of a [`WriteBuffer`] for new keys, and of older parts that are each a compact [`Trie`] with its
//! filter. It is read through a [`Snapshot`]. A [`Skeleton`] becomes a [`Trie`], which is path-compressed.
//!
//! This module also has the parts of the paper that the dictionary comes from. Every trie has [`Node`]s, and
//! [`breadth_first`] walks them: those of the keys of a buffer ([`SortedKeys`]), of a frozen trie ([`LoudsTrie`]), or
//! of any number of tries as if they were one ([`Merged`]). One walk builds a trie and its filter ([`freeze`]).

mod buffer;
mod entries;
mod hashes;
mod filtered_trie;
mod freeze;
mod job;
mod layer;
mod list;
mod louds;
mod merge;
mod merged;
mod node;
mod options;
mod policy;
mod snapshot;
mod sorted_keys;
mod trie;
mod walk;

pub use buffer::{MAX_PROBE_LENGTH, Record, WriteBuffer};
pub use entries::Entries;
pub use filtered_trie::FilteredTrie;
pub use freeze::{Frozen, freeze};
pub use job::{Done, Job};
pub use list::Dict;
pub use louds::{LoudsBuilder, LoudsNode, LoudsTrie};
pub use merged::Merged;
pub use node::{Node, Value};
pub use options::{DictOptions, Merging};
pub use snapshot::Snapshot;
pub use sorted_keys::{SortedKeys, SortedNode};
pub use trie::{Found, MAX_KEY, MAX_MERGED, Skeleton, Trie, TrieEntries, TrieError, TrieNode};
pub use walk::breadth_first;
