use std::ops::Range;
use std::sync::Arc;

use super::values::{ValueBuffer, ValueFile};
use super::{FilteredTrie, TrieError, WriteBuffer};
use crate::error::Result;
use crate::store::Taken;

/// A part of a dictionary: a trie, or a window (write buffer). Parts are in the order of time in which their keys were
/// put.
#[derive(Clone, Debug)]
pub(super) enum Layer {
    Trie(Arc<FilteredTrie>),
    Buffer(Arc<BufferLayer>),
}

/// A window (write buffer) of new keys, with the values and numbers that belong to them.
#[derive(Clone, Debug, Default)]
pub(super) struct BufferLayer {
    pub(super) buffer: WriteBuffer,
    /// The values of the window's keys if they are byte strings; empty if they are numbers.
    pub(super) values: ValueBuffer,
    /// The numbers that were put with the window's keys, if the dictionary gives numbers to its keys
    /// ([`Purpose::Numbers`](super::Purpose::Numbers)); otherwise empty.
    pub(super) taken: Taken,
}

impl Layer {
    /// The number of keys, deletions included.
    pub(super) fn keys(&self) -> u64 {
        match self {
            Self::Trie(trie) => trie.keys(),
            Self::Buffer(window) => window.buffer.len() as u64,
        }
    }

    /// The range of the ids of the part's values. The ids of a newer part are greater.
    pub(super) fn ids(&self) -> Range<u32> {
        match self {
            Self::Trie(trie) => trie.values().map_or(0..0, ValueFile::ids),
            Self::Buffer(window) => window.values.ids(),
        }
    }

    /// The value with this id, which must be one of the [`ids`](Self::ids).
    ///
    /// # Errors
    /// [`TrieError::Damaged`] or [`Error::Format`](crate::Error::Format) if the layer does not have the id, or if the
    /// file of its values is damaged.
    pub(super) fn value(&self, id: u32) -> Result<&[u8]> {
        match self {
            Self::Trie(trie) => Ok(trie.values().ok_or(TrieError::Damaged)?.get(id)?),
            Self::Buffer(window) => Ok(window.values.get(id).ok_or(TrieError::Damaged)?),
        }
    }

    /// Calls `each` with each of these ids, which ascend, and with its value.
    ///
    /// # Errors
    /// Those of [`value`](Self::value), and those of `each`.
    pub(super) fn each_value(&self, ids: &[u32], mut each: impl FnMut(u32, &[u8]) -> Result<()>) -> Result<()> {
        match self {
            Self::Trie(trie) => trie.values().ok_or(TrieError::Damaged)?.for_each(ids, each),
            Self::Buffer(_) => ids.iter().try_for_each(|&id| each(id, self.value(id)?)),
        }
    }

    /// True if this layer and `other` are handles to the same part of the dictionary.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Trie(a), Self::Trie(b)) => Arc::ptr_eq(a, b),
            (Self::Buffer(a), Self::Buffer(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}
