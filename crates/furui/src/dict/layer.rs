use std::sync::Arc;

use super::{FilteredTrie, WriteBuffer};

/// A part of a dictionary: what was put during some stretch of time.
#[derive(Clone, Debug)]
pub(super) enum Layer {
    Trie(Arc<FilteredTrie>),
    Window(Arc<Window>),
}

/// A buffer and what it says about the dictionary.
#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    pub(super) buffer: WriteBuffer,
    /// Larger than every value that was put up to its newest key.
    pub(super) next_id: u32,
}

impl Layer {
    /// How many keys it has, deleted ones too.
    pub(super) fn keys(&self) -> u64 {
        match self {
            Self::Trie(trie) => trie.keys(),
            Self::Window(window) => window.buffer.len() as u64,
        }
    }

    /// Whether both are handles to the same part.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Trie(a), Self::Trie(b)) => Arc::ptr_eq(a, b),
            (Self::Window(a), Self::Window(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}
