use std::ops::Deref;

use super::LoudsTrie;

impl<M: Deref<Target = [u8]>> LoudsTrie<M> {
    /// Checks that the parts belong to one trie, so that a walk over it ends: the index matches the bits, a walk from
    /// the root meets every node, the children of a node are in the order of their bytes, and every end of a key has a
    /// value. Cost: one pass over BASE, LEAF and EDGE.
    pub(in crate::dict) fn check(&self) -> Result<(), &'static str> {
        let nodes = self.leaf.len();
        if !self.base.verify() || !self.leaf.verify() {
            return Err("the index of BASE or LEAF does not fit its bits");
        }
        let keys = self.leaf.rank1(nodes);
        if self.base.zeros().checked_sub(1) != Some(nodes)
            || self.base.len() - self.base.zeros() != nodes
            || (self.edge.len() as u64).checked_add(1) != Some(nodes)
            || self.values.len() as u64 != keys * 4
            || (!self.dead.is_empty() && self.dead.len() as u64 != keys.div_ceil(64) * 8)
        {
            return Err("the lengths of the parts do not fit the numbers of nodes and keys");
        }
        // The super-root has one child, the root. Every other node is a child of an earlier one.
        let (mut met, mut closed, mut last) = (0u64, 0u64, None);
        for bit in 0..self.base.len() {
            if self.base.bit(bit) {
                let label = self.label(met);
                if last.is_some_and(|last| last >= label) {
                    return Err("the children of a node are out of order");
                }
                last = Some(label);
                met += 1;
            } else {
                let is_end = last.is_none() && closed > 0;
                if (closed < nodes && closed >= met) || (closed == 0 && met != 1) {
                    return Err("the nodes do not form one tree");
                }
                if is_end && nodes > 1 && !self.leaf.bit(closed - 1) {
                    return Err("a node has no children and ends no key");
                }
                last = None;
                closed += 1;
            }
        }
        Ok(())
    }
}
