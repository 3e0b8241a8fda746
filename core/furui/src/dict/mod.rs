//! A dictionary: a map from byte strings to numbers or to byte strings that is read while it grows.
//!
//! A [`Dict`] consists of a [`WriteBuffer`] for new keys, and of older parts that are each a trie with its filter. It
//! is read through a [`Snapshot`]. Its [`Layout`] says what the tries are.
//!
//! - By default they are compact: a [`Skeleton`] becomes a [`Trie`], which is path-compressed.
//! - Or they are the LOUDS tries of the paper that the dictionary comes from. [`breadth_first`] walks over the
//!   [`Node`]s of any trie: the keys of a buffer ([`SortedKeys`]), a frozen trie ([`LoudsTrie`]), or any number of
//!   tries as if they were one ([`Merged`]). One walk builds a trie and the hashes of its filter ([`freeze`]).

mod any_trie;
mod buffer;
mod checked;
mod depth_first;
mod entries;
mod filtered_trie;
mod found;
mod freeze;
mod hashes;
mod job;
mod layer;
mod list;
mod louds;
mod making;
mod merge;
mod merged;
mod node;
mod options;
mod part;
mod policy;
mod polynomial_filter;
mod snapshot;
mod sorted_keys;
mod trie;
mod trie_filter;
mod value;
mod values;
mod walk;

pub use crate::store::{FilterHash, Layout, Purpose};
pub use buffer::{MAX_PROBE_LENGTH, Record, WriteBuffer};
pub use depth_first::TrieEntries;
pub use entries::Entries;
pub use filtered_trie::FilteredTrie;
pub use found::Found;
pub use freeze::freeze;
pub use job::{Done, Job};
pub use list::Dict;
pub use louds::{LoudsBuilder, LoudsNode, LoudsTrie};
pub use merged::Merged;
pub use node::{Node, Value};
pub use options::{DictOptions, Merging};
pub use snapshot::Snapshot;
pub use sorted_keys::{SortedKeys, SortedNode};
pub use trie::{MAX_KEY, MAX_MERGED, Skeleton, Trie, TrieError, TrieNode};
pub use trie_filter::TrieFilter;
pub use value::DictValue;
pub use values::MAX_VALUE;
pub use walk::breadth_first;
