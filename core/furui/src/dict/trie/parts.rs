use std::ops::Range;

use super::block::{CODES, NodeBlock};
use super::guard::{Guard, Trusted};
use super::label::Token;

/// The parts of a trie's bytes. Each begins at a multiple of 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TriePart {
    /// The blocks of nodes.
    Nodes,
    /// The offset of every 64th block: 8 bytes each.
    Directory,
    /// The places of the labels with codes.
    Places,
    /// The texts of the labels with codes.
    Texts,
    /// The tokens, 16 bytes each.
    Tokens,
    /// Labels too long for a block.
    Long,
    /// The inner nodes where keys end, in lines of 64 bytes.
    Terminals,
    /// The jump table, which leads from the first bytes of a key to a node.
    Buckets,
    /// The paths of the jump table's entries.
    Paths,
    /// The values of the keys, which all take the same number of bits.
    Values,
    /// A bit for each key, which is set if the key is deleted; empty if no key is deleted.
    Deleted,
}

pub(super) const PARTS: usize = 11;

impl TriePart {
    /// All parts, in their order in the file.
    pub(super) const ALL: [Self; PARTS] = [
        Self::Nodes,
        Self::Directory,
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

    /// The name in reports.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Nodes => "nodes",
            Self::Directory => "directory",
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

/// The alignment of parts.
pub(super) const ALIGN: u64 = 64;

/// The places of the parts among the bytes of a trie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    starts: [usize; PARTS],
    ends: [usize; PARTS],
}

impl Parts {
    /// Parts of these lengths, one after the other; `None` if this machine cannot address them.
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

    /// The bytes of all parts together.
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

/// The parts from which nodes and labels are read.
#[derive(Clone, Copy)]
pub(super) struct Names<'a, G = Trusted> {
    pub(super) nodes: &'a [u8],
    pub(super) places: &'a [[u8; 8]],
    pub(super) texts: &'a [u8],
    pub(super) tokens: &'a [Token],
    pub(super) long: &'a [u8],
    /// The offset of the long labels among the trie's bytes. The nodes begin at 0.
    pub(super) long_start: usize,
    /// The guard, which is told which nodes and long labels are read. The other parts are checked beforehand.
    pub(super) guard: G,
}

impl<'a, G: Guard> Names<'a, G> {
    /// The block of nodes at an offset; `None` if there is none, or it is damaged.
    #[inline(always)]
    pub(super) fn block(&self, offset: usize) -> Option<NodeBlock<'a>> {
        if !self.guard.touch(offset, CODES) {
            return None;
        }
        let block = NodeBlock::at(self.nodes, offset)?;
        self.guard.touch(offset, block.length()).then_some(block)
    }
}
