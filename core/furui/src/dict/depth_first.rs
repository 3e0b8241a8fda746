use std::fmt;
use std::ops::Bound;

use super::Found;
use crate::error::MAX_KEY;

/// A trie of any layout that is walked node by node. The labels of siblings differ in their first bytes, and siblings
/// are in the order of these bytes.
pub trait Nodes {
    /// A node of this trie.
    #[doc(hidden)]
    type Node: Copy + PartialEq;
    /// The number of nodes, the root included.
    #[doc(hidden)]
    fn count(&self) -> u64;
    /// The root, whose label is empty.
    #[doc(hidden)]
    fn root(&self) -> Self::Node;
    /// The child with the smallest label; `None` if there is no child.
    #[doc(hidden)]
    fn first_child(&self, node: Self::Node) -> Option<Self::Node>;
    /// The next child of the same parent.
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

/// An iterator over the keys of a trie between two bounds, in byte order, and their values. It walks the trie depth
/// first, and ends even if the trie is damaged.
///
/// ```
/// use furui::raw::{Found, Skeleton, Trie};
///
/// let trie = Trie::encode(&Skeleton::from_sorted([(&b"see"[..], Some(1)), (b"seen", Some(2)), (b"sieve", Some(3))])?)?;
/// let mut keys = trie.prefix(b"see");
/// assert_eq!(keys.next(), Some((b"see".to_vec(), Found::Value(1))));
/// assert_eq!(keys.map(|(key, _)| key).collect::<Vec<_>>(), [b"seen"]);
/// # Ok::<(), furui::Error>(())
/// ```
pub struct TrieEntries<T: Nodes> {
    trie: T,
    /// The nodes to visit, with the lengths of the paths to their parents. The last one is visited next.
    stack: Vec<(T::Node, usize)>,
    path: Vec<u8>,
    end: End,
    /// The maximum number of nodes that may still be visited, because a damaged trie may have more than one path to a
    /// node.
    left: u64,
}

enum End {
    Bound(Bound<Vec<u8>>),
    Prefix(Vec<u8>),
}

impl<T: Nodes> TrieEntries<T> {
    /// The keys of a trie between two bounds.
    pub(super) fn between(trie: T, start: Bound<&[u8]>, end: Bound<&[u8]>) -> Self {
        Self::new(trie, start, End::Bound(end.map(<[u8]>::to_vec)))
    }

    /// The keys of a trie that begin with `prefix`.
    pub(super) fn beginning_with(trie: T, prefix: &[u8]) -> Self {
        Self::new(trie, Bound::Included(prefix), End::Prefix(prefix.to_vec()))
    }

    fn new(trie: T, start: Bound<&[u8]>, end: End) -> Self {
        let left = trie.count();
        let mut entries = Self { trie, stack: vec![], path: vec![], end, left };
        match start {
            Bound::Unbounded => entries.stack.push((entries.trie.root(), 0)),
            Bound::Included(key) => entries.seek(key),
            Bound::Excluded(key) => {
                // `key` with a zero byte after it is the least key that is greater than `key`.
                entries.seek(&[key, &[0]].concat());
            }
        }
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
            if self.end.is_before(&self.path) {
                self.stack.clear();
                return None;
            }
            return Some((&self.path, found));
        }
        None
    }

    /// Skips the keys before `key`.
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

impl End {
    fn is_before(&self, key: &[u8]) -> bool {
        match self {
            Self::Bound(Bound::Unbounded) => false,
            Self::Bound(Bound::Included(end)) => end.as_slice() < key,
            Self::Bound(Bound::Excluded(end)) => end.as_slice() <= key,
            Self::Prefix(prefix) => !key.starts_with(prefix),
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
