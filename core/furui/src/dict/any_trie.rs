use std::io::{self, Write};
use std::ops::Deref;

use super::depth_first::TrieEntries;
use super::trie::{Guard, Trusted, collected};
use super::{Found, LoudsTrie, Trie};
use crate::bits::Buffer;
use crate::error::TrieError;
use crate::format::Seal;
use crate::store::Layout;

/// A trie in either of the two layouts that a dictionary can have.
#[derive(Debug)]
pub(super) enum AnyTrie<M = Buffer, G = Trusted> {
    Compact(Trie<M, G>),
    Louds(LoudsTrie<M, G>),
}

impl<M: Deref<Target = [u8]>, G: Guard> AnyTrie<M, G> {
    pub(super) fn layout(&self) -> Layout {
        match self {
            Self::Compact(_) => Layout::Compact,
            Self::Louds(_) => Layout::Louds,
        }
    }

    /// The number of keys, deletions included.
    pub(super) fn keys(&self) -> u64 {
        match self {
            Self::Compact(trie) => trie.keys(),
            Self::Louds(trie) => trie.keys(),
        }
    }

    /// The number of nodes, without the root.
    pub(super) fn nodes(&self) -> u64 {
        match self {
            Self::Compact(trie) => trie.nodes(),
            Self::Louds(trie) => trie.nodes() - 1,
        }
    }

    /// The number of bytes that the trie takes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Compact(trie) => trie.bytes(),
            Self::Louds(trie) => trie.bytes(),
        }
    }

    /// The value or deletion of `key`; `None` if the trie does not have the key.
    #[inline]
    pub(super) fn get(&self, key: &[u8]) -> Option<Found> {
        match self {
            Self::Compact(trie) => trie.get(key),
            Self::Louds(trie) => trie.get(key).map(Found::from),
        }
    }

    /// Looks up each of `keys`. `out` is cleared first, and gets one result for each key; `None` stands for a key that
    /// the trie does not have.
    pub(super) fn get_all(&self, keys: &[&[u8]], out: &mut Vec<Option<Found>>) {
        match self {
            Self::Compact(trie) => trie.get_all(keys, out),
            Self::Louds(trie) => {
                out.clear();
                out.extend(keys.iter().map(|key| trie.get(key).map(Found::from)));
            }
        }
    }

    /// The number of keys that begin with `prefix`, deletions included; `None` if only a walk could tell, as in the
    /// LOUDS layout.
    pub(super) fn keys_with(&self, prefix: &[u8]) -> Option<u64> {
        match self {
            Self::Compact(trie) => Some(trie.keys_with(prefix)),
            Self::Louds(_) => None,
        }
    }

    /// For each key that is a prefix of `text`, the shortest first: the key's length in bytes, and its value or its
    /// deletion.
    pub(super) fn prefixes(&self, text: &[u8]) -> Vec<(usize, Found)> {
        match self {
            Self::Compact(trie) => trie.prefixes(text).collect(),
            Self::Louds(trie) => trie.prefixes(text).map(|(length, value)| (length, value.into())).collect(),
        }
    }

    /// The values of all keys that are not deleted.
    pub(super) fn values(&self) -> Result<Vec<u32>, TrieError> {
        match self {
            Self::Compact(trie) => collected(trie.values()),
            Self::Louds(trie) => collected(trie.live_values()),
        }
    }

    pub(super) fn borrowed(&self) -> AnyTrie<&[u8], G> {
        match self {
            Self::Compact(trie) => AnyTrie::Compact(trie.borrowed()),
            Self::Louds(trie) => AnyTrie::Louds(trie.borrowed()),
        }
    }
}

impl AnyTrie {
    /// Replaces each value of the trie by its index in `values`, the ascending list of all distinct values of the trie.
    /// No key of the trie may be deleted.
    pub(super) fn renumber(&mut self, values: &[u32]) {
        match self {
            Self::Compact(trie) => trie.renumber(values),
            Self::Louds(trie) => trie.renumber(values),
        }
    }
}

impl<M: Deref<Target = [u8]>> AnyTrie<M> {
    /// For a trie of a dictionary whose values are byte strings, the ids of the values of all keys, ascending.
    pub(super) fn value_ids(&self) -> Result<Vec<u32>, TrieError> {
        let mut ids = self.values()?;
        ids.sort_unstable();
        Ok(ids)
    }

    /// Writes the trie's file to `out`.
    pub(super) fn write_to(&self, out: &mut dyn Write) -> io::Result<Seal> {
        match self {
            Self::Compact(trie) => trie.write_to(out),
            Self::Louds(trie) => trie.write_to(out),
        }
    }

    /// Checks that the nodes of the trie form one tree. The error describes the problem.
    pub(super) fn check(&self) -> Result<(), &'static str> {
        match self {
            Self::Compact(trie) => trie.check().map_err(|(_, what)| what),
            Self::Louds(trie) => trie.check(),
        }
    }
}

impl<'t, G: Guard> AnyTrie<&'t [u8], G> {
    /// An iterator over the keys from `from` on, in byte order, and their values.
    pub(super) fn entries_from(self, from: &[u8]) -> AnyEntries<'t, G> {
        match self {
            Self::Compact(trie) => AnyEntries::Compact(TrieEntries::new(trie, from)),
            Self::Louds(trie) => AnyEntries::Louds(TrieEntries::new(trie, from)),
        }
    }
}

/// An iterator over the keys of an [`AnyTrie`] in byte order, and their values.
#[derive(Debug)]
pub(super) enum AnyEntries<'t, G: Guard> {
    Compact(TrieEntries<Trie<&'t [u8], G>>),
    Louds(TrieEntries<LoudsTrie<&'t [u8], G>>),
}

impl<G: Guard> AnyEntries<'_, G> {
    /// Returns the next key, in a buffer of this iterator, and its value; `None` at the end.
    pub(super) fn next_entry(&mut self) -> Option<(&[u8], Found)> {
        match self {
            Self::Compact(entries) => entries.next_entry(),
            Self::Louds(entries) => entries.next_entry(),
        }
    }
}
