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

/// One of the tries that are merged.
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

/// A branch: what one of the tries has below a node of the merged trie, beginning with `byte`.
#[derive(Clone, Copy)]
pub(super) struct Branch<'t> {
    pub(super) byte: u8,
    pub(super) trie: u8,
    pub(super) at: At<'t>,
}

/// The place in its trie to which a branch leads. A branch is one byte and the subtree below it.
#[derive(Clone, Copy)]
pub(super) enum At<'t> {
    /// A node whose label begins with the branch's byte.
    Node(NodeBlock<'t>, Position),
    /// The rest of a label after the branch's byte, and the label's end.
    Tail(Text<'t>, End),
}

/// What is at the end of a label.
#[derive(Clone, Copy)]
pub(super) struct End {
    /// The cursor of the children, if the node has some.
    pub(super) beyond: Option<Cursor>,
    /// The value of the key that ends at the end of the label, if one does.
    pub(super) found: Option<Found>,
}

/// The leaves whose values are prefetched with the next block, counted from the first leaf of the current block.
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

    /// The first child that a cursor leads to.
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

    /// The next child of the same parent.
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

    /// Prefetches the next block and its values. A walk needs them soon, because it visits the nodes of each level in
    /// order.
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

    /// The end of the label of the node in a slot.
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

/// The next block is prefetched only for groups that begin before this slot, so that it is not prefetched again for
/// every group of a block.
const PREFETCH_SLOTS: u32 = 8;
const LINE: usize = 64;
/// The number of bytes of the next block that are prefetched. Few blocks are longer.
const NEXT_BYTES: usize = 7 * LINE;
