use crate::dict::trie::block::Position;

/// Where one of the merged tries stands: which trie, which node, how many bytes of the node's label are behind it.
///
/// ```text
///   trie  8 bits │ offset 16 bits │ position 40 bits        offset 0: the whole label
/// ```
#[derive(Clone, Copy)]
pub(super) struct Cursor(u64);

/// The position of the root, which is in no block.
const ROOT: u64 = (1 << Position::BITS) - 1;

impl Cursor {
    pub(super) fn root(trie: u8) -> Self {
        Self::new(trie, Position(ROOT), 0)
    }

    #[inline(always)]
    pub(super) fn new(trie: u8, position: Position, offset: u16) -> Self {
        Self(u64::from(trie) << 56 | u64::from(offset) << Position::BITS | position.0 & ROOT)
    }

    #[inline(always)]
    pub(super) fn trie(self) -> u8 {
        (self.0 >> 56) as u8
    }

    #[inline(always)]
    pub(super) fn offset(self) -> u16 {
        (self.0 >> Position::BITS) as u16
    }

    #[inline(always)]
    pub(super) fn position(self) -> Position {
        Position(self.0 & ROOT)
    }

    #[inline(always)]
    pub(super) fn is_root(self) -> bool {
        self.0 & ROOT == ROOT
    }
}
