//! The LOUDS trie of the paper; see [`LoudsTrie`].

mod build;
mod node;

use std::ops::Deref;

use crate::bits::{Buffer, Rank1, Select0};
use crate::dict::Value;

pub use build::LoudsBuilder;
pub use node::LoudsNode;

/// A frozen map from keys to values: a trie of 11 bits a node with an index, and the values.
///
/// Nodes are numbered level by level, and the root is 0. BASE has the number of children of each node in unary, after
/// that of a super-root with one child. LEAF marks the nodes where a key ends. EDGE has the byte of every node but the
/// root. VAL has the values of the marked nodes, in their order.
///
/// ```text
///                                       super   0    a    b   ab  ac  bd
///        0            keys  ab ac bd
///       / \           BASE               10    110  110  10   0   0   0
///      a   b          LEAF                     0    0    0    1   1   1
///     / \   \         EDGE                          a    b    b   c   d
///    b   c   d        VAL                                     1   2   3
/// ```
///
/// The children of node i begin after zero i of BASE ([`Select0`]), where the number of ones before them is the number
/// of the first child. The value of node i is the one whose index is the number of ones before LEAF i ([`Rank1`]).
///
/// **Cost.** 11 bits for each node, an index of a tenth of BASE and a sixteenth of LEAF, and 4 bytes for each key. A
/// look-up takes one `select0` and a scan of labels for every byte of the key, each of which is one or two cache misses
/// in a large trie.
///
/// **Source.** Koyanagi, Yoshida, Unno, Shinjo, "Method to Build Bloom Filters for Online Building of LOUDS TRIE"
/// (2011), section 4.2; Rahman, Raman, "Engineering the LOUDS succinct tree representation" (2006). In the paper LEAF
/// marks the nodes without children, so that no key may be a prefix of another one; here it marks the nodes where a key
/// ends, for any set of byte strings. In the paper a deleted key has a special value; here it has a bit beside the
/// values, or no bit if no key is deleted.
///
/// ```
/// use furui::dict::{SortedKeys, freeze};
///
/// let keys = [("ab", Some(1)), ("ac", None), ("bd", Some(3))];
/// let trie = freeze(SortedKeys::new(&keys)?.root(), 0.01, 0)?.trie;
/// assert_eq!(trie.get(b"ab"), Some(Some(1)));
/// assert_eq!(trie.get(b"ac"), Some(None), "a deleted key");
/// assert_eq!(trie.get(b"a"), None);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LoudsTrie<M = Buffer> {
    base: Select0<M>,
    leaf: Rank1<M>,
    edge: M,
    /// Four little-endian bytes for each value; 0 for a deleted key.
    values: M,
    /// A bit for each value, which is set if its key is deleted. Empty if no key is.
    dead: M,
}

impl<M: Deref<Target = [u8]>> LoudsTrie<M> {
    /// The trie with these parts, which are the [`base`](Self::base), [`leaf`](Self::leaf), [`edge`](Self::edge),
    /// [`values`](Self::values) and [`dead`](Self::dead) of a trie that was built. `None` if no trie has them, because
    /// a walk might not end then. Cost: one pass over BASE and LEAF.
    pub fn from_parts(base: Select0<M>, leaf: Rank1<M>, edge: M, values: M, dead: M) -> Option<Self> {
        let (nodes, keys) = (leaf.len(), leaf.rank1(leaf.len()));
        let fits = base.verify()
            && leaf.verify()
            && base.zeros().checked_sub(1) == Some(nodes)
            && base.len() - base.zeros() == nodes
            && (edge.len() as u64).checked_add(1) == Some(nodes)
            && values.len() as u64 == keys * 4
            && (dead.is_empty() || dead.len() as u64 == keys.div_ceil(64) * 8);
        // The super-root has one child, the root; every other node is a child of an earlier one.
        let is_tree = || {
            base.select0(0) == Some(1)
                && (1..nodes).all(|node| base.select0(node).is_some_and(|zero| zero - node > node))
        };
        (fits && is_tree()).then_some(Self { base, leaf, edge, values, dead })
    }

    /// The value of a key; `None` if it is not in the trie.
    pub fn get(&self, key: &[u8]) -> Option<Value> {
        let mut node = 0;
        for &byte in key {
            node = self.child(node, byte)?;
        }
        self.value(node)
    }

    /// The child of a node with this byte.
    #[inline]
    fn child(&self, node: u64, byte: u8) -> Option<u64> {
        let (first, mut bit) = self.children(node)?;
        let labels = &self.edge[first as usize - 1..];
        for (child, &label) in (first..).zip(labels) {
            if label >= byte || !self.base.bit(bit) {
                return (label == byte && self.base.bit(bit)).then_some(child);
            }
            bit += 1;
        }
        None
    }

    /// The number that the first child of a node has if it exists, and the place of its bit in BASE.
    #[inline]
    fn children(&self, node: u64) -> Option<(u64, u64)> {
        let bit = self.base.select0(node)? + 1;
        Some((bit - node - 1, bit))
    }

    #[inline]
    fn value(&self, node: u64) -> Option<Value> {
        if !self.leaf.bit(node) {
            return None;
        }
        let index = self.leaf.rank1(node) as usize;
        let value = self.values.as_chunks().0.get(index).map(|&bytes| u32::from_le_bytes(bytes))?;
        let is_dead = self.dead.get(index / 8).is_some_and(|byte| byte >> (index % 8) & 1 == 1);
        Some((!is_dead).then_some(value))
    }

    /// The root, where a walk begins.
    pub fn root(&self) -> LoudsNode<'_, M> {
        LoudsNode::root(self)
    }

    /// The number of keys, deletions included.
    pub fn keys(&self) -> u64 {
        self.values.len() as u64 / 4
    }

    /// The number of nodes.
    pub fn nodes(&self) -> u64 {
        self.leaf.len()
    }

    /// The bytes of all parts and their index.
    pub fn bytes(&self) -> usize {
        let index = self.base.index().map(<[u8]>::len).iter().sum::<usize>() + self.leaf.index().len();
        let bits = self.base.words().len() + self.leaf.words().len();
        bits + index + self.edge.len() + self.values.len() + self.dead.len()
    }

    /// The numbers of children, in unary.
    pub fn base(&self) -> &Select0<M> {
        &self.base
    }

    /// The nodes where a key ends.
    pub fn leaf(&self) -> &Rank1<M> {
        &self.leaf
    }

    /// The bytes of all nodes but the root.
    pub fn edge(&self) -> &[u8] {
        &self.edge
    }

    /// The values, four little-endian bytes for each.
    pub fn values(&self) -> &[u8] {
        &self.values
    }

    /// A bit for each value, which is set if its key is deleted; empty if no key is.
    pub fn dead(&self) -> &[u8] {
        &self.dead
    }
}
