use std::ops::Deref;

use super::block::NodeBlock;
use super::labels::Rest;
use super::parts::Names;
use super::position::{NODES, Position};
use super::{Trie, TriePart};

/// A damage that a check found: its offset among the trie's bytes, and the problem.
type Damage = (usize, &'static str);

impl<M: Deref<Target = [u8]>> Trie<M> {
    /// Checks that the nodes form one tree in breadth-first order, and that every label can be read.
    ///
    /// # Errors
    /// The offset of the damage among the trie's bytes, and the problem there.
    pub fn check(&self) -> Result<(), Damage> {
        let nodes = self.part(TriePart::Nodes);
        let names = self.names();
        // The block to which the next group of children belongs, and the rank of the block's first inner node.
        let mut parent = (0, 1);
        let (mut offset, mut number) = (0, 0);
        let (mut inners, mut leaves, mut group) = (1u64, 0u64, 0u64);
        let mut last_edge = None;
        while number < self.nodes() {
            let block = NodeBlock::at(nodes, offset).ok_or((offset, "the nodes end early"))?;
            if (block.inner_rank(0), block.leaf_rank(0)) != (inners, leaves) {
                return Err((offset, "a block's ranks are not those of its first node"));
            }
            let count = (self.nodes() - number).min(NODES as u64) as u32;
            for slot in 0..NODES as u32 {
                let first = block.first() >> slot & 1 == 1;
                if slot >= count {
                    if !first || block.is_inner(slot) || block.edges()[slot as usize] != 0 {
                        return Err((offset, "bytes follow the last node"));
                    }
                    continue;
                }
                if first {
                    parent = self.check_parent(parent, group, Position::new(offset, slot), (offset, inners))?;
                    group += 1;
                    last_edge = None;
                }
                let edge = block.edges()[slot as usize];
                if (number == 0 && slot == 0 && !first) || last_edge.is_some_and(|last| last >= edge) {
                    return Err((offset, "the children of a node are out of order"));
                }
                last_edge = Some(edge);
                let rest = block.label(slot, self.vectors).and_then(|label| names.rest(label, self.vectors));
                if !rest.is_some_and(|rest| names.is_whole(rest)) {
                    return Err((offset, "a label cannot be read"));
                }
                *if block.is_inner(slot) { &mut inners } else { &mut leaves } += 1;
            }
            number += u64::from(count);
            offset += block.length();
        }
        if offset != nodes.len() || group != if self.nodes() == 0 { 0 } else { inners } || leaves != self.shape.leaves {
            return Err((offset, "the number of nodes is not the one in META"));
        }
        Ok(())
    }

    /// Checks the stated position of the children of a block's first inner node: if the siblings with the index `group`
    /// are these children, it must be the position of these siblings. `parent` has the offset of the block, and the
    /// rank of that inner node. Returns the next such pair.
    fn check_parent(
        &self,
        mut parent: (usize, u64),
        group: u64,
        position: Position,
        current: (usize, u64),
    ) -> Result<(usize, u64), Damage> {
        if group == 0 {
            return Ok(parent);
        }
        // A block without inner nodes states the same position as the next block with inner nodes.
        while parent.1 == group {
            let block = NodeBlock::at(self.part(TriePart::Nodes), parent.0).ok_or((parent.0, "the nodes end early"))?;
            if block.down() != position || parent.0 > current.0 {
                return Err((parent.0, "a block's first child is not at the stated position"));
            }
            parent = (parent.0 + block.length(), parent.1 + u64::from(block.inner().count_ones()));
        }
        Ok(parent)
    }
}

impl Names<'_> {
    fn is_whole(&self, rest: Rest<'_>) -> bool {
        let Rest::Tokens { count, .. } = rest else { return true };
        let mut text = vec![];
        self.append(rest, &mut text);
        count > 0 && text.len() >= count
    }
}
