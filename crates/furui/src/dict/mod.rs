//! The dictionary: a map from byte strings to numbers that is read while it grows.

mod buffer;
mod trie;

pub use buffer::{Record, WriteBuffer};
pub use trie::{Found, MAX_KEY, Skeleton, Trie, TrieError, TrieNode};
