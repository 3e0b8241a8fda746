//! The LOUDS trie of the paper; see [`LoudsTrie`].

mod build;
mod node;

use std::ops::Deref;

use crate::bits::{Buffer, Rank1, Select0};
use crate::dict::Value;

pub use build::LoudsBuilder;
pub use node::LoudsNode;

/// "What is the number of this key?" by a frozen trie of 11 bits a node and an index, and the values.
///
/// Nodes are numbered level by level, the root 0. BASE is the number of children of each in unary, behind that of a
/// super-root of one child; LEAF marks the nodes where a key ends; EDGE is the byte of every node but the root; VAL is the
/// values of the marked nodes, in their order.
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
/// The children of node i begin behind zero i of BASE ([`Select0`]), and as many ones are before them as nodes; the value
/// of node i is that with the number of ones before LEAF i ([`Rank1`]).
///
/// **Cost.** 11 bits a node, an index of a tenth of BASE and a sixteenth of LEAF, and 4 bytes a key. A lookup takes one
/// `select0` and a scan of labels for every byte of the key, each one or two cache misses in a large trie.
///
/// **Source.** Koyanagi, Yoshida, Unno, Shinjo, "Method to Build Bloom Filters for Online Building of LOUDS TRIE" (2011),
/// section 4.2; Rahman, Raman, "Engineering the LOUDS succinct tree representation" (2006). There LEAF marks the nodes
/// without children, which is the same while no key is a prefix of another; here it marks the nodes where a key ends, so
/// any set of byte strings will do. Deleted keys have a label there among the values; here a bit beside them, and none at
/// all if no key was deleted.
#[derive(Clone, Debug)]
pub struct LoudsTrie<M = Buffer> {
    base: Select0<M>,
    leaf: Rank1<M>,
    edge: M,
    /// Four little-endian bytes a value; 0 for a deleted key.
    values: M,
    /// A bit for each value: its key was deleted. Empty if none was.
    dead: M,
}

impl<M: Deref<Target = [u8]>> LoudsTrie<M> {
    /// The trie that has these parts: [`base`](Self::base), [`leaf`](Self::leaf), [`edge`](Self::edge),
    /// [`values`](Self::values) and [`dead`](Self::dead) of one that was built. Nothing if no trie has them: then a walk
    /// could not be trusted to end. Cost: one pass over BASE and LEAF.
    pub fn from_parts(base: Select0<M>, leaf: Rank1<M>, edge: M, values: M, dead: M) -> Option<Self> {
        let (nodes, keys) = (leaf.len(), leaf.rank1(leaf.len()));
        let fits = base.verify()
            && leaf.verify()
            && base.zeros().checked_sub(1) == Some(nodes)
            && base.len() - base.zeros() == nodes
            && (edge.len() as u64).checked_add(1) == Some(nodes)
            && values.len() as u64 == keys * 4
            && (dead.is_empty() || dead.len() as u64 == keys.div_ceil(64) * 8);
        // The super-root has one child, the root; every other node is among the children of one before it.
        let is_tree = || {
            base.select0(0) == Some(1)
                && (1..nodes).all(|node| base.select0(node).is_some_and(|zero| zero - node > node))
        };
        (fits && is_tree()).then_some(Self { base, leaf, edge, values, dead })
    }

    /// What is known of a key; nothing if it is not in the trie.
    pub fn get(&self, key: &[u8]) -> Option<Value> {
        let mut node = 0;
        for &byte in key {
            node = self.child(node, byte)?;
        }
        self.value(node)
    }

    /// The child of a node that has this byte.
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

    /// The number of the first child of a node, if it had one, and the place of its bit in BASE.
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

    /// The node of all keys, where a walk begins.
    pub fn root(&self) -> LoudsNode<'_, M> {
        LoudsNode::root(self)
    }

    /// How many keys there are, deleted ones among them.
    pub fn keys(&self) -> u64 {
        self.values.len() as u64 / 4
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> u64 {
        self.leaf.len()
    }

    /// How many bytes all parts take, with their index.
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

    /// The bytes of the nodes, but the root.
    pub fn edge(&self) -> &[u8] {
        &self.edge
    }

    /// The values, four little-endian bytes each.
    pub fn values(&self) -> &[u8] {
        &self.values
    }

    /// The deleted keys, a bit for each value; empty if there are none.
    pub fn dead(&self) -> &[u8] {
        &self.dead
    }
}
