use std::ops::Deref;

use super::position::Position;
use super::search::{Search, Step};
use super::{Found, Guard, Trie, TrieNode};
use crate::dict::depth_first::{Nodes, TrieEntries};

impl<M: Deref<Target = [u8]>, G: Guard> Trie<M, G> {
    /// An iterator over all keys in byte order, and their values.
    pub fn iter(&self) -> TrieEntries<Trie<&[u8], G>> {
        self.iter_from(b"")
    }

    /// An iterator over the keys that are not less than `from`, in byte order, and their values.
    pub fn iter_from(&self, from: &[u8]) -> TrieEntries<Trie<&[u8], G>> {
        TrieEntries::new(self.borrowed(), from)
    }

    /// For each key that is a prefix of `text`, the shortest first: the key's length in bytes, and its value or its
    /// deletion.
    pub fn prefixes<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = (usize, Found)> + use<'a, M, G> {
        let names = self.names();
        let mut search = Some(Search::new(text, Position(0), 0));
        let root = self.terminal(self.root()).map(|found| (0, found));
        let rest = std::iter::from_fn(move || {
            loop {
                let at = search.as_mut()?;
                let step = self.vectors.run(
                    #[inline(always)]
                    |vectors| at.step(&names, vectors, |_| {}),
                );
                let (length, id) = match step {
                    Step::Miss => {
                        search = None;
                        continue;
                    }
                    Step::Leaf(rank) => (at.matched(), self.leaf_id(rank)),
                    Step::Inner(rank) => (at.matched(), self.inner_id(rank)),
                };
                if matches!(step, Step::Leaf(_)) {
                    search = None;
                }
                if let Some(id) = id {
                    return Some((length, self.found(id)));
                }
            }
        });
        root.into_iter().chain(rest)
    }
}

impl<G: Guard> Nodes for Trie<&[u8], G> {
    type Node = TrieNode;

    fn count(&self) -> u64 {
        self.nodes() + 1
    }

    fn root(&self) -> TrieNode {
        self.root()
    }

    fn first_child(&self, node: TrieNode) -> Option<TrieNode> {
        self.first_child(node)
    }

    fn sibling(&self, node: TrieNode) -> Option<TrieNode> {
        self.sibling(node)
    }

    fn first_byte(&self, node: TrieNode) -> u8 {
        self.first_byte(node)
    }

    fn push_label(&self, node: TrieNode, out: &mut Vec<u8>) {
        self.push_label(node, out);
    }

    fn found(&self, node: TrieNode) -> Option<Found> {
        self.terminal(node)
    }
}
