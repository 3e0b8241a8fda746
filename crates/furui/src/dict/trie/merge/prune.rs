use std::collections::VecDeque;

use crate::dict::trie::skeleton::Skeleton;
use crate::dict::trie::{Found, TrieError};

/// What becomes of a node when the deleted keys go.
#[derive(Clone, Copy, Default)]
struct Fate {
    /// How many of its children stay, up to 2.
    children: u8,
    /// Whether a key ends there that is not deleted.
    key: bool,
    /// Its rank among inner nodes, the root the first.
    inner: u32,
    /// Its rank among the ends of keys.
    terminal: u32,
}

impl Fate {
    fn stays(self) -> bool {
        self.key || self.children > 0
    }

    /// Whether it becomes one with its only child.
    fn is_passed(self) -> bool {
        !self.key && self.children == 1
    }
}

impl Skeleton {
    /// The trie of the keys that are not deleted: without the nodes that lead to none, and nodes that lead to one child
    /// only become one with it.
    pub(super) fn without_deleted(&self) -> Result<Self, TrieError> {
        let (fates, groups) = self.fates();
        let mut out = Self::new();
        out.set_root(self.root.filter(|&found| found != Found::Deleted));
        let children = |inner: u32| groups[inner as usize] as usize..groups[inner as usize + 1] as usize;
        let mut queue = VecDeque::from([0]);
        let mut label = vec![];
        while let Some(inner) = queue.pop_front() {
            let mut first = true;
            for child in children(inner).filter(|&child| fates[child].stays()) {
                let mut node = child;
                label.clear();
                loop {
                    label.push(self.edges[node]);
                    label.extend_from_slice(self.distinct.get(self.rests[node]));
                    if !fates[node].is_passed() {
                        break;
                    }
                    let next = children(fates[node].inner).find(|&child| fates[child].stays());
                    node = next.expect("one of its children stays");
                }
                let fate = fates[node];
                let found = fate.key.then(|| Found::Value(self.values[fate.terminal as usize]));
                out.push(&label, first, fate.children > 0, found)?;
                if fate.children > 0 {
                    queue.push_back(fate.inner);
                }
                first = false;
            }
        }
        Ok(out)
    }

    /// The fate of every node, and where the children of every inner node begin, the root's first; the last entry is the
    /// end.
    fn fates(&self) -> (Vec<Fate>, Vec<u32>) {
        let nodes = self.nodes();
        let mut fates = vec![Fate::default(); nodes];
        let mut groups: Vec<u32> = (0..nodes).filter(|&node| self.firsts.get(node)).map(|node| node as u32).collect();
        groups.push(nodes as u32);
        if groups.len() == 1 {
            groups.push(0);
        }
        let (mut inner, mut terminal) = (0, 0);
        for (node, fate) in fates.iter_mut().enumerate() {
            inner += u32::from(self.inner.get(node));
            (fate.inner, fate.terminal) = (inner, terminal);
            if self.terminals.get(node) {
                fate.key = !self.deleted.get(terminal as usize);
                terminal += 1;
            }
        }
        // Children come behind their parents.
        let mut staying = vec![0u8; groups.len() - 1];
        let mut group = groups.len() - 1;
        for node in (0..nodes).rev() {
            while groups[group] as usize > node {
                group -= 1;
            }
            if self.inner.get(node) {
                fates[node].children = staying[fates[node].inner as usize];
            }
            if fates[node].stays() {
                staying[group] = (staying[group] + 1).min(2);
            }
        }
        (fates, groups)
    }
}
