use std::ops::Deref;

use super::cursor::Cursor;
use crate::bits::{Cpu, prefetch};
use crate::dict::trie::block::{NodeBlock, below};
use crate::dict::trie::parts::{Names, TriePart};
use crate::dict::trie::position::Position;
use crate::dict::trie::search::group;
use crate::dict::trie::text::Text;
use crate::dict::trie::values::{Width, terminal_rank};
use crate::dict::trie::{Found, Trie, TrieError};

/// One of the tries that are merged, with the parts from which its nodes and values are read.
pub(super) struct Source<'t> {
    number: u8,
    pub(super) names: Names<'t>,
    terminals: &'t [u8],
    values: &'t [u8],
    deleted: &'t [u8],
    leaves: u64,
    keys: u64,
    width: Width,
}

/// A branch of one of the tries that are merged: the keys of this trie that continue with the same byte after the path
/// of the current node.
#[derive(Clone, Copy)]
pub(super) struct Branch<'t> {
    pub(super) byte: u8,
    pub(super) trie: u8,
    pub(super) at: At<'t>,
}

/// The place in a trie at which a branch begins: a node, or the inside of a node's label.
#[derive(Clone, Copy)]
pub(super) enum At<'t> {
    /// The branch begins at this node, whose label begins with the branch's byte: the block of the node, and its
    /// position.
    Node(NodeBlock<'t>, Position),
    /// The branch begins inside a label: the text of the label after the branch's byte, and the end of the label.
    Tail(Text<'t>, End),
}

/// The node at which a label ends: its children, and the key that ends there.
#[derive(Clone, Copy)]
pub(super) struct End {
    /// A cursor at the node's children; `None` for a leaf.
    pub(super) beyond: Option<Cursor>,
    /// The value or deletion of the key that ends at the node; `None` if no key does.
    pub(super) found: Option<Found>,
}

/// The leaves whose values are prefetched together with the next block of nodes, as distances from the first leaf of
/// the current block.
const LEAVES_AHEAD: [u64; 2] = [44, 66];

impl<'t> Source<'t> {
    pub(super) fn new<M: Deref<Target = [u8]>>(number: u8, trie: &'t Trie<M>) -> Self {
        Self {
            number,
            names: trie.names(),
            terminals: trie.part(TriePart::Terminals),
            values: trie.part(TriePart::Values),
            deleted: trie.part(TriePart::Deleted),
            leaves: trie.shape.leaves,
            keys: trie.shape.keys,
            width: trie.shape.width,
        }
    }

    /// The branch of the first child at a cursor, which must stand at the end of a label.
    #[inline(always)]
    pub(super) fn first_child(&self, cursor: Cursor, vectors: Cpu) -> Result<Branch<'t>, TrieError> {
        let down = cursor.down();
        let group = group(&self.names, down.offset(), down.slot(), cursor.skip(), vectors);
        let (block, offset, slot) = group.ok_or(TrieError::Damaged)?;
        if slot < PREFETCH_SLOTS {
            self.fetch_next(block, offset);
        }
        let byte = block.edges()[slot as usize];
        Ok(Branch { byte, trie: self.number, at: At::Node(block, Position::new(offset, slot)) })
    }

    /// The branch of the next child of the same parent; `None` after the last child, or if the branch begins inside a
    /// label.
    #[inline(always)]
    pub(super) fn sibling<'p>(&self, branch: &Branch<'p>) -> Option<Branch<'p>>
    where
        't: 'p,
    {
        let At::Node(mut block, last) = branch.at else { return None };
        let mut position = Position(last.0 + 1);
        if position.slot() == 0 {
            let offset = last.offset() + block.length();
            position = Position::new(offset, 0);
            block = NodeBlock::at(self.names.nodes, offset)?;
        }
        let slot = position.slot();
        let byte = block.edges()[slot as usize];
        (block.first() >> slot & 1 == 0).then_some(Branch { byte, trie: branch.trie, at: At::Node(block, position) })
    }

    /// Prefetches the block of nodes after this one, and the values of its leaves. The merge needs them soon, because
    /// it visits the nodes of each level in order.
    #[inline]
    fn fetch_next(&self, block: NodeBlock<'t>, offset: usize) {
        let next = self.names.nodes.get(offset + block.length()..);
        if let Some(bytes) = next.and_then(|bytes| bytes.first_chunk::<NEXT_BYTES>()) {
            bytes.iter().step_by(LINE).for_each(prefetch);
        }
        for leaf in LEAVES_AHEAD {
            let byte = self.width.bytes(block.leaf_rank(0) + leaf);
            self.values.get(byte as usize).into_iter().for_each(prefetch);
        }
    }

    /// Returns the children and the value of the node in `slot` of a block.
    #[inline(always)]
    pub(super) fn end(&self, block: NodeBlock<'t>, slot: u32) -> End {
        let (beyond, id) = if block.is_inner(slot) {
            let skip = (block.inner() & below(slot)).count_ones();
            let rank = terminal_rank(self.terminals, block.inner_rank(slot));
            (Some(Cursor::children(self.number, block.down(), skip)), rank.map(|rank| self.leaves + rank))
        } else {
            (None, Some(block.leaf_rank(slot)).filter(|&leaf| leaf < self.leaves))
        };
        End { beyond, found: id.filter(|&id| id < self.keys).map(|id| self.held(id)) }
    }

    #[inline(always)]
    fn held(&self, id: u64) -> Found {
        match self.deleted.get((id / 8) as usize) {
            Some(byte) if byte >> (id % 8) & 1 == 1 => Found::Deleted,
            _ => Found::Value(self.width.get(self.values, id)),
        }
    }
}

/// The next block is prefetched only when the merge reads a group of siblings that begins before this slot, so that it
/// is not prefetched once for every group of a block.
const PREFETCH_SLOTS: u32 = 8;
const LINE: usize = 64;
/// The number of bytes of the next block of nodes that are prefetched. Few blocks are longer.
const NEXT_BYTES: usize = 7 * LINE;
