//! Maps from byte strings to numbers: the tries of the dictionary, and how they are walked, frozen and merged.
//!
//! Everything that is a trie gives out [`Node`]s, and [`breadth_first`] walks them: the keys of a buffer
//! ([`SortedKeys`]), a frozen trie ([`LoudsTrie`]), or any number of tries as if they were one ([`Merged`]). A walk builds
//! a trie and its filter at once ([`freeze`]). [`Trie`] is the compact one, path-compressed, which a [`Skeleton`] becomes.

mod freeze;
mod louds;
mod merged;
mod node;
mod sorted_keys;
mod trie;
mod walk;

pub use freeze::{Frozen, freeze};
pub use louds::{LoudsBuilder, LoudsNode, LoudsTrie};
pub use merged::Merged;
pub use node::{Node, Value};
pub use sorted_keys::{SortedKeys, SortedNode};
pub use trie::{Found, MAX_KEY, Skeleton, Trie, TrieEntries, TrieError, TrieNode};
pub use walk::breadth_first;
