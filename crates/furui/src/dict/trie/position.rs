/// How many nodes a block has.
pub(super) const NODES: usize = 64;

/// Where a node is: 64 times its block's offset, and its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position(pub(super) u64);

impl Position {
    /// Positions have 40 bits in files: 16 GiB of blocks.
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
