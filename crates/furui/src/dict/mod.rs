//! Dictionaries: maps from byte strings to numbers.

mod trie;

pub use trie::{Found, MAX_KEY, Skeleton, Trie, TrieEntries, TrieError, TrieNode};
