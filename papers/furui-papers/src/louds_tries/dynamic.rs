use furui::raw::{Node, Value};

/// A trie that takes keys at any time: the buffer of the system of Koyanagi et al., and the target of the merge with
/// which they compare theirs.
///
/// The children of a node are a list in the order of their bytes, so that a walk needs no sorting.
pub(super) struct DynamicTrie {
    nodes: Vec<Slot>,
    keys: usize,
}

struct Slot {
    /// The index of the node's first child. If there is no child, it is 0, which is the index of the root.
    first_child: u32,
    sibling: u32,
    value: Option<u32>,
    byte: u8,
}

impl DynamicTrie {
    pub(super) fn new() -> Self {
        Self { nodes: vec![Slot { first_child: 0, sibling: 0, value: None, byte: 0 }], keys: 0 }
    }

    pub(super) fn keys(&self) -> usize {
        self.keys
    }

    /// The memory that all nodes take, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.nodes.len() * size_of::<Slot>()
    }

    pub(super) fn get(&self, key: &[u8]) -> Option<u32> {
        let mut node = 0;
        for &byte in key {
            node = self.nodes[node].first_child as usize;
            while node != 0 && self.nodes[node].byte < byte {
                node = self.nodes[node].sibling as usize;
            }
            if node == 0 || self.nodes[node].byte != byte {
                return None;
            }
        }
        self.nodes[node].value
    }

    pub(super) fn insert(&mut self, key: &[u8], value: u32) {
        let node = key.iter().fold(0, |node, &byte| self.child(node, byte));
        self.keys += usize::from(self.nodes[node].value.replace(value).is_none());
    }

    /// Inserts the keys of another trie. A key that is already there keeps its value, because newer tries are inserted
    /// first.
    pub(super) fn insert_all<N: Node>(&mut self, root: N) {
        let mut to_do = vec![(root, 0)];
        while let Some((node, copy)) = to_do.pop() {
            if let (Some(value), None) = (node.value().flatten(), self.nodes[copy].value) {
                self.nodes[copy].value = Some(value);
                self.keys += 1;
            }
            let mut child = node.first_child();
            while let Some(node) = child {
                let copy = self.child(copy, node.alphabet());
                child = node.sibling();
                to_do.push((node, copy));
            }
        }
    }

    /// The child of `node` with this byte; creates the child if there is none.
    fn child(&mut self, node: usize, byte: u8) -> usize {
        let mut before = None;
        let mut child = self.nodes[node].first_child as usize;
        while child != 0 && self.nodes[child].byte < byte {
            before = Some(child);
            child = self.nodes[child].sibling as usize;
        }
        if child != 0 && self.nodes[child].byte == byte {
            return child;
        }
        let new = self.nodes.len();
        self.nodes.push(Slot { first_child: 0, sibling: child as u32, value: None, byte });
        match before {
            Some(before) => self.nodes[before].sibling = new as u32,
            None => self.nodes[node].first_child = new as u32,
        }
        new
    }

    pub(super) fn root(&self) -> DynamicNode<'_> {
        DynamicNode { trie: self, slot: 0 }
    }
}

/// A node of a [`DynamicTrie`].
#[derive(Clone, Copy)]
pub(super) struct DynamicNode<'a> {
    trie: &'a DynamicTrie,
    slot: u32,
}

impl DynamicNode<'_> {
    fn at(self, slot: u32) -> Option<Self> {
        (slot != 0).then_some(Self { slot, ..self })
    }

    fn slot(&self) -> &Slot {
        &self.trie.nodes[self.slot as usize]
    }
}

impl Node for DynamicNode<'_> {
    fn first_child(&self) -> Option<Self> {
        self.at(self.slot().first_child)
    }

    fn sibling(&self) -> Option<Self> {
        self.at(self.slot().sibling)
    }

    fn alphabet(&self) -> u8 {
        self.slot().byte
    }

    fn value(&self) -> Option<Value> {
        self.slot().value.map(Some)
    }
}
