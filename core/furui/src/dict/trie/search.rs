use super::block::{NodeBlock, below};
use super::guard::Guard;
use super::parts::Names;
use super::position::Position;
use crate::bits::{Cpu, prefetch};

/// The maximum number of blocks that a search reads to find a group of siblings. It bounds the search in a damaged
/// trie.
const MAX_SPAN: usize = 260;

/// A search of a key in progress. The first `at` bytes of the key lead to a group of siblings, which the next step
/// searches.
#[derive(Clone, Copy)]
pub(super) struct Search<'k> {
    key: &'k [u8],
    at: usize,
    /// The number of groups of siblings between the place given by `offset` and `slot` and the group to search. The
    /// first group counted is the one that begins at `slot`, or after it, in the block of nodes at `offset`.
    skip: u32,
    offset: usize,
    slot: u32,
    /// The number of blocks of nodes that this step has read in search of the group of siblings.
    hops: usize,
}

/// The result of one step of a search, from a node to one of its children.
pub(super) enum Step {
    /// The key is not in the trie: no child has a label that the rest of the key begins with.
    Miss,
    /// The step has led to a leaf, which has this index among the leaves. The search ends there.
    Leaf(u64),
    /// The step has led to an inner node, which has this index among the inner nodes. The search may go on with its
    /// children.
    Inner(u64),
}

impl<'k> Search<'k> {
    /// Begins a search of `key` in the group of siblings at `position`, to which the first `at` bytes of the key lead.
    #[inline(always)]
    pub(super) fn new(key: &'k [u8], position: Position, at: usize) -> Self {
        Self { key, at, skip: 0, offset: position.offset(), slot: position.slot(), hops: 0 }
    }

    /// Prefetches the block of nodes that the next step reads first.
    #[inline(always)]
    pub(super) fn fetch<G>(&self, names: &Names<'_, G>) {
        fetch(names.nodes, self.offset);
    }

    /// Moves the search one block of nodes closer to the group of siblings to search. Returns true if the group begins
    /// in the block that is reached, or if there is no such group.
    #[inline(always)]
    pub(super) fn is_at_group<G: Guard>(&mut self, names: &Names<'_, G>) -> bool {
        let Some(block) = names.block(self.offset) else { return true };
        let count = (block.first() & !below(self.slot)).count_ones();
        self.hops += 1;
        if self.skip < count || self.hops > MAX_SPAN {
            return true;
        }
        self.skip -= count;
        self.slot = 0;
        self.offset += block.length();
        false
    }

    /// Finds the child whose label begins with the next byte of the key, and compares the rest of the label with the
    /// key.
    ///
    /// `leaf` is called with the number of a leaf before its label is compared, so that the caller can prefetch its
    /// value.
    #[inline(always)]
    pub(super) fn step<G: Guard>(&mut self, names: &Names<'_, G>, vectors: Cpu, leaf: impl Fn(u64)) -> Step {
        let Some(&byte) = self.key.get(self.at) else { return Step::Miss };
        let Some((block, slot)) = self.child(names, vectors, byte) else { return Step::Miss };
        let inner = block.is_inner(slot);
        let (down, skip) = (block.down(), (block.inner() & below(slot)).count_ones());
        if !inner {
            leaf(block.leaf_rank(slot));
        } else {
            fetch(names.nodes, down.offset());
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
        if !inner {
            return Step::Leaf(block.leaf_rank(slot));
        }
        (self.offset, self.slot, self.skip, self.hops) = (down.offset(), down.slot(), skip, 0);
        Step::Inner(block.inner_rank(slot))
    }

    /// The length of the prefix of the key, in bytes, that leads to the node of the last step.
    #[inline(always)]
    pub(super) fn matched(&self) -> usize {
        self.at
    }

    /// True if the whole key leads to the node of the last step.
    #[inline(always)]
    pub(super) fn is_done(&self) -> bool {
        self.at == self.key.len()
    }

    /// Returns the block and the slot of the sibling whose label begins with `byte`; `None` if there is none.
    #[inline(always)]
    fn child<'a, G: Guard>(&self, names: &Names<'a, G>, vectors: Cpu, byte: u8) -> Option<(NodeBlock<'a>, u32)> {
        let (mut block, mut offset, slot) = group(names, self.offset, self.slot, self.skip, vectors)?;
        // `within` is a mask of the group's slots: from `slot` to the slot before the next first child or, if there is
        // none in the block, to the last slot, because the subtraction then borrows up to the top bit.
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
            block = names.block(offset)?;
            next = block.first();
            within = (next & next.wrapping_neg()).wrapping_sub(1);
        }
        None
    }
}

/// Prefetches the block of nodes at `offset` and, at the usual size of a block, the next one: children are as likely to
/// be in the next block as in this one, and labels are at the end of a block. Which cache lines of the two blocks will
/// be read is known too late for a narrower prefetch.
#[inline(always)]
pub(super) fn fetch(nodes: &[u8], offset: usize) {
    const LINE: usize = 64;
    const TWO_BLOCKS: usize = 12 * LINE;
    if let Some(bytes) = nodes.get(offset..).and_then(|bytes| bytes.first_chunk::<TWO_BLOCKS>()) {
        bytes.iter().step_by(LINE).for_each(prefetch);
    }
}

/// Finds a group of siblings: the one `skip` groups after the group that begins at or after `slot` of the block at
/// `offset`. Returns its block, the block's offset, and the slot of the group's first node.
#[inline(always)]
pub(super) fn group<'a, G: Guard>(
    names: &Names<'a, G>,
    mut offset: usize,
    slot: u32,
    mut skip: u32,
    vectors: Cpu,
) -> Option<(NodeBlock<'a>, usize, u32)> {
    let mut mask = !below(slot);
    for _ in 0..MAX_SPAN {
        let block = names.block(offset)?;
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
