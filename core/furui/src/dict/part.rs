use super::any_trie::AnyTrie;
use super::layer::{BufferLayer, Layer};
use super::trie::collected;
use super::{LoudsNode, LoudsTrie, Node, Record, SortedKeys, SortedNode, Value};
use crate::error::{Result, TrieError};

/// A part of a dictionary of LOUDS tries, as a trie that can be walked and merged.
pub(super) enum LoudsPart<'a> {
    /// The sorted keys of a window (write buffer), with their values.
    Keys(Vec<(&'a [u8], Value)>),
    Trie(LoudsTrie<&'a [u8]>),
}

impl<'a> LoudsPart<'a> {
    /// Makes a part from a layer: the sorted keys of a window, or a trie. A trie is checked as a whole before it is
    /// read, because a merge writes what it reads under new checksums.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format) if a checksum of the trie is wrong; [`TrieError::Damaged`] if the trie
    /// is of another kind, or if its nodes do not form one tree, so that a walk over it might never end; [`TrieError`]
    /// if there is no memory for the keys of a window.
    pub(super) fn new(layer: &'a Layer) -> Result<Self> {
        match layer {
            Layer::Buffer(window) => {
                let keys = records(window)?.map(|record| (record.key, record.found.value()));
                Ok(Self::Keys(collected(keys)?))
            }
            Layer::Trie(trie) => match trie.trie().whole()? {
                AnyTrie::Louds(trie) if trie.check().is_ok() => Ok(Self::Trie(trie)),
                _ => Err(TrieError::Damaged.into()),
            },
        }
    }

    /// The root of the trie, where a walk over its nodes begins.
    ///
    /// # Errors
    /// [`TrieError::Unsorted`] if the sorted keys do not ascend.
    pub(super) fn root(&self) -> Result<PartNode<'_>> {
        Ok(match self {
            Self::Keys(keys) => PartNode::Keys(SortedKeys::new(keys)?.root()),
            Self::Trie(trie) => PartNode::Trie(trie.root()),
        })
    }
}

/// A node of a [`LoudsPart`]: of the tree that sorted keys make, or of a trie.
#[derive(Clone, Copy)]
pub(super) enum PartNode<'a> {
    Keys(SortedNode<'a, &'a [u8]>),
    Trie(LoudsNode<'a, &'a [u8]>),
}

impl Node for PartNode<'_> {
    #[inline]
    fn first_child(&self) -> Option<Self> {
        match self {
            Self::Keys(node) => node.first_child().map(Self::Keys),
            Self::Trie(node) => node.first_child().map(Self::Trie),
        }
    }

    #[inline]
    fn sibling(&self) -> Option<Self> {
        match self {
            Self::Keys(node) => node.sibling().map(Self::Keys),
            Self::Trie(node) => node.sibling().map(Self::Trie),
        }
    }

    #[inline]
    fn alphabet(&self) -> u8 {
        match self {
            Self::Keys(node) => node.alphabet(),
            Self::Trie(node) => node.alphabet(),
        }
    }

    #[inline]
    fn value(&self) -> Option<Value> {
        match self {
            Self::Keys(node) => node.value(),
            Self::Trie(node) => node.value(),
        }
    }
}

/// The records of a window (a write buffer) in the order of their keys.
///
/// # Errors
/// [`TrieError::NoMemory`] if there is no memory to sort the keys.
pub(super) fn records(window: &BufferLayer) -> Result<impl Iterator<Item = Record<'_>>> {
    window.buffer.sort()?;
    Ok((0..).map_while(|i| window.buffer.nth(i)))
}
