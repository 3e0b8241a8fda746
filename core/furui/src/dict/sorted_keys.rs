use super::{Node, Value};
use crate::error::TrieError;

/// Keys in ascending order as a trie: a node is the range of keys that begin with its path.
///
/// ```text
/// "ab"  "ac"  "bd"
/// ├── a ────┤├ b ┤       first_child(root): the keys that begin with the first key's byte
/// ├ b ┤├ c ┤├ d ─┤       sibling(a): the keys after those, as far as they share their next byte
/// ```
///
/// **Cost.** No memory. Finding the end of a range of m keys takes about 2 log₂ m comparisons of one byte.
///
/// ```
/// use furui::raw::{Node, SortedKeys};
///
/// let keys = [("ab", Some(1)), ("ac", Some(2)), ("bd", Some(3))];
/// let a = SortedKeys::new(&keys)?.root().first_child().unwrap();
/// assert_eq!((a.alphabet(), a.sibling().unwrap().alphabet()), (b'a', b'b'));
/// # Ok::<(), furui::dict::TrieError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SortedKeys<'a, K> {
    entries: &'a [(K, Value)],
}

impl<'a, K: AsRef<[u8]>> SortedKeys<'a, K> {
    /// The trie of the keys of `entries`.
    ///
    /// # Errors
    /// [`TrieError::Unsorted`] if a key is not greater than the one before it, comparing bytes.
    pub fn new(entries: &'a [(K, Value)]) -> Result<Self, TrieError> {
        match entries.windows(2).position(|pair| pair[0].0.as_ref() >= pair[1].0.as_ref()) {
            None => Ok(Self { entries }),
            Some(index) => Err(TrieError::Unsorted { index: index + 1 }),
        }
    }

    /// The root, which is the range of all keys.
    pub fn root(&self) -> SortedNode<'a, K> {
        SortedNode { entries: self.entries, len: self.entries.len(), depth: 0 }
    }
}

/// A node of [`SortedKeys`].
///
/// ```
/// use furui::raw::{Node, SortedKeys};
///
/// let keys = [("a", Some(1)), ("ab", Some(2))];
/// let a = SortedKeys::new(&keys)?.root().first_child().expect("the node of a");
/// assert_eq!((a.value(), a.sibling().is_none()), (Some(Some(1)), true));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Debug)]
pub struct SortedNode<'a, K> {
    /// The keys that begin with the node's path, and after them the keys of the node's later siblings.
    entries: &'a [(K, Value)],
    /// The number of keys that begin with the node's path.
    len: usize,
    /// The length of the node's path, in bytes.
    depth: usize,
}

impl<'a, K: AsRef<[u8]>> SortedNode<'a, K> {
    /// The node at `depth` that holds the first of `entries`; `None` if there are no entries.
    fn first_of(entries: &'a [(K, Value)], depth: usize) -> Option<Self> {
        let byte = |entry: &(K, Value)| entry.0.as_ref()[depth - 1];
        let first = byte(entries.first()?);
        let is_below = |entry: &(K, Value)| byte(entry) == first;
        // Most ranges are short, so the search for the end first looks 1, 2, 4, ... entries ahead, and then is binary.
        let mut ahead = 1;
        while entries.get(ahead).is_some_and(is_below) {
            ahead *= 2;
        }
        let within = &entries[..ahead.min(entries.len())];
        let len = ahead / 2 + within[ahead / 2..].partition_point(is_below);
        Some(Self { entries, len, depth })
    }
}

impl<K: AsRef<[u8]>> Node for SortedNode<'_, K> {
    fn first_child(&self) -> Option<Self> {
        let below = &self.entries[usize::from(self.value().is_some())..self.len];
        Self::first_of(below, self.depth + 1)
    }

    fn sibling(&self) -> Option<Self> {
        Self::first_of(&self.entries[self.len..], self.depth)
    }

    fn alphabet(&self) -> u8 {
        match self.depth.checked_sub(1) {
            Some(last) => self.entries[0].0.as_ref()[last],
            None => 0,
        }
    }

    fn value(&self) -> Option<Value> {
        let (key, value) = self.entries.first()?;
        (key.as_ref().len() == self.depth).then_some(*value)
    }
}

impl<K> Clone for SortedNode<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for SortedNode<'_, K> {}
