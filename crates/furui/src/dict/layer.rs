use std::sync::Arc;

use super::{FilteredTrie, WriteBuffer};

/// A part of a dictionary: the keys that were put during some stretch of time.
#[derive(Clone, Debug)]
pub(super) enum Layer {
    Trie(Arc<FilteredTrie>),
    Window(Arc<Window>),
}

/// A buffer of new keys, and the dictionary's next id after them.
#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    pub(super) buffer: WriteBuffer,
    /// The dictionary's next id, after the newest key of this window.
    pub(super) next_id: u32,
}

impl Layer {
    /// The number of keys, deletions included.
    pub(super) fn keys(&self) -> u64 {
        match self {
            Self::Trie(trie) => trie.keys(),
            Self::Window(window) => window.buffer.len() as u64,
        }
    }

    /// True if both are handles to the same part.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Trie(a), Self::Trie(b)) => Arc::ptr_eq(a, b),
            (Self::Window(a), Self::Window(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}
