/// The value of a key in a trie: a number, or `None` if the key was deleted (a tombstone).
pub type Value = Option<u32>;

/// A node of a trie: the end of a path from the root, and so a prefix of keys.
///
/// Everything with these four methods is a trie: it can be walked ([`breadth_first`](super::breadth_first)), frozen and
/// merged. The children of a node are in the order of their bytes.
///
/// ```text
///        root               keys "ab", "ac", "bd"
///       /    \
///      a      b             first_child(root) = a     sibling(a) = b     alphabet(b) = 'b'
///     / \      \
///    b   c      d           value(b) = Some, as for c and d: keys end there
/// ```
///
/// **Source.** Koyanagi, Yoshida, Unno, Shinjo, "Method to Build Bloom Filters for Online Building of LOUDS TRIE"
/// (2011), section 4.1. In the paper keys end exactly at the nodes without children. Here `value` says where a key
/// ends, so that a key may be a prefix of another one, or empty.
///
/// ```
/// use furui::raw::{Node, SortedKeys};
///
/// fn count(node: &impl Node) -> usize {
///     let children = std::iter::successors(node.first_child(), |child| child.sibling());
///     usize::from(node.value().is_some()) + children.map(|child| count(&child)).sum::<usize>()
/// }
///
/// let keys = [("a", Some(1)), ("ab", Some(2)), ("b", Some(3))];
/// assert_eq!(count(&SortedKeys::new(&keys)?.root()), 3);
/// # Ok::<(), furui::Error>(())
/// ```
pub trait Node: Sized {
    /// The child with the smallest byte; `None` if there is no child.
    fn first_child(&self) -> Option<Self>;

    /// The next child of the same parent; `None` for the last child and for the root.
    fn sibling(&self) -> Option<Self>;

    /// The last byte of the path to this node; 0 for the root, which has none.
    fn alphabet(&self) -> u8;

    /// The value of the key that ends at this node; `None` if no key does.
    fn value(&self) -> Option<Value>;
}
