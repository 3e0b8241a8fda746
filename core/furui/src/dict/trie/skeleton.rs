use super::bits::Bits;
use super::intern::{Batch, Interner};
use super::room::{collected, filled, reserve};
use super::{Found, MAX_KEY, TrieError};

/// The maximum number of nodes of a trie, whose ranks have 32 bits.
pub(super) const MAX_NODES: usize = u32::MAX as usize - 64;

/// A path-compressed (Patricia) trie as a list of its nodes in breadth-first order. A [`Trie`](super::Trie) is encoded
/// from it.
///
/// ```text
/// keys  romane romanus rom        root ── rom* ── an ─┬─ e*        nodes: rom* | an | e* us*
///       (* = a key ends here)                         └─ us*
/// ```
///
/// [`from_sorted`](Self::from_sorted) builds it from keys in order.
///
/// Memory: 5.3 bytes for each node, 4 bytes for each key, and every distinct label once, with 24 bytes of index for
/// each label. For 5 million paths that is 21 bytes a key.
///
/// ```
/// use furui::raw::Skeleton;
///
/// let keys = ["rom", "romane", "romanus"].map(|key| (key.as_bytes(), Some(key.len() as u32)));
/// let skeleton = Skeleton::from_sorted(keys)?;
/// assert_eq!((skeleton.keys(), skeleton.nodes()), (3, 4));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Skeleton {
    /// The first byte of each node's label, in breadth-first order.
    pub(super) edges: Vec<u8>,
    /// For each node, the number that stands for the rest of its label after the first byte. Equal rests have the same
    /// number.
    pub(super) rests: Vec<u32>,
    pub(super) distinct: Interner,
    /// A batch of labels that have no number in `rests` yet. It is empty except while the trie is built.
    waiting: Batch,
    pub(super) firsts: Bits,
    pub(super) inner: Bits,
    pub(super) terminals: Bits,
    pub(super) root: Option<Found>,
    /// The values of the keys, in the breadth-first order of the nodes at which they end; 0 for a deleted key.
    pub(super) values: Vec<u32>,
    /// A bit for each entry of `values`, which is set if the key is deleted.
    pub(super) deleted: Bits,
}

/// The placeholder in `rests` for a label whose number is not known yet.
const UNKNOWN: u32 = u32::MAX;

impl Skeleton {
    /// The number of nodes, the root not counted.
    pub fn nodes(&self) -> usize {
        self.edges.len()
    }

    /// The number of keys, deletions included.
    pub fn keys(&self) -> usize {
        self.values.len() + usize::from(self.root.is_some())
    }

    /// The value or deletion of the key with index `terminal` among the keys in breadth-first order.
    pub(super) fn found(&self, terminal: usize) -> Found {
        match self.deleted.get(terminal) {
            true => Found::Deleted,
            false => Found::Value(self.values[terminal]),
        }
    }

    /// Adds the next node in breadth-first order: the first byte of its label (`edge`) and the `rest`, whether it is
    /// the `first` child of its parent, whether it has `children`, and the value of the key that ends there. Looking up
    /// the number that stands for `rest` is left to [`settle`](Self::settle).
    ///
    /// Siblings come in the order of their first bytes, which differ. A node without children is the end of a key.
    ///
    /// # Errors
    /// [`TrieError::TooLarge`], [`TrieError::NoMemory`].
    #[inline]
    pub(super) fn push(
        &mut self,
        edge: u8,
        rest: &[u8],
        first: bool,
        children: bool,
        terminal: Option<Found>,
    ) -> Result<(), TrieError> {
        self.waiting.push(&self.distinct, rest, self.rests.len() as u32);
        if self.nodes() == MAX_NODES {
            return Err(TrieError::TooLarge("more than 2^32 nodes"));
        }
        self.reserve(1, 1)?;
        self.edges.push(edge);
        self.rests.push(UNKNOWN);
        self.firsts.push(first)?;
        self.inner.push(children)?;
        self.terminals.push(terminal.is_some())?;
        if let Some(found) = terminal {
            self.values.push(found.value().unwrap_or(0));
            self.deleted.push(found == Found::Deleted)?;
        }
        Ok(())
    }

    /// True if the batch of labels without numbers is full, so that the caller should call [`settle`](Self::settle).
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.waiting.is_full()
    }

    /// Gives numbers to the labels that have none yet.
    pub(super) fn settle(&mut self) -> Result<(), TrieError> {
        let rests = &mut self.rests;
        self.distinct.intern_all(&mut self.waiting, |node, number| rests[node as usize] = number)
    }

    /// Makes room for `nodes` more nodes and `keys` more keys.
    #[inline(always)]
    fn reserve(&mut self, nodes: usize, keys: usize) -> Result<(), TrieError> {
        reserve(&mut self.edges, nodes)?;
        reserve(&mut self.rests, nodes)?;
        reserve(&mut self.values, keys)
    }

    /// Builds the trie of these keys, which must ascend, with their values. A key with `None` instead of a value is
    /// stored as deleted.
    ///
    /// Cost: one pass over the keys, which finds the nodes in post-order (with a stack of open nodes, like the building
    /// of a suffix tree from a suffix array), and one pass over the nodes, level by level. Building takes 12 bytes for
    /// each node and 24 for each key.
    ///
    /// # Errors
    /// [`TrieError`] if a key is too long or out of order, if there are too many keys, or if there is no memory for
    /// them.
    pub fn from_sorted<'k>(keys: impl IntoIterator<Item = (&'k [u8], Option<u32>)>) -> Result<Self, TrieError> {
        let keys: Vec<(&[u8], Option<u32>)> = collected(keys)?;
        if keys.len() > MAX_NODES / 2 {
            return Err(TrieError::TooLarge("more than 2^31 keys"));
        }
        let nodes = post_order(&keys)?;
        let (order, first) = breadth_first(&nodes)?;
        let mut skeleton = Self::default();
        skeleton.reserve(nodes.len(), keys.len())?;
        let found = |value: Option<u32>| value.map_or(Found::Deleted, Found::Value);
        if let Some((_, value)) = keys.first().filter(|(key, _)| key.is_empty()) {
            skeleton.root = Some(found(*value));
        }
        for j in order {
            let node = nodes[j as usize];
            let (key, value) = keys[node.key as usize];
            let end = usize::from(node.last) + 1;
            let terminal = (key.len() == end).then(|| found(value));
            let (edge, rest) = (key[usize::from(node.start)], &key[usize::from(node.start) + 1..end]);
            skeleton.push(edge, rest, first.get(j as usize), node.size > 1, terminal)?;
            if skeleton.is_full() {
                skeleton.settle()?;
            }
        }
        skeleton.settle()?;
        skeleton.distinct.close();
        Ok(skeleton)
    }
}

/// A node of the trie while the sorted keys are read. Its label is the bytes `start..=last` of the key with the index
/// `key`. If a key ends at the node, it is that key; otherwise that key passes through the node.
#[derive(Clone, Copy)]
struct Post {
    key: u32,
    /// The number of nodes in the subtree of this node.
    size: u32,
    start: u16,
    last: u16,
}

/// A node whose children are not complete yet, because it is on the path to the last key.
struct Open {
    depth: usize,
    key: u32,
    /// The number of nodes that were complete before the first descendant of this node was added.
    before: usize,
}

fn post_order(keys: &[(&[u8], Option<u32>)]) -> Result<Vec<Post>, TrieError> {
    let mut nodes: Vec<Post> = vec![];
    reserve(&mut nodes, keys.len() + keys.len() / 2)?;
    // The first open node is the root, which is never closed, because its depth is 0.
    let mut open = vec![Open { depth: 0, key: 0, before: 0 }];
    let mut previous: &[u8] = &[];
    for (index, &(key, _)) in keys.iter().enumerate() {
        if key.len() > MAX_KEY {
            return Err(TrieError::KeyTooLong { index, length: key.len() });
        }
        let common = common_prefix(previous, key);
        if index > 0 && (common == key.len() || previous.get(common).is_some_and(|&byte| byte > key[common])) {
            return Err(TrieError::Unsorted { index });
        }
        close(&mut open, &mut nodes, common)?;
        if !key.is_empty() {
            open.push(Open { depth: key.len(), key: index as u32, before: nodes.len() });
        }
        previous = key;
    }
    close(&mut open, &mut nodes, 0)?;
    Ok(nodes)
}

/// Completes the open nodes that are deeper than `depth`, and makes sure that a node is open at `depth`.
fn close(open: &mut Vec<Open>, nodes: &mut Vec<Post>, depth: usize) -> Result<(), TrieError> {
    while let [.., parent, node] = open.as_slice()
        && node.depth > depth
    {
        let start = parent.depth.max(depth);
        // Depths are from 0 to 2^16, and the node is deeper than `start`, so `start` and the node's depth less 1 fit
        // into 16 bits.
        reserve(nodes, 1)?;
        nodes.push(Post {
            key: node.key,
            size: (nodes.len() - node.before + 1) as u32,
            start: start as u16,
            last: (node.depth - 1) as u16,
        });
        let branches = parent.depth < depth;
        let (key, before) = (node.key, node.before);
        open.pop();
        if branches {
            open.push(Open { depth, key, before });
        }
    }
    Ok(())
}

/// Returns the indices of the nodes in breadth-first order, and for each of them a bit that is set if the node is the
/// first child of its parent.
fn breadth_first(nodes: &[Post]) -> Result<(Vec<u32>, Bits), TrieError> {
    let mut levels: Vec<u16> = filled(0, nodes.len())?;
    let mut first = filled(0u64, nodes.len().div_ceil(64))?;
    let mut starts: Vec<usize> = vec![0];
    // The beginnings of the subtrees of the current node's ancestors, the root's first.
    let mut above = vec![0];
    for (j, node) in nodes.iter().enumerate().rev() {
        while above.len() > 1 && above[above.len() - 1] > j {
            above.pop();
        }
        let level = above.len() - 1;
        levels[j] = level as u16;
        if starts.len() == level + 1 {
            starts.push(0);
        }
        starts[level + 1] += 1;
        let start = j + 1 - node.size as usize;
        first[j / 64] |= u64::from(start == above[level]) << (j % 64);
        above.push(start);
    }
    for level in 1..starts.len() {
        starts[level] += starts[level - 1];
    }
    let mut order = filled(0, nodes.len())?;
    for (j, &level) in levels.iter().enumerate() {
        let place = &mut starts[usize::from(level)];
        order[*place] = j as u32;
        *place += 1;
    }
    Ok((order, Bits::from_words(first, nodes.len())))
}

/// The length of the common prefix of `a` and `b`, in bytes.
pub(super) fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let words = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0);
    let alike = words.take_while(|(a, b)| a == b).count() * 8;
    alike + a[alike..].iter().zip(&b[alike..]).take_while(|(a, b)| a == b).count()
}
