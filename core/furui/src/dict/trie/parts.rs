use std::ops::Range;

use super::block::{CODES, NodeBlock};
use super::guard::{Guard, Trusted};
use super::label::Token;

/// The sections of the bytes of a compact trie. Each begins at an offset that is a multiple of 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TriePart {
    /// The nodes of the trie, in blocks of 64.
    Nodes,
    /// For each code of a frequent label, the offset and the length of the label's text in [`Texts`](Self::Texts).
    Places,
    /// The texts of the frequent labels, which nodes refer to by codes.
    Texts,
    /// The token dictionary: short texts, 16 bytes each, of which rare labels are composed.
    Tokens,
    /// The texts of labels that are too long to be stored in a block of nodes.
    Long,
    /// A bit for each inner node, which is set if a key ends there, with a rank index; in lines of 64 bytes.
    Terminals,
    /// The buckets of the jump table, a hash table from prefixes of keys to nodes deep in the trie.
    Buckets,
    /// The paths from the root to the nodes that the jump table leads to. An entry of the table has only some bits of a
    /// hash, so a search compares its key with the path before it jumps.
    Paths,
    /// The values of the keys, bit-packed: each has the same number of bits.
    Values,
    /// A bit for each key, which is set if the key is deleted; empty if no key is deleted.
    Deleted,
}

pub(super) const PARTS: usize = 10;

impl TriePart {
    /// All sections of a trie, in the order in which they are stored.
    pub(super) const ALL: [Self; PARTS] = [
        Self::Nodes,
        Self::Places,
        Self::Texts,
        Self::Tokens,
        Self::Long,
        Self::Terminals,
        Self::Buckets,
        Self::Paths,
        Self::Values,
        Self::Deleted,
    ];

    /// The name of the section in reports of sizes.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Nodes => "nodes",
            Self::Places => "places",
            Self::Texts => "texts",
            Self::Tokens => "tokens",
            Self::Long => "long",
            Self::Terminals => "terminals",
            Self::Buckets => "buckets",
            Self::Paths => "paths",
            Self::Values => "values",
            Self::Deleted => "deleted",
        }
    }
}

/// The alignment of the sections of a trie, in bytes.
pub(super) const ALIGN: u64 = 64;

/// The range of each section among the bytes of a trie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    starts: [usize; PARTS],
    ends: [usize; PARTS],
}

impl Parts {
    /// Lays out sections of these lengths in bytes, one after the other, each aligned to [`ALIGN`]; `None` if this
    /// machine cannot address them.
    pub(super) fn new(lengths: [u64; PARTS]) -> Option<Self> {
        let mut parts = Self { starts: [0; PARTS], ends: [0; PARTS] };
        let mut end = 0u64;
        for (i, length) in lengths.into_iter().enumerate() {
            let start = end.checked_next_multiple_of(ALIGN)?;
            end = start.checked_add(length)?;
            parts.starts[i] = usize::try_from(start).ok()?;
            parts.ends[i] = usize::try_from(end).ok()?;
        }
        Some(parts)
    }

    /// The number of bytes of all sections together.
    pub(super) fn len(&self) -> usize {
        self.ends[PARTS - 1]
    }

    #[inline(always)]
    pub(super) fn range(&self, part: TriePart) -> Range<usize> {
        self.starts[part as usize]..self.ends[part as usize]
    }

    #[inline(always)]
    pub(super) fn start(&self, part: TriePart) -> usize {
        self.starts[part as usize]
    }

    pub(super) fn lengths(&self) -> [u64; PARTS] {
        std::array::from_fn(|i| (self.ends[i] - self.starts[i]) as u64)
    }
}

/// The sections of a trie from which nodes and their labels are read.
#[derive(Clone, Copy)]
pub(super) struct Names<'a, G = Trusted> {
    pub(super) nodes: &'a [u8],
    pub(super) places: &'a [[u8; 8]],
    pub(super) texts: &'a [u8],
    pub(super) tokens: &'a [Token],
    pub(super) long: &'a [u8],
    /// The offset of the long labels among the trie's bytes, by which the guard checks them before they are read. The
    /// nodes begin at offset 0.
    pub(super) long_start: usize,
    /// The guard, which checks the bytes of nodes and long labels before they are read. The other sections are checked
    /// beforehand.
    pub(super) guard: G,
}

impl<'a, G: Guard> Names<'a, G> {
    /// The block of nodes at an offset among the bytes of the nodes; `None` if there is none, or it is damaged.
    #[inline(always)]
    pub(super) fn block(&self, offset: usize) -> Option<NodeBlock<'a>> {
        if !self.guard.touch(offset, CODES) {
            return None;
        }
        let block = NodeBlock::at(self.nodes, offset)?;
        self.guard.touch(offset, block.length()).then_some(block)
    }
}
