use crate::dict::trie::position::Position;

/// The place where one of the merged tries continues: either with the children of a node, or within the label of a
/// node. After the label, the trie continues with the children of that node, if it has any.
///
/// ```text
///   trie 8 bits │ within a label 1 bit │ children 1 bit │ skip 6 bits │ down 40 bits
/// ```
///
/// The children are the group `skip` groups after the one at `down`, so that they are found without reading their
/// parent's block again.
#[derive(Clone, Copy)]
pub(super) struct Cursor(u64);

const CHILDREN: u64 = 1 << (Position::BITS + 6);
const WITHIN: u64 = CHILDREN << 1;

impl Cursor {
    #[inline(always)]
    pub(super) fn to_bytes(self) -> [u8; 8] {
        self.0.to_le_bytes()
    }

    #[inline(always)]
    pub(super) fn from_bytes(bytes: [u8; 8]) -> Self {
        Self(u64::from_le_bytes(bytes))
    }

    pub(super) fn root(trie: u8) -> Self {
        Self::children(trie, Position(0), 0)
    }

    /// A cursor at the end of a label, where the trie continues with the group of siblings that is `skip` groups after
    /// the one at `down`.
    #[inline(always)]
    pub(super) fn children(trie: u8, down: Position, skip: u32) -> Self {
        Self(u64::from(trie) << 56 | CHILDREN | u64::from(skip) << Position::BITS | down.0)
    }

    /// A cursor within the label of a node. `beyond` is the cursor at the end of the label; `None` if the node is a
    /// leaf.
    #[inline(always)]
    pub(super) fn within(trie: u8, beyond: Option<Self>) -> Self {
        Self(beyond.map_or(u64::from(trie) << 56, |beyond| beyond.0) | WITHIN)
    }

    #[inline(always)]
    pub(super) fn is_within(self) -> bool {
        self.0 & WITHIN != 0
    }

    /// The cursor at the end of the label; `None` if the node is a leaf.
    #[inline(always)]
    pub(super) fn beyond(self) -> Option<Self> {
        (self.0 & CHILDREN != 0).then_some(Self(self.0 & !WITHIN))
    }

    #[inline(always)]
    pub(super) fn trie(self) -> u8 {
        (self.0 >> 56) as u8
    }

    #[inline(always)]
    pub(super) fn down(self) -> Position {
        Position(self.0 & ((1 << Position::BITS) - 1))
    }

    #[inline(always)]
    pub(super) fn skip(self) -> u32 {
        (self.0 >> Position::BITS) as u32 & 0x3F
    }
}
