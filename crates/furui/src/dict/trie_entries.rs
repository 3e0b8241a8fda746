use std::ops::Deref;

use super::{Found, MAX_KEY, Trie, TrieNode};

/// The keys of a trie in order, from any key on.
///
/// The way from the root to the node at hand is a stack, and its labels are the key: a step is a look at the first
/// child, or else at the sibling of the deepest node that has one.
pub(super) struct TrieEntries<'a, M> {
    trie: &'a Trie<M>,
    /// The nodes of the way, each with the length of the key before its label.
    way: Vec<(TrieNode, usize)>,
    key: Vec<u8>,
    found: Option<Found>,
    /// How many nodes may still be visited: in a damaged trie there may be many ways to a node.
    left: u64,
}

impl<'a, M: Deref<Target = [u8]>> TrieEntries<'a, M> {
    /// At the first key that is not less than `from`.
    pub(super) fn new(trie: &'a Trie<M>, from: &[u8]) -> Self {
        let root = (trie.root(), 0);
        let mut entries = Self { trie, way: vec![root], key: vec![], found: None, left: trie.nodes() };
        if entries.seek(from) {
            entries.found = entries.node().and_then(|node| trie.terminal(node));
        }
        if entries.found.is_none() {
            entries.advance();
        }
        entries
    }

    /// The key at hand, and what it holds; nothing at the end.
    pub(super) fn current(&self) -> Option<(&[u8], Found)> {
        self.found.map(|found| (self.key.as_slice(), found))
    }

    /// Goes on to the next key.
    pub(super) fn advance(&mut self) {
        self.found = None;
        while self.found.is_none() && self.step() {
            self.found = self.node().and_then(|node| self.trie.terminal(node));
        }
    }

    fn node(&self) -> Option<TrieNode> {
        self.way.last().map(|&(node, _)| node)
    }

    /// Goes to the next node. False if there is none.
    fn step(&mut self) -> bool {
        match self.node().and_then(|node| self.trie.first_child(node)) {
            Some(child) => self.enter(child),
            None => self.pass(),
        }
    }

    /// Goes to the next node that is not below the one at hand.
    fn pass(&mut self) -> bool {
        while let Some((node, length)) = self.way.pop() {
            self.key.truncate(length);
            if let Some(sibling) = self.trie.sibling(node).filter(|_| !self.way.is_empty()) {
                return self.enter(sibling);
            }
        }
        false
    }

    fn enter(&mut self, node: TrieNode) -> bool {
        let length = self.key.len();
        if self.left == 0 || length > MAX_KEY {
            self.way.clear();
            return false;
        }
        self.left -= 1;
        self.trie.push_label(node, &mut self.key);
        self.way.push((node, length));
        true
    }

    /// From the root, goes to the first node whose path is not less than `from`. False if there is none.
    fn seek(&mut self, from: &[u8]) -> bool {
        while let Some(&byte) = from.get(self.key.len()) {
            let mut child = self.node().and_then(|node| self.trie.first_child(node));
            while let Some(node) = child.filter(|&node| self.trie.first_byte(node) < byte) {
                child = self.trie.sibling(node);
            }
            // If there is none, all that is below here is less.
            let Some(node) = child else { return self.pass() };
            let at = self.key.len();
            if !self.enter(node) {
                return false;
            }
            let (label, rest) = (&self.key[at..], &from[at..]);
            if !rest.starts_with(label) {
                return label > rest || self.pass();
            }
        }
        true
    }
}
