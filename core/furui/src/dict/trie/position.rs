/// The number of nodes in a block of a compact trie.
pub(super) const NODES: usize = 64;

/// The position of a node among the blocks of a compact trie: 64 times the offset of its block, plus its slot in the
/// block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position(pub(super) u64);

impl Position {
    /// The number of bits that a position takes in a file. Together with 64 slots a block, 40 bits address 16 GiB of
    /// blocks.
    pub(super) const BITS: u32 = 40;

    #[inline(always)]
    pub(super) fn new(offset: usize, slot: u32) -> Self {
        Self((offset as u64 * NODES as u64) | u64::from(slot))
    }

    #[inline(always)]
    pub(super) fn offset(self) -> usize {
        (self.0 / NODES as u64) as usize
    }

    #[inline(always)]
    pub(super) fn slot(self) -> u32 {
        self.0 as u32 % NODES as u32
    }
}
