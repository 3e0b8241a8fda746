use std::ops::Deref;

use super::block::{NodeBlock, below};
use super::position::Position;
use super::search::group;
use super::{Found, Guard, Trie};

/// A handle to a node of a [`Trie`]. It is valid only for that trie.
///
/// ```
/// use furui::raw::{Found, Skeleton, Trie};
///
/// let trie = Trie::encode(&Skeleton::from_sorted([(&b"see"[..], Some(1)), (b"seen", Some(2))])?)?;
/// let see = trie.first_child(trie.root()).expect("the node of see");
/// let mut label = vec![];
/// trie.push_label(see, &mut label);
/// assert_eq!((&label[..], trie.terminal(see)), (&b"see"[..], Some(Found::Value(1))));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrieNode(u64);

/// The handle of the root, which lies in no block.
const ROOT: u64 = u64::MAX;

impl TrieNode {
    pub(super) fn new(offset: usize, slot: u32) -> Self {
        Self(Position::new(offset, slot).0)
    }

    pub(super) fn position(self) -> Position {
        Position(self.0)
    }
}

/// Methods that walk node by node. Each reads one block, sometimes two, and only [`push_label`](Trie::push_label)
/// decodes a label.
///
/// A walk down ends even if the trie is damaged, because children come after their parent. But a damaged trie may have
/// many paths to a node, so a walk over all nodes must stop after [`nodes`](Trie::nodes) of them.
impl<M: Deref<Target = [u8]>, G: Guard> Trie<M, G> {
    /// The root, which stands for the empty path.
    pub fn root(&self) -> TrieNode {
        TrieNode(ROOT)
    }

    /// The child whose label has the smallest first byte; `None` if there is no child.
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

    /// The next child of the same parent; `None` if this is the last one.
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

    /// True if the node has children.
    pub(super) fn has_children(&self, node: TrieNode) -> bool {
        match self.block(node) {
            Some((block, slot)) => block.is_inner(slot),
            None => node.0 == ROOT && self.nodes() > 0,
        }
    }

    /// The first byte of the node's label; 0 for the root, whose label is empty.
    pub(super) fn first_byte(&self, node: TrieNode) -> u8 {
        self.block(node).map_or(0, |(block, slot)| block.edges()[slot as usize])
    }

    /// Appends the node's label, which is the bytes between its parent and itself, to `out`.
    pub fn push_label(&self, node: TrieNode, out: &mut Vec<u8>) {
        let Some((block, slot)) = self.block(node) else { return };
        out.push(block.edges()[slot as usize]);
        let names = self.names();
        let label = block.label(slot, self.vectors).and_then(|label| names.rest(label, self.vectors));
        label.into_iter().for_each(|rest| names.append(rest, out));
    }

    /// The node's rank among inner nodes, where the root has rank 0; `None` for a leaf.
    pub(super) fn inner_rank(&self, node: TrieNode) -> Option<u64> {
        match self.block(node) {
            Some((block, slot)) => block.is_inner(slot).then(|| block.inner_rank(slot)),
            None => Some(0),
        }
    }

    /// The id of the key that ends at the node; `None` if no key does.
    pub fn id(&self, node: TrieNode) -> Option<u64> {
        let inner = match self.block(node) {
            Some((block, slot)) if !block.is_inner(slot) => return self.leaf_id(block.leaf_rank(slot)),
            Some((block, slot)) => block.inner_rank(slot),
            None if node.0 == ROOT => 0,
            None => return None,
        };
        self.inner_id(inner)
    }

    /// The value of the key that ends at the node; `None` if no key does.
    pub fn terminal(&self, node: TrieNode) -> Option<Found> {
        self.id(node).map(|id| self.found(id))
    }

    fn block(&self, node: TrieNode) -> Option<(NodeBlock<'_>, u32)> {
        let position = node.position();
        Some((self.names().block(position.offset())?, position.slot()))
    }
}
