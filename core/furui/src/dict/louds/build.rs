use super::LoudsTrie;
use crate::bits::{BitWriter, Buffer, NoMemory, Rank1, Select0};
use crate::dict::Value;
use crate::dict::trie::{Trusted, reserve};
use crate::error::TrieError;

/// Builds a [`LoudsTrie`] node by node, in breadth-first order, as a walk visits them.
///
/// ```
/// use furui::raw::{LoudsBuilder, Node, SortedKeys, breadth_first};
/// let keys = [("ab", Some(1)), ("ac", Some(2)), ("bd", Some(3))];
/// let mut builder = LoudsBuilder::new()?;
/// breadth_first(SortedKeys::new(&keys)?.root(), |parent, node| {
///     builder.visit(parent.copied(), node.alphabet(), node.value())
/// })?;
/// assert_eq!(builder.finish()?.get(b"ac"), Some(Some(2)));
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
    /// The number of nodes of which all children were visited, so that their numbers of children are complete in
    /// `base`.
    closed: u64,
}

impl LoudsBuilder {
    /// A builder of a trie without nodes.
    ///
    /// # Errors
    /// [`TrieError::NoMemory`].
    pub fn new() -> Result<Self, TrieError> {
        let mut base = BitWriter::default();
        base.push(true).and_then(|()| base.push(false)).map_err(|NoMemory| TrieError::NoMemory(1))?;
        let (leaf, dead) = (BitWriter::default(), BitWriter::default());
        Ok(Self { base, leaf, edge: Vec::new(), values: Vec::new(), dead, any_dead: false, closed: 0 })
    }

    /// Writes the next node, and returns its number. `parent` is the number of its parent, or `None` for the root,
    /// which has no byte. `value` is the value of the key that ends at the node, if one does.
    ///
    /// The bits of a node in BASE follow later: a one whenever one of its children is visited, and a zero when the
    /// first child of a later node is visited. So no node is asked for its children twice.
    ///
    /// # Errors
    /// [`TrieError::NoMemory`].
    #[inline]
    pub fn visit(&mut self, parent: Option<u64>, byte: u8, value: Option<Value>) -> Result<u64, TrieError> {
        reserve(&mut self.edge, 1)?;
        reserve(&mut self.values, 4)?;
        let number = self.leaf.len();
        self.push_bits(parent, value).map_err(|NoMemory| TrieError::NoMemory(self.edge.len()))?;
        if parent.is_some() {
            self.edge.push(byte);
        }
        if let Some(value) = value {
            self.values.extend_from_slice(&value.unwrap_or(0).to_le_bytes());
            self.any_dead |= value.is_none();
        }
        Ok(number)
    }

    #[inline]
    fn push_bits(&mut self, parent: Option<u64>, value: Option<Value>) -> Result<(), NoMemory> {
        if let Some(parent) = parent {
            debug_assert!(self.closed <= parent && parent < self.leaf.len(), "nodes come in breadth-first order");
            self.base.push_zeros(parent.saturating_sub(self.closed))?;
            self.base.push(true)?;
            self.closed = parent;
        }
        self.leaf.push(value.is_some())?;
        value.map_or(Ok(()), |value| self.dead.push(value.is_none()))
    }

    /// The number of keys that were added so far.
    pub fn keys(&self) -> u64 {
        self.dead.len()
    }

    /// The trie of all nodes, with its index.
    ///
    /// # Errors
    /// [`TrieError::NoMemory`].
    pub fn finish(self) -> Result<LoudsTrie, TrieError> {
        let bytes = self.edge.len() + self.values.len();
        self.parts().map_err(|NoMemory| TrieError::NoMemory(bytes))
    }

    fn parts(mut self) -> Result<LoudsTrie, NoMemory> {
        self.base.push_zeros(self.leaf.len() - self.closed)?;
        let (base_len, leaf_len) = (self.base.len(), self.leaf.len());
        Ok(LoudsTrie {
            base: Select0::new(self.base.finish()?, base_len)?,
            leaf: Rank1::new(self.leaf.finish()?, leaf_len)?,
            edge: Buffer::copied(&self.edge)?,
            values: Buffer::copied(&self.values)?,
            dead: if self.any_dead { self.dead.finish()? } else { Buffer::empty() },
            origin: 0,
            guard: Trusted,
        })
    }
}
