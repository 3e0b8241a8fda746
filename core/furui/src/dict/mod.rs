//! A dictionary: a map from byte strings to numbers or to byte strings that is read while it grows.
//!
//! A [`Dict`] consists of a [`WriteBuffer`] for new keys, and of older parts that are each a trie with its filter. It
//! is read through a [`Snapshot`]. Its [`Layout`] says what the tries are.
//!
//! - By default they are compact: a [`Skeleton`] becomes a [`Trie`], which is path-compressed.
//! - Or they are the LOUDS tries of Koyanagi et al., from whose paper the dictionary comes. [`breadth_first`] walks
//!   over the [`Node`]s of any trie: the keys of a buffer ([`SortedKeys`]), a frozen trie ([`LoudsTrie`]), or any
//!   number of tries as if they were one ([`Merged`]). One walk builds a trie and the hashes of its filter
//!   ([`freeze()`]).

mod any_trie;
pub(crate) mod buffer;
mod checked;
pub(crate) mod depth_first;
mod dictionary;
mod entries;
pub(crate) mod filtered_trie;
pub(crate) mod found;
pub(crate) mod freeze;
mod hashes;
mod job;
mod layer;
pub(crate) mod louds;
mod making;
mod merge;
pub(crate) mod merged;
pub(crate) mod node;
mod options;
mod part;
mod policy;
mod polynomial_filter;
mod snapshot;
pub(crate) mod sorted_keys;
pub(crate) mod trie;
pub(crate) mod trie_filter;
mod value;
mod values;
pub(crate) mod walk;

pub use crate::store::{FilterHash, Layout, Purpose};
pub(crate) use buffer::{Record, WriteBuffer};
pub use dictionary::Dict;
pub use entries::Entries;
pub(crate) use filtered_trie::FilteredTrie;
pub(crate) use found::Found;
pub(crate) use freeze::freeze;
pub use job::{Done, Job};
pub(crate) use louds::{LoudsBuilder, LoudsNode, LoudsTrie};
pub(crate) use merged::Merged;
pub(crate) use node::{Node, Value};
pub use options::{DictOptions, Merging};
pub use snapshot::Snapshot;
pub(crate) use sorted_keys::{SortedKeys, SortedNode};
pub use trie::{MAX_KEY, TrieError};
pub(crate) use trie::{MAX_MERGED, Skeleton, Trie};
pub(crate) use trie_filter::TrieFilter;
pub use value::DictValue;
pub use values::MAX_VALUE;
pub(crate) use walk::breadth_first;
