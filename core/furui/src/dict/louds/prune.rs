use std::ops::Deref;

use super::{LoudsBuilder, LoudsTrie};
use crate::dict::trie::filled;
use crate::error::TrieError;

impl<M: Deref<Target = [u8]>> LoudsTrie<M> {
    /// Returns this trie without the nodes at and below which no key ends. Cost: two passes over the nodes, the first
    /// one backwards, and a bit for each node.
    pub(in crate::dict) fn pruned(&self) -> Result<LoudsTrie, TrieError> {
        let stays = self.staying()?;
        let stays = |node: u64| stays[(node / 64) as usize] >> (node % 64) & 1 == 1;
        let mut builder = LoudsBuilder::new()?;
        builder.visit(None, 0, self.value(0))?;
        // The next node, its parent, and the parent's number in the pruned trie.
        let (mut node, mut parent, mut kept) = (1, 0, 0);
        // The first two bits of BASE belong to the super-root, and are skipped.
        for bit in 2..self.base.len() {
            if !self.base.bit(bit) {
                kept += u64::from(stays(parent) || parent == 0);
                parent += 1;
                continue;
            }
            if stays(node) {
                builder.visit(Some(kept), self.label(node).unwrap_or_default(), self.value(node))?;
            }
            node += 1;
        }
        builder.finish()
    }

    /// Returns a bit for each node, which is set if a key ends at the node or below it, so that the node is kept.
    fn staying(&self) -> Result<Vec<u64>, TrieError> {
        let nodes = self.nodes();
        let mut stays = filled(0u64, nodes.div_ceil(64) as usize)?;
        let (mut node, mut parent) = (nodes, nodes);
        for bit in (2..self.base.len()).rev() {
            if !self.base.bit(bit) {
                parent -= 1;
                continue;
            }
            // Children come after their parent, so that all children of a node were seen before the node.
            node -= 1;
            let stay = self.leaf.bit(node) || stays[(node / 64) as usize] >> (node % 64) & 1 == 1;
            stays[(node / 64) as usize] |= u64::from(stay) << (node % 64);
            stays[(parent / 64) as usize] |= u64::from(stay) << (parent % 64);
        }
        Ok(stays)
    }
}
