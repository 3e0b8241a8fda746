use std::fmt;
use std::ops::{Bound, Deref, RangeBounds};

use super::position::Position;
use super::search::{Search, Step};
use super::{Found, Guard, Trie, TrieNode, Trusted};

/// An iterator over the keys of a [`Trie`] between two bounds, in byte order, and their values.
///
/// ```
/// use furui::dict::{Found, Skeleton, Trie};
///
/// let trie = Trie::encode(&Skeleton::from_sorted([(&b"see"[..], Some(1)), (b"seen", Some(2)), (b"sieve", Some(3))])?)?;
/// let mut keys = trie.prefix(b"see");
/// assert_eq!(keys.next(), Some((b"see".to_vec(), Found::Value(1))));
/// assert_eq!(keys.map(|(key, _)| key).collect::<Vec<_>>(), [b"seen"]);
/// # Ok::<(), furui::Error>(())
/// ```
pub struct TrieEntries<'t, G = Trusted> {
    trie: Trie<&'t [u8], G>,
    /// The nodes to visit, with the lengths of the paths to their parents. The next one is the last.
    stack: Vec<(TrieNode, usize)>,
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

impl<M: Deref<Target = [u8]>, G: Guard> Trie<M, G> {
    /// All keys in byte order.
    pub fn iter(&self) -> TrieEntries<'_, G> {
        TrieEntries::new(self.borrowed(), Bound::Unbounded, End::Bound(Bound::Unbounded))
    }

    /// The keys between two bounds, in byte order.
    pub fn range<'k>(&self, range: impl RangeBounds<&'k [u8]>) -> TrieEntries<'_, G> {
        TrieEntries::between(
            self.borrowed(),
            range.start_bound().map(|key| &**key),
            range.end_bound().map(|key| &**key),
        )
    }

    /// The keys that begin with `prefix`, in byte order.
    pub fn prefix(&self, prefix: &[u8]) -> TrieEntries<'_, G> {
        TrieEntries::new(self.borrowed(), Bound::Included(prefix), End::Prefix(prefix.to_vec()))
    }

    /// The length and the value of the longest key that `text` begins with.
    pub fn longest_prefix(&self, text: &[u8]) -> Option<(usize, Found)> {
        self.prefixes(text).last()
    }

    /// The lengths and values of all keys that `text` begins with, the shortest first.
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

impl<'t, G: Guard> TrieEntries<'t, G> {
    /// The keys of a trie between two bounds.
    pub(super) fn between(trie: Trie<&'t [u8], G>, start: Bound<&[u8]>, end: Bound<&[u8]>) -> Self {
        Self::new(trie, start, End::Bound(end.map(<[u8]>::to_vec)))
    }

    fn new(trie: Trie<&'t [u8], G>, start: Bound<&[u8]>, end: End) -> Self {
        let left = trie.nodes() + 1;
        let mut entries = Self { trie, stack: vec![], path: vec![], end, left };
        match start {
            Bound::Unbounded => entries.stack.push((entries.trie.root(), 0)),
            Bound::Included(key) => entries.seek(key),
            Bound::Excluded(key) => {
                // This is the least key that is greater than `key`.
                entries.seek(&[key, &[0]].concat());
            }
        }
        entries
    }

    /// The next key and its value. The key lies in a buffer of this iterator, so nothing is allocated.
    pub fn next_entry(&mut self) -> Option<(&[u8], Found)> {
        while let Some((node, parent)) = self.stack.pop() {
            self.left = match self.left.checked_sub(1) {
                Some(left) if parent <= super::MAX_KEY => left,
                _ => {
                    self.stack.clear();
                    return None;
                }
            };
            self.path.truncate(parent);
            self.trie.push_label(node, &mut self.path);
            self.stack.extend(self.trie.sibling(node).map(|sibling| (sibling, parent)));
            self.stack.extend(self.trie.first_child(node).map(|child| (child, self.path.len())));
            let Some(found) = self.trie.terminal(node) else { continue };
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

impl<G> fmt::Debug for TrieEntries<'_, G> {
    /// Shows the last key, but not the following ones.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrieEntries").field("trie", &self.trie).field("path", &self.path).finish_non_exhaustive()
    }
}

impl<G: Guard> Iterator for TrieEntries<'_, G> {
    type Item = (Vec<u8>, Found);

    fn next(&mut self) -> Option<Self::Item> {
        self.next_entry().map(|(key, found)| (key.to_vec(), found))
    }
}
