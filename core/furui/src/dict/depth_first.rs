use std::fmt;

use super::Found;
use crate::error::MAX_KEY;

/// A trie of any layout that is walked node by node. The labels of siblings differ in their first bytes, and siblings
/// are in the order of these bytes.
pub trait Nodes {
    /// What stands for a node of this trie: its number, or whatever finds it again.
    #[doc(hidden)]
    type Node: Copy + PartialEq;
    /// The number of nodes, the root included.
    #[doc(hidden)]
    fn count(&self) -> u64;
    /// The root, from which all keys start. Its label is empty.
    #[doc(hidden)]
    fn root(&self) -> Self::Node;
    /// The child with the smallest label; `None` if there is no child.
    #[doc(hidden)]
    fn first_child(&self, node: Self::Node) -> Option<Self::Node>;
    /// The next child of the node's parent; `None` if the node is the last child.
    #[doc(hidden)]
    fn sibling(&self, node: Self::Node) -> Option<Self::Node>;
    /// The first byte of the node's label; 0 for the root.
    #[doc(hidden)]
    fn first_byte(&self, node: Self::Node) -> u8;
    /// Appends the node's label, the bytes between its parent and itself.
    #[doc(hidden)]
    fn push_label(&self, node: Self::Node, out: &mut Vec<u8>);
    /// The value of the key that ends at the node; `None` if no key does.
    #[doc(hidden)]
    fn found(&self, node: Self::Node) -> Option<Found>;
}

/// An iterator over the keys of a trie from a key on, in byte order, and their values. It walks the trie depth first,
/// and ends even if the trie is damaged.
///
/// ```
/// use furui::raw::{Found, Skeleton, Trie};
///
/// let trie = Trie::encode(&Skeleton::from_sorted([(&b"see"[..], Some(1)), (b"seen", Some(2)), (b"sieve", Some(3))])?)?;
/// let mut keys = trie.iter_from(b"seed");
/// assert_eq!(keys.next(), Some((b"seen".to_vec(), Found::Value(2))));
/// assert_eq!(keys.map(|(key, _)| key).collect::<Vec<_>>(), [b"sieve"]);
/// # Ok::<(), furui::Error>(())
/// ```
pub struct TrieEntries<T: Nodes> {
    trie: T,
    /// The stack of nodes to visit, each with the length of the path to its parent. The last one is visited next.
    stack: Vec<(T::Node, usize)>,
    path: Vec<u8>,
    /// The maximum number of nodes that may still be visited, because a damaged trie may have more than one path to a
    /// node.
    left: u64,
}

impl<T: Nodes> TrieEntries<T> {
    /// The keys of `trie` that are not less than `from`.
    pub(super) fn new(trie: T, from: &[u8]) -> Self {
        let left = trie.count();
        let mut entries = Self { trie, stack: vec![], path: vec![], left };
        entries.seek(from);
        entries
    }

    /// The next key and its value. The key is in a buffer of this iterator, so nothing is allocated.
    pub fn next_entry(&mut self) -> Option<(&[u8], Found)> {
        while let Some((node, parent)) = self.stack.pop() {
            self.left = match self.left.checked_sub(1) {
                Some(left) if parent <= MAX_KEY => left,
                _ => {
                    self.stack.clear();
                    return None;
                }
            };
            self.path.truncate(parent);
            self.trie.push_label(node, &mut self.path);
            self.stack.extend(self.trie.sibling(node).map(|sibling| (sibling, parent)));
            self.stack.extend(self.trie.first_child(node).map(|child| (child, self.path.len())));
            let Some(found) = self.trie.found(node) else { continue };
            return Some((&self.path, found));
        }
        None
    }

    /// Positions the iterator at the first key that is not less than `key`.
    fn seek(&mut self, key: &[u8]) {
        let mut child = Some(self.trie.root());
        let mut label = vec![];
        while let Some(node) = child {
            let rest = &key[self.path.len()..];
            label.clear();
            // Labels with smaller first bytes need not be read.
            match rest.first() {
                Some(&byte) if node != self.trie.root() && self.trie.first_byte(node) < byte => {
                    child = self.trie.sibling(node);
                    continue;
                }
                _ => self.trie.push_label(node, &mut label),
            }
            if !label.is_empty() && label.as_slice() < rest && !rest.starts_with(&label) {
                child = self.trie.sibling(node);
            } else if rest.starts_with(&label) && rest.len() > label.len() {
                self.stack.extend(self.trie.sibling(node).map(|sibling| (sibling, self.path.len())));
                self.path.extend_from_slice(&label);
                child = self.trie.first_child(node);
            } else {
                self.stack.push((node, self.path.len()));
                return;
            }
        }
    }
}

impl<T: Nodes> fmt::Debug for TrieEntries<T> {
    /// Shows the last key, but not the following ones.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrieEntries").field("path", &self.path).finish_non_exhaustive()
    }
}

impl<T: Nodes> Iterator for TrieEntries<T> {
    type Item = (Vec<u8>, Found);

    fn next(&mut self) -> Option<Self::Item> {
        self.next_entry().map(|(key, found)| (key.to_vec(), found))
    }
}
