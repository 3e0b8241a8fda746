use super::block::{Block, Position, below};
use super::parts::Names;
use crate::bits::{Vectors, prefetch};

/// A group of siblings has at most 256 nodes, and the children of a block's inner nodes are within this many blocks.
const MAX_SPAN: usize = 260;

/// A search on its way: `at` bytes of the key lead to a group of children.
#[derive(Clone, Copy)]
pub(super) struct Search<'k> {
    key: &'k [u8],
    at: usize,
    /// The group comes this many groups behind the one that begins at or after `slot` of the block at `offset`.
    skip: u32,
    offset: usize,
    slot: u32,
}

/// What a step came to.
pub(super) enum Step {
    /// A level further.
    Down,
    /// Nowhere.
    Miss,
    /// The key ends with the leaf of this rank.
    Leaf(u64),
    /// The key ends with the inner node of this rank.
    Inner(u64),
}

impl<'k> Search<'k> {
    /// A search that begins with the group at `position`, to which `at` bytes of the key lead.
    #[inline(always)]
    pub(super) fn new(key: &'k [u8], position: Position, at: usize) -> Self {
        Self { key, at, skip: 0, offset: position.offset(), slot: position.slot() }
    }

    /// Asks for the lines that the next step begins with.
    #[inline(always)]
    pub(super) fn fetch(&self, names: &Names<'_>) {
        for line in [0, 64, 128] {
            if let Some(byte) = names.nodes.get(self.offset + line) {
                prefetch(byte);
            }
        }
    }

    /// Finds the child that the key goes on with, and compares its label.
    ///
    /// `leaf` is told of a leaf's rank before its label is compared.
    #[inline(always)]
    pub(super) fn step(&mut self, names: &Names<'_>, vectors: Vectors, leaf: impl Fn(u64)) -> Step {
        let Some(&byte) = self.key.get(self.at) else { return Step::Miss };
        let Some((block, slot)) = self.child(names, vectors, byte) else { return Step::Miss };
        let inner = block.is_inner(slot);
        if !inner {
            leaf(block.leaf_rank(slot));
        }
        let rest = &self.key[self.at + 1..];
        let Some(len) = block
            .label(slot, vectors)
            .and_then(|label| names.rest(label, vectors))
            .and_then(|label| names.length_if_prefix(label, rest, vectors))
        else {
            return Step::Miss;
        };
        self.at += 1 + len;
        let ends = self.at == self.key.len();
        match (inner, ends) {
            (false, true) => Step::Leaf(block.leaf_rank(slot)),
            (false, false) => Step::Miss,
            (true, true) => Step::Inner(block.inner_rank(slot)),
            (true, false) => {
                let down = block.down();
                self.skip = (block.inner() & below(slot)).count_ones();
                (self.offset, self.slot) = (down.offset(), down.slot());
                Step::Down
            }
        }
    }

    /// The node of the group whose label begins with `byte`.
    #[inline(always)]
    fn child<'a>(&self, names: &Names<'a>, vectors: Vectors, byte: u8) -> Option<(Block<'a>, u32)> {
        let (mut block, mut offset, slot) = group(names.nodes, self.offset, self.slot, self.skip, vectors)?;
        // Up to the next first child: the borrow of the subtraction runs to the top if there is none in the block.
        let mut next = block.first() & (!1 << slot);
        let mut within = (next & next.wrapping_neg()).wrapping_sub(1 << slot);
        for _ in 0..MAX_SPAN {
            let found = vectors.positions(block.edges(), byte) & within;
            if found != 0 {
                return Some((block, found.trailing_zeros()));
            }
            if next != 0 {
                return None;
            }
            offset += block.length();
            block = Block::at(names.nodes, offset)?;
            next = block.first();
            within = (next & next.wrapping_neg()).wrapping_sub(1);
        }
        None
    }
}

/// The group that comes `skip` groups behind the one that begins at or after `slot` of the block at `offset`: its block,
/// that block's offset, and the slot of its first node.
#[inline(always)]
pub(super) fn group(
    nodes: &[u8],
    mut offset: usize,
    slot: u32,
    mut skip: u32,
    vectors: Vectors,
) -> Option<(Block<'_>, usize, u32)> {
    let mut mask = !below(slot);
    for _ in 0..MAX_SPAN {
        let block = Block::at(nodes, offset)?;
        let firsts = block.first() & mask;
        let count = firsts.count_ones();
        if skip < count {
            return Some((block, offset, vectors.select(firsts, skip)));
        }
        skip -= count;
        mask = u64::MAX;
        offset += block.length();
    }
    None
}
