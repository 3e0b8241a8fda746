//! The LOUDS trie of Koyanagi et al.; see [`LoudsTrie`].

mod build;
mod check;
mod file;
mod node;
mod prune;
mod renumber;

use std::ops::Deref;

use crate::bits::{Buffer, Rank1, Select0};
use crate::dict::Value;
use crate::dict::trie::{Guard, Trusted};

pub use build::LoudsBuilder;
pub use node::LoudsNode;

/// A frozen map from keys to values: a trie of 11 bits a node with an index, and the values.
///
/// Nodes are numbered level by level, and the root is 0. BASE has the number of children of each node in unary; a
/// super-root with one child, the root, comes first. LEAF marks the nodes where a key ends. EDGE has the byte of every
/// node but the root. VAL has the values of the marked nodes, in the order of the nodes.
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
/// of the first child. The index in VAL of the value of node i is the number of ones in LEAF before bit i ([`Rank1`]).
///
/// A dictionary has tries of this kind if its layout is [`Layout::Louds`](crate::dict::Layout::Louds).
///
/// **Cost.** 11 bits for each node, an index of a tenth of BASE and a sixteenth of LEAF, and 4 bytes for each key. A
/// look-up takes one `select0` and a scan of labels for every byte of the key. In a large trie, each of these costs one
/// or two cache misses.
///
/// **Source.** Koyanagi, Yoshida, Unno, Shinjo, "Method to Build Bloom Filters for Online Building of LOUDS TRIE"
/// (2011), section 4.2; Rahman, Raman, "Engineering the LOUDS succinct tree representation" (2006). In the paper LEAF
/// marks the nodes without children, so that no key may be a prefix of another one; here it marks the nodes where a key
/// ends, for any set of byte strings. In the paper a deleted key has a special value; here it has a bit beside the
/// values, or no bit if no key is deleted.
///
/// ```
/// use furui::raw::{SortedKeys, freeze};
///
/// let keys = [("ab", Some(1)), ("ac", None), ("bd", Some(3))];
/// let trie = freeze(SortedKeys::new(&keys)?.root(), (), |(), _| (), false, |()| {})?;
/// assert_eq!(trie.get(b"ab"), Some(Some(1)));
/// assert_eq!(trie.get(b"ac"), Some(None), "a deleted key");
/// assert_eq!(trie.get(b"a"), None);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LoudsTrie<M = Buffer, G = Trusted> {
    base: Select0<M>,
    leaf: Rank1<M>,
    edge: M,
    /// The values, in four little-endian bytes each; 0 for a deleted key.
    values: M,
    /// A bit for each value, which is set if its key is deleted. Empty if no key is deleted.
    dead: M,
    /// The address of the trie's file in memory. The guard, which checks bytes before they are read, is given offsets
    /// from it.
    origin: usize,
    /// The guard, which checks the bytes of a file before they are read, or trusts them.
    guard: G,
}

impl<M: Deref<Target = [u8]>> LoudsTrie<M> {
    /// The trie with these parts, which are the [`base`](Self::base), [`leaf`](Self::leaf), [`edge`](Self::edge),
    /// [`values`](Self::values) and [`dead`](Self::dead) of a trie that was built. `None` if they are not the parts of
    /// one trie: a walk over them might not end. Cost: one pass over BASE, LEAF and EDGE.
    pub fn from_parts(base: Select0<M>, leaf: Rank1<M>, edge: M, values: M, dead: M) -> Option<Self> {
        let trie = Self { base, leaf, edge, values, dead, origin: 0, guard: Trusted };
        trie.check().is_ok().then_some(trie)
    }

    /// The root of the trie, where a walk over its nodes begins.
    pub fn root(&self) -> LoudsNode<'_, M> {
        LoudsNode::root(self)
    }
}

impl<M: Deref<Target = [u8]>, G: Guard> LoudsTrie<M, G> {
    /// A view of this trie that borrows its bytes.
    pub(in crate::dict) fn borrowed(&self) -> LoudsTrie<&[u8], G> {
        self.guarded(self.guard)
    }

    /// This trie over borrowed bytes, with another guard, which checks the bytes that are read or trusts them.
    pub(in crate::dict) fn guarded<H>(&self, guard: H) -> LoudsTrie<&[u8], H> {
        LoudsTrie {
            base: self.base.borrowed(),
            leaf: self.leaf.borrowed(),
            edge: &self.edge,
            values: &self.values,
            dead: &self.dead,
            origin: self.origin,
            guard,
        }
    }

    /// Reports to the guard that `bytes` are read, so that it can check them.
    #[inline(always)]
    fn see(&self, bytes: &[u8]) {
        self.guard.touch(bytes.as_ptr().addr().wrapping_sub(self.origin), bytes.len());
    }

    /// The byte at `index` in a section of the trie; `None` beyond its end.
    #[inline(always)]
    fn byte(&self, part: &[u8], index: u64) -> Option<u8> {
        let byte = part.get(usize::try_from(index).ok()?..)?.first_chunk::<1>()?;
        self.see(byte);
        Some(byte[0])
    }

    /// The value of a key; `None` if it is not in the trie.
    pub fn get(&self, key: &[u8]) -> Option<Value> {
        let mut node = 0;
        for &byte in key {
            node = self.child(node, byte)?;
        }
        self.value(node)
    }

    /// For each key that is a prefix of `text`, the shortest first: the key's length in bytes, and its value.
    pub fn prefixes(&self, text: &[u8]) -> impl Iterator<Item = (usize, Value)> {
        let mut at = Some(0);
        let nodes = std::iter::once(0).chain(text.iter().map_while(move |&byte| {
            at = self.child(at?, byte);
            at
        }));
        nodes.enumerate().filter_map(|(length, node)| Some((length, self.value(node)?)))
    }

    /// The child of `node` whose label is `byte`; `None` if there is no such child.
    #[inline]
    fn child(&self, node: u64, byte: u8) -> Option<u64> {
        let (mut child, mut bit) = self.children(node)?;
        while self.has_one(bit) {
            let label = self.label(child)?;
            if label >= byte {
                return (label == byte).then_some(child);
            }
            (child, bit) = (child + 1, bit + 1);
        }
        None
    }

    /// Returns the number of a node's first child, and the index of that child's bit in BASE; `None` if the node has no
    /// children.
    #[inline]
    fn children(&self, node: u64) -> Option<(u64, u64)> {
        let bit = self.base.select0_seen(node, |bytes| self.see(bytes))? + 1;
        Some((bit.checked_sub(node + 1)?, bit))
    }

    /// True if the bit with index `bit` in BASE, the unary numbers of children, is a one.
    #[inline]
    fn has_one(&self, bit: u64) -> bool {
        bit < self.base.len() && self.byte(self.base.words(), bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
    }

    /// The byte on the edge that leads to a node; `None` for the root.
    #[inline]
    fn label(&self, node: u64) -> Option<u8> {
        self.byte(&self.edge, node.checked_sub(1)?)
    }

    #[inline]
    fn value(&self, node: u64) -> Option<Value> {
        if node >= self.leaf.len() || self.byte(self.leaf.words(), node / 8)? >> (node % 8) & 1 == 0 {
            return None;
        }
        self.value_at(self.leaf.rank1_seen(node, |bytes| self.see(bytes)))
    }

    /// The value, or the deletion, at `index` in the list of values.
    #[inline]
    fn value_at(&self, index: u64) -> Option<Value> {
        let bytes = self.values.as_chunks().0.get(usize::try_from(index).ok()?)?;
        self.see(bytes);
        let is_dead = self.byte(&self.dead, index / 8).is_some_and(|byte| byte >> (index % 8) & 1 == 1);
        Some((!is_dead).then_some(u32::from_le_bytes(*bytes)))
    }

    /// The values of all keys that are not deleted, in the order of their nodes.
    pub(in crate::dict) fn live_values(&self) -> impl Iterator<Item = u32> {
        (0..self.keys()).filter_map(|index| self.value_at(index)?)
    }

    /// The number of keys, deletions included.
    pub fn keys(&self) -> u64 {
        self.values.len() as u64 / 4
    }

    /// The number of nodes, the root included.
    pub fn nodes(&self) -> u64 {
        self.leaf.len()
    }

    /// The size of all sections of the trie and their rank and select indexes, in bytes.
    pub fn bytes(&self) -> usize {
        let index = self.base.index().map(<[u8]>::len).iter().sum::<usize>() + self.leaf.index().len();
        let bits = self.base.words().len() + self.leaf.words().len();
        bits + index + self.edge.len() + self.values.len() + self.dead.len()
    }

    /// The number of children of each node, in unary, with a select index.
    pub fn base(&self) -> &Select0<M> {
        &self.base
    }

    /// The bits that mark the nodes at which a key ends, with a rank index.
    pub fn leaf(&self) -> &Rank1<M> {
        &self.leaf
    }

    /// The labels of the edges: one byte for each node but the root.
    pub fn edge(&self) -> &[u8] {
        &self.edge
    }

    /// The values of the keys, four little-endian bytes for each.
    pub fn values(&self) -> &[u8] {
        &self.values
    }

    /// A bit for each value, which is set if its key is deleted; empty if no key is deleted.
    pub fn dead(&self) -> &[u8] {
        &self.dead
    }
}
