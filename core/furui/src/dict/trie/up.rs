//! Finds the key that has an id: a walk goes up from the key's node, by the ranks that lead a search down.

use std::ops::Deref;

use super::block::{NodeBlock, below};
use super::position::Position;
use super::values::terminal_select;
use super::{Guard, MAX_KEY, Trie, TriePart};
use crate::bits::Cpu;

impl<M: Deref<Target = [u8]>, G: Guard> Trie<M, G> {
    /// The key with this id, the inverse of [`id_of`](Self::id_of); `None` if there are not that many
    /// [`keys`](Self::keys). Ids are in breadth-first order: first the keys that end in leaves, then those that end in
    /// inner nodes.
    ///
    /// Cost: a binary search among the blocks for every level.
    pub fn key_of(&self, id: u64) -> Option<Vec<u8>> {
        if id >= self.keys() {
            return None;
        }
        let mut position = match id.checked_sub(self.shape.leaves) {
            None => Some(self.node_of(id, false)?),
            Some(rank) => {
                let lines = self.part(TriePart::Terminals);
                self.touch(TriePart::Terminals, 0, lines.len());
                match terminal_select(lines, rank)? {
                    0 => None,
                    inner => Some(self.node_of(inner, true)?),
                }
            }
        };
        let mut labels: Vec<Vec<u8>> = vec![];
        let mut length = 0;
        while let Some(at) = position {
            let mut label = vec![];
            self.push_label(super::TrieNode::at(at), &mut label);
            length += label.len();
            if label.is_empty() || length > MAX_KEY {
                return None;
            }
            labels.push(label);
            position = self.parent(at)?;
        }
        labels.reverse();
        Some(labels.concat())
    }

    /// The node with this rank among inner nodes or leaves.
    fn node_of(&self, rank: u64, inner: bool) -> Option<Position> {
        let rank_at = |block: NodeBlock<'_>| if inner { block.inner_rank(0) } else { block.leaf_rank(0) };
        let (block, offset) = self.last_block(|block| rank_at(block) <= rank)?;
        let mask = if inner { block.inner() } else { !block.inner() };
        let slot = select(self.vectors, mask, rank - rank_at(block))?;
        Some(Position::new(offset, slot))
    }

    /// The node that has a child at `position`; the inner `None` is the root.
    fn parent(&self, position: Position) -> Option<Option<Position>> {
        let names = self.names();
        let (block, offset) = match self.last_block(|block| block.down() <= position) {
            Some(found) => found,
            None => return Some(None),
        };
        // The number of groups between the group of the block's first inner node and the group of `position`.
        let (mut at, mut mask, mut groups) = (block.down().offset(), !below(block.down().slot()), 0);
        while at < position.offset() {
            let block = names.block(at)?;
            groups += (block.first() & mask).count_ones();
            mask = u64::MAX;
            at += block.length();
        }
        let up_to = below(position.slot()) | 1 << position.slot();
        groups += (names.block(at)?.first() & mask & up_to).count_ones();
        let slot = select(self.vectors, block.inner(), u64::from(groups).checked_sub(1)?)?;
        Some(Some(Position::new(offset, slot)).filter(|parent| *parent < position))
    }

    /// The last block for which `holds` is true. `holds` must be true for all blocks before that block, too.
    fn last_block(&self, holds: impl Fn(NodeBlock<'_>) -> bool) -> Option<(NodeBlock<'_>, usize)> {
        let names = self.names();
        let directory = self.part(TriePart::Directory).as_chunks::<8>().0;
        let at = |entry: &[u8; 8]| usize::try_from(u64::from_le_bytes(*entry)).ok();
        let holds_at = |entry: &[u8; 8]| at(entry).and_then(|offset| names.block(offset)).is_some_and(&holds);
        let mut offset = at(directory.get(directory.partition_point(holds_at).checked_sub(1)?)?)?;
        let mut found = None;
        for _ in 0..super::writer::DIRECTORY_STEP {
            let Some(block) = names.block(offset).filter(|&block| holds(block)) else { break };
            found = Some((block, offset));
            offset += block.length();
        }
        found
    }
}

fn select(vectors: Cpu, word: u64, rank: u64) -> Option<u32> {
    let rank = u32::try_from(rank).ok().filter(|&rank| rank < 64)?;
    Some(vectors.select(word, rank)).filter(|&slot| slot < 64)
}
