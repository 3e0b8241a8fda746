use std::ops::Deref;

use super::LoudsTrie;
use crate::bits::Buffer;
use crate::dict::{Node, Value};

/// A node of a [`LoudsTrie`].
///
/// ```
/// use furui::dict::{Node, SortedKeys, freeze};
///
/// let trie = freeze(SortedKeys::new(&[("ab", Some(1)), ("bd", Some(3))])?.root(), 0.01, 0)?.trie;
/// let a = trie.root().first_child().expect("the node of a");
/// let b = a.sibling().expect("the node of b");
/// assert_eq!((a.alphabet(), b.alphabet()), (b'a', b'b'));
/// assert_eq!(b.first_child().and_then(|bd| bd.value()), Some(Some(3)));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Debug)]
pub struct LoudsNode<'a, M = Buffer> {
    trie: &'a LoudsTrie<M>,
    number: u64,
    /// The place of its one in BASE.
    bit: u64,
}

impl<'a, M> LoudsNode<'a, M> {
    pub(super) fn root(trie: &'a LoudsTrie<M>) -> Self {
        Self { trie, number: 0, bit: 0 }
    }
}

impl<M: Deref<Target = [u8]>> LoudsNode<'_, M> {
    /// This node, if BASE has a one at `bit`.
    #[inline]
    fn if_any(self) -> Option<Self> {
        self.trie.base.bit(self.bit).then_some(self)
    }
}

impl<M: Deref<Target = [u8]>> Node for LoudsNode<'_, M> {
    #[inline]
    fn first_child(&self) -> Option<Self> {
        let (number, bit) = self.trie.children(self.number)?;
        Self { number, bit, ..*self }.if_any()
    }

    #[inline]
    fn sibling(&self) -> Option<Self> {
        Self { number: self.number + 1, bit: self.bit + 1, ..*self }.if_any()
    }

    #[inline]
    fn alphabet(&self) -> u8 {
        self.number.checked_sub(1).map_or(0, |index| self.trie.edge[index as usize])
    }

    #[inline]
    fn value(&self) -> Option<Value> {
        self.trie.value(self.number)
    }
}

impl<M> Clone for LoudsNode<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for LoudsNode<'_, M> {}
