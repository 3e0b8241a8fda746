//! Blocks of 64 nodes. docs/format.md, "Compact trie", is the normative description.
//!
//! ```text
//! +0   first   u64      bit = 1: the node is the first child of its parent
//! +8   inner   u64      bit = 1: the node has children
//! +16  one     u64 \    class of the label's rest (after its first byte): neither = empty, one = 1-byte code,
//! +24  two     u64 /    two = 2-byte code, both = record
//! +32  down    5 bytes  position of the first child of the block's first inner node
//! +37  length  u16      of the block, in bytes
//! +39  inners  u32      how many inner nodes come before the block, the root counted
//! +43  leaves  u32      how many leaves come before the block
//! +47  edges   64 × u8  first bytes of the labels
//! +111 codes, in the order of the nodes; one byte for each record: its length; the records
//! ```

use super::label::Label;
use super::position::{NODES, Position};
use crate::bits::Cpu;
use crate::format::field::{array_at, u16_at, u32_at, u64_at};

pub(super) const FIRST: usize = 0;
pub(super) const INNER: usize = 8;
pub(super) const ONE: usize = 16;
pub(super) const TWO: usize = 24;
pub(super) const DOWN: usize = 32;
pub(super) const LENGTH: usize = 37;
pub(super) const INNERS: usize = 39;
pub(super) const LEAVES: usize = 43;
pub(super) const EDGES: usize = 47;
pub(super) const CODES: usize = EDGES + NODES;

/// A view of one block of 64 nodes, and of the bytes of the trie after it.
#[derive(Clone, Copy)]
pub(super) struct NodeBlock<'a> {
    head: &'a [u8; CODES],
    body: &'a [u8],
}

impl<'a> NodeBlock<'a> {
    /// The block of nodes that begins at `offset`; `None` if too few bytes follow.
    #[inline(always)]
    pub(super) fn at(nodes: &'a [u8], offset: usize) -> Option<Self> {
        let (head, body) = nodes.get(offset..)?.split_first_chunk()?;
        Some(Self { head, body })
    }

    #[inline(always)]
    pub(super) fn first(self) -> u64 {
        u64_at(self.head, FIRST)
    }

    #[inline(always)]
    pub(super) fn inner(self) -> u64 {
        u64_at(self.head, INNER)
    }

    #[inline(always)]
    fn one(self) -> u64 {
        u64_at(self.head, ONE)
    }

    #[inline(always)]
    fn two(self) -> u64 {
        u64_at(self.head, TWO)
    }

    #[inline(always)]
    pub(super) fn down(self) -> Position {
        Position(u64_at(self.head, DOWN) & ((1 << Position::BITS) - 1))
    }

    /// The length of the block in bytes. It is at least that of an empty block, so a walk from block to block ends.
    #[inline(always)]
    pub(super) fn length(self) -> usize {
        usize::from(u16_at(self.head, LENGTH)).max(CODES)
    }

    #[inline(always)]
    pub(super) fn edges(self) -> &'a [u8; NODES] {
        self.head.last_chunk().expect("edges are the end of the head")
    }

    /// The number of inner nodes (nodes with children) of the trie before the inner node in `slot`, the root included.
    #[inline(always)]
    pub(super) fn inner_rank(self, slot: u32) -> u64 {
        u64::from(u32_at(self.head, INNERS)) + u64::from((self.inner() & below(slot)).count_ones())
    }

    /// The number of leaves of the trie before the leaf in `slot`.
    #[inline(always)]
    pub(super) fn leaf_rank(self, slot: u32) -> u64 {
        u64::from(u32_at(self.head, LEAVES)) + u64::from((!self.inner() & below(slot)).count_ones())
    }

    #[inline(always)]
    pub(super) fn is_inner(self, slot: u32) -> bool {
        self.inner() >> slot & 1 == 1
    }

    /// The encoded label, without its first byte, of the node in `slot`; `None` if it is invalid.
    #[inline(always)]
    pub(super) fn label(self, slot: u32, vectors: Cpu) -> Option<Label<'a>> {
        let (one, two) = (self.one(), self.two());
        let code =
            (one & !two & below(slot)).count_ones() as usize + 2 * (two & !one & below(slot)).count_ones() as usize;
        match (one >> slot & 1, two >> slot & 1) {
            (0, 0) => Some(Label::Empty),
            (1, 0) => Some(Label::One(*self.body.get(code)?)),
            (0, 1) => Some(Label::Two(u16::from_le_bytes(*self.body.get(code..)?.first_chunk()?))),
            _ => {
                let codes = (one & !two).count_ones() as usize + 2 * (two & !one).count_ones() as usize;
                let lengths = self.body.get(codes..)?;
                let records = lengths.get((one & two).count_ones() as usize..)?;
                let index = (one & two & below(slot)).count_ones() as usize;
                let length = lengths[index];
                let start = vectors.sum_7bit(lengths, index) as usize;
                Some(Label::Record { records, start, nibbles: usize::from(length & 0x7F), link: length > 0x7F })
            }
        }
    }
}

/// A mask with a one for each slot before `slot`.
#[inline(always)]
pub(super) fn below(slot: u32) -> u64 {
    (1 << slot) - 1
}

/// Writes the position of the children of the first inner node of the block at `offset` into this block.
pub(super) fn set_down(nodes: &mut [u8], offset: usize, down: Position) {
    let bytes: [u8; 5] = array_at(&down.0.to_le_bytes(), 0);
    nodes[offset + DOWN..][..5].copy_from_slice(&bytes);
}
