use std::ops::Deref;

use super::block::{NodeBlock, below};
use super::position::Position;
use super::search::group;
use super::{Found, Guard, Trie};

/// A node of a [`Trie`], good for that trie only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrieNode(u64);

/// The root is no node of a block.
const ROOT: u64 = u64::MAX;

impl TrieNode {
    fn new(offset: usize, slot: u32) -> Self {
        Self(Position::new(offset, slot).0)
    }

    pub(super) fn at(position: Position) -> Self {
        Self(position.0)
    }

    fn position(self) -> Position {
        Position(self.0)
    }
}

/// Walks node by node. Every step is a look at one block, two at times, and no label is decoded but by
/// [`push_label`](Trie::push_label).
///
/// Whatever the bytes are, a walk down ends, because children come behind their parent. But in a damaged trie there may be
/// many ways to a node: who visits all of them stops after [`nodes`](Trie::nodes).
impl<M: Deref<Target = [u8]>, G: Guard> Trie<M, G> {
    /// The root: the empty path.
    pub fn root(&self) -> TrieNode {
        TrieNode(ROOT)
    }

    /// The child whose label begins with the least byte.
    pub fn first_child(&self, node: TrieNode) -> Option<TrieNode> {
        if node.0 == ROOT {
            return (self.nodes() > 0).then_some(TrieNode(0));
        }
        let (block, slot) = self.block(node)?;
        if !block.is_inner(slot) {
            return None;
        }
        let (down, skip) = (block.down(), (block.inner() & below(slot)).count_ones());
        let (_, offset, slot) = group(&self.names(), down.offset(), down.slot(), skip, self.vectors)?;
        Some(TrieNode::new(offset, slot)).filter(|child| *child > node)
    }

    /// The next child of the same parent.
    pub fn sibling(&self, node: TrieNode) -> Option<TrieNode> {
        let (block, slot) = self.block(node)?;
        let position = node.position();
        let (next, block, slot) = match slot {
            63 => {
                let offset = position.offset() + block.length();
                (TrieNode::new(offset, 0), self.names().block(offset)?, 0)
            }
            _ => (TrieNode(node.0 + 1), block, slot + 1),
        };
        (block.first() >> slot & 1 == 0).then_some(next)
    }

    /// Whether it has children.
    pub fn has_children(&self, node: TrieNode) -> bool {
        match self.block(node) {
            Some((block, slot)) => block.is_inner(slot),
            None => node.0 == ROOT && self.nodes() > 0,
        }
    }

    /// The first byte of its label; 0 for the root, whose label is empty.
    pub fn first_byte(&self, node: TrieNode) -> u8 {
        self.block(node).map_or(0, |(block, slot)| block.edges()[slot as usize])
    }

    /// Appends its label, the bytes between its parent and itself, to `out`.
    pub fn push_label(&self, node: TrieNode, out: &mut Vec<u8>) {
        let Some((block, slot)) = self.block(node) else { return };
        out.push(block.edges()[slot as usize]);
        let names = self.names();
        let label = block.label(slot, self.vectors).and_then(|label| names.rest(label, self.vectors));
        label.into_iter().for_each(|rest| names.append(rest, out));
    }

    /// Its rank among inner nodes, the root the first; nothing if it is a leaf.
    pub(super) fn inner_rank(&self, node: TrieNode) -> Option<u64> {
        match self.block(node) {
            Some((block, slot)) => block.is_inner(slot).then(|| block.inner_rank(slot)),
            None => Some(0),
        }
    }

    /// The number of the key that ends with it, if one does.
    pub fn id(&self, node: TrieNode) -> Option<u64> {
        let inner = match self.block(node) {
            Some((block, slot)) if !block.is_inner(slot) => return self.leaf_id(block.leaf_rank(slot)),
            Some((block, slot)) => block.inner_rank(slot),
            None if node.0 == ROOT => 0,
            None => return None,
        };
        self.inner_id(inner)
    }

    /// What the key holds that ends with it, if one does.
    pub fn terminal(&self, node: TrieNode) -> Option<Found> {
        self.id(node).map(|id| self.found(id))
    }

    fn block(&self, node: TrieNode) -> Option<(NodeBlock<'_>, u32)> {
        let position = node.position();
        Some((self.names().block(position.offset())?, position.slot()))
    }
}
