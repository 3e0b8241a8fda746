use std::ops::Deref;

use super::block::below;
use super::cursor::TrieNode;
use super::position::Position;
use super::{Guard, Trie, TriePart, values};

impl<M: Deref<Target = [u8]>, G: Guard> Trie<M, G> {
    /// The number of keys that begin with `prefix`, deletions included.
    ///
    /// The nodes below a node are a range of each level, because nodes are stored breadth-first, and blocks have the
    /// ranks of their nodes. So the cost is a search, and two ranks for each level below.
    pub fn keys_with(&self, prefix: &[u8]) -> u64 {
        let (mut at, mut node, mut label) = (0, self.root(), vec![]);
        while at < prefix.len() {
            let mut child = self.first_child(node);
            while let Some(sibling) = child.filter(|&child| self.first_byte(child) < prefix[at]) {
                child = self.sibling(sibling);
            }
            let Some(child) = child else { return 0 };
            label.clear();
            self.push_label(child, &mut label);
            let common = label.len().min(prefix.len() - at);
            if label.is_empty() || label[..common] != prefix[at..][..common] {
                return 0;
            }
            (at, node) = (at + common, child);
        }
        if node == self.root() { self.keys() } else { self.keys_below(node) }
    }

    /// The number of keys that end at this node, which is not the root, or below it.
    fn keys_below(&self, node: TrieNode) -> u64 {
        let Some(mut end) = self.after(node) else { return 0 };
        let (mut first, mut count) = (node.position(), 0u64);
        // A damaged trie ends the loop, too: positions ascend from level to level.
        while first < end {
            count += self.keys_before(end).saturating_sub(self.keys_before(first));
            let [next_first, next_end] = [first, end].map(|at| self.children_from(at));
            if next_first <= first || next_end < next_first {
                break;
            }
            (first, end) = (next_first, next_end);
        }
        count
    }

    /// The place after a node: that of the next node, or the end of all.
    fn after(&self, node: TrieNode) -> Option<Position> {
        let position = node.position();
        if position.slot() < 63 {
            return Some(Position(position.0 + 1));
        }
        let block = self.names().block(position.offset())?;
        Some(Position::new(position.offset() + block.length(), 0))
    }

    /// The number of keys that end in nodes before this place.
    fn keys_before(&self, at: Position) -> u64 {
        let (leaves, inners) = match self.names().block(at.offset()) {
            Some(block) => (block.leaf_rank(at.slot()), block.inner_rank(at.slot())),
            None => (self.shape.leaves, self.shape.nodes + 1 - self.shape.leaves),
        };
        let (start, len) = values::terminal_line(inners);
        self.touch(TriePart::Terminals, start, len);
        let all = self.shape.keys - self.shape.leaves;
        leaves + values::terminals_before(self.part(TriePart::Terminals), inners).unwrap_or(all)
    }

    /// The place of the first child of the first inner node from this place on; the end of all if there is none.
    fn children_from(&self, at: Position) -> Position {
        let (mut offset, mut slot) = (at.offset(), at.slot());
        while let Some(block) = self.names().block(offset) {
            let inner = block.inner() & !below(slot);
            if inner != 0 {
                let node = TrieNode::new(offset, inner.trailing_zeros());
                return self.first_child(node).map_or(self.end(), TrieNode::position);
            }
            (offset, slot) = (offset + block.length(), 0);
        }
        self.end()
    }

    /// The place after all nodes.
    fn end(&self) -> Position {
        Position::new(self.part(TriePart::Nodes).len(), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Skeleton, Trie};
    use crate::dict::Found;

    #[test]
    fn keys_with_a_prefix_are_those_that_begin_with_it() {
        let mut random = 7u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        for (count, letters, longest) in
            [(0, 2, 3), (1, 2, 3), (50, 2, 8), (3000, 3, 12), (5000, 200, 3), (9000, 5, 40)]
        {
            let mut keys: Vec<Vec<u8>> =
                (0..count).map(|_| (0..next(longest)).map(|_| next(letters) as u8).collect()).collect();
            keys.sort_unstable();
            keys.dedup();
            let pairs = keys.iter().enumerate().map(|(value, key)| (key.as_slice(), Some(value as u32)));
            let trie = Trie::encode(&Skeleton::from_sorted(pairs).unwrap()).unwrap();
            for _ in 0..500 {
                let mut prefix: Vec<u8> = match keys.len() {
                    0 => vec![],
                    some => keys[next(some as u64) as usize].clone(),
                };
                prefix.truncate(next(longest + 1) as usize);
                if next(4) == 0 {
                    prefix.push(next(256) as u8);
                }
                let expected = keys.iter().filter(|key| key.starts_with(&prefix)).count() as u64;
                assert_eq!(trie.keys_with(&prefix), expected, "{count} {prefix:?}");
            }
            assert!(keys.iter().all(|key| matches!(trie.get(key), Some(Found::Value(_)))));
        }
    }
}
