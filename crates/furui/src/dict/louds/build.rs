use super::LoudsTrie;
use crate::bits::{BitWriter, Buffer, Rank1, Select0};
use crate::dict::Node;

/// Builds a [`LoudsTrie`] node by node, in breadth-first order, as a walk visits them.
///
/// ```
/// use furui::dict::{LoudsBuilder, SortedKeys, breadth_first};
/// let keys = [("ab", Some(1)), ("ac", Some(2)), ("bd", Some(3))];
/// let mut builder = LoudsBuilder::new();
/// breadth_first(SortedKeys::new(&keys)?.root(), |parent, node| builder.visit(parent.copied(), node));
/// assert_eq!(builder.finish().get(b"ac"), Some(Some(2)));
/// # Ok::<(), furui::dict::TrieError>(())
/// ```
#[derive(Clone, Debug)]
pub struct LoudsBuilder {
    base: BitWriter,
    leaf: BitWriter,
    edge: Vec<u8>,
    values: Vec<u8>,
    dead: BitWriter,
    any_dead: bool,
    /// The number of nodes whose children are all in `base`.
    closed: u64,
}

impl LoudsBuilder {
    /// A builder without nodes.
    pub fn new() -> Self {
        let mut base = BitWriter::default();
        base.push(true);
        base.push(false);
        let (leaf, dead) = (BitWriter::default(), BitWriter::default());
        Self { base, leaf, edge: Vec::new(), values: Vec::new(), dead, any_dead: false, closed: 0 }
    }

    /// Writes the next node, and returns its number. `parent` is the number of its parent, or `None` for the root.
    ///
    /// The ones of a parent are written when its children come, and its zero when a child of the next parent does, so
    /// that no node is asked for its children twice.
    #[inline]
    pub fn visit(&mut self, parent: Option<u64>, node: &impl Node) -> u64 {
        if let Some(parent) = parent {
            debug_assert!(self.closed <= parent && parent < self.leaf.len(), "nodes come in breadth-first order");
            self.base.push_zeros(parent.saturating_sub(self.closed));
            self.base.push(true);
            self.closed = parent;
            self.edge.push(node.alphabet());
        }
        let number = self.leaf.len();
        let value = node.value();
        self.leaf.push(value.is_some());
        if let Some(value) = value {
            self.values.extend_from_slice(&value.unwrap_or(0).to_le_bytes());
            self.dead.push(value.is_none());
            self.any_dead |= value.is_none();
        }
        number
    }

    /// The number of keys so far.
    pub fn keys(&self) -> u64 {
        self.dead.len()
    }

    /// The trie of all nodes, with its index.
    ///
    /// # Panics
    /// If there is no memory for it, as a standard collection does.
    pub fn finish(mut self) -> LoudsTrie {
        self.base.push_zeros(self.leaf.len() - self.closed);
        let (base_len, leaf_len) = (self.base.len(), self.leaf.len());
        LoudsTrie {
            base: Select0::new(self.base.finish(), base_len),
            leaf: Rank1::new(self.leaf.finish(), leaf_len),
            edge: Buffer::from(self.edge),
            values: Buffer::from(self.values),
            dead: if self.any_dead { self.dead.finish() } else { Buffer::from(Vec::new()) },
        }
    }
}

impl Default for LoudsBuilder {
    fn default() -> Self {
        Self::new()
    }
}
