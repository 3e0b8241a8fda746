use std::collections::VecDeque;

use super::labels::Labels;
use super::path::Path;
use crate::bits::Cpu;
use crate::dict::trie::room::{no_memory, reserve};
use crate::dict::trie::text::Text;
use crate::dict::trie::writer::Writer;
use crate::dict::trie::{Found, Trie, TrieError, TrieNode};
use crate::hash::Rolling;

impl Trie {
    /// Returns the trie of the keys that are not deleted. Nodes without such keys at or below them are left out, and a
    /// node at which no key ends and that keeps only one child is joined with this child.
    pub(super) fn without_deleted(&self, rolling: &Rolling, vectors: Cpu) -> Result<Self, TrieError> {
        let staying = self.staying()?;
        let kept = |node| self.terminal(node).filter(|&found| found != Found::Deleted);
        let children = |inner: TrieNode| {
            std::iter::successors(self.first_child(inner), |&child| self.sibling(child))
                .map(|child| (child, self.inner_rank(child).map_or(0, |rank| staying[rank as usize])))
                .filter(|&(child, below)| below > 0 || kept(child).is_some())
        };
        let mut labels = Labels::new(&[self.names()], 0, self.keys(), rolling, vectors)?;
        let mut writer = Writer::new(self.bytes(), self.shape.width, kept(self.root()))?;
        let mut queue = VecDeque::from([self.root()]);
        let mut label = vec![];
        while let Some(inner) = queue.pop_front() {
            let mut first = true;
            for (mut child, mut below) in children(inner) {
                label.clear();
                self.push_label(child, &mut label);
                while below == 1 && kept(child).is_none() {
                    (child, below) = children(child).next().ok_or(TrieError::Damaged)?;
                    self.push_label(child, &mut label);
                }
                labels.push_text(Text::from(&label[1..]), Path::root(rolling.start()));
                writer.push(label[0], first, below > 0, kept(child))?;
                if writer.is_full() {
                    labels.settle(&mut writer)?;
                }
                if below > 0 {
                    queue.try_reserve(1).map_err(|_| no_memory::<TrieNode>(queue.len() + 1))?;
                    queue.push_back(child);
                }
                first = false;
            }
        }
        labels.settle(&mut writer)?;
        Ok(Self::assemble(writer.finish(labels.finish(), vectors)?))
    }

    /// For each inner node, the root first: the number of its children at or below which a key ends that is not
    /// deleted, counted up to 2.
    fn staying(&self) -> Result<Vec<u8>, TrieError> {
        // In breadth-first order a node comes before its children.
        let mut inners = vec![self.root()];
        let mut parents = vec![0u32];
        let mut at = 0;
        let mut staying = vec![];
        while at < inners.len() {
            let mut kept = 0u8;
            let mut child = self.first_child(inners[at]);
            while let Some(node) = child {
                if self.has_children(node) {
                    reserve(&mut inners, 1)?;
                    reserve(&mut parents, 1)?;
                    inners.push(node);
                    parents.push(at as u32);
                } else {
                    kept = (kept + u8::from(self.terminal(node) != Some(Found::Deleted))).min(2);
                }
                child = self.sibling(node);
            }
            reserve(&mut staying, 1)?;
            staying.push(kept);
            at += 1;
        }
        for at in (1..inners.len()).rev() {
            let stays = staying[at] > 0 || self.terminal(inners[at]).is_some_and(|found| found != Found::Deleted);
            let parent = &mut staying[parents[at] as usize];
            *parent = (*parent + u8::from(stays)).min(2);
        }
        Ok(staying)
    }
}
