use std::ops::Deref;

use super::LoudsTrie;
use crate::bits::Buffer;
use crate::dict::depth_first::Nodes;
use crate::dict::trie::{Guard, Trusted};
use crate::dict::{Found, Node, Value};

/// A node of a [`LoudsTrie`].
///
/// ```
/// use furui::raw::{Node, SortedKeys, freeze};
///
/// let keys = [("ab", Some(1)), ("bd", Some(3))];
/// let trie = freeze(SortedKeys::new(&keys)?.root(), (), |(), _| (), false, |()| {})?;
/// let a = trie.root().first_child().expect("the node of a");
/// let b = a.sibling().expect("the node of b");
/// assert_eq!((a.alphabet(), b.alphabet()), (b'a', b'b'));
/// assert_eq!(b.first_child().and_then(|bd| bd.value()), Some(Some(3)));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Debug)]
pub struct LoudsNode<'a, M = Buffer, G = Trusted> {
    trie: &'a LoudsTrie<M, G>,
    place: Place,
}

/// The place of a node in a LOUDS trie: its number in breadth-first order, and its bit in BASE (the numbers of children
/// in unary).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    number: u64,
    /// The index of the one bit in BASE, the unary numbers of children, that stands for the node.
    bit: u64,
}

impl<'a, M, G> LoudsNode<'a, M, G> {
    pub(super) fn root(trie: &'a LoudsTrie<M, G>) -> Self {
        Self { trie, place: Place { number: 0, bit: 0 } }
    }
}

impl<M: Deref<Target = [u8]>, G: Guard> LoudsTrie<M, G> {
    #[inline]
    fn first_child_of(&self, Place { number, .. }: Place) -> Option<Place> {
        let (child, bit) = self.children(number)?;
        // In a damaged trie a node may be its own child, and a walk down would not end.
        (child > number && self.has_one(bit)).then_some(Place { number: child, bit })
    }

    #[inline]
    fn sibling_of(&self, Place { number, bit }: Place) -> Option<Place> {
        self.has_one(bit + 1).then_some(Place { number: number + 1, bit: bit + 1 })
    }
}

impl<M: Deref<Target = [u8]>, G: Guard> Node for LoudsNode<'_, M, G> {
    #[inline]
    fn first_child(&self) -> Option<Self> {
        Some(Self { place: self.trie.first_child_of(self.place)?, ..*self })
    }

    #[inline]
    fn sibling(&self) -> Option<Self> {
        Some(Self { place: self.trie.sibling_of(self.place)?, ..*self })
    }

    #[inline]
    fn alphabet(&self) -> u8 {
        self.trie.label(self.place.number).unwrap_or_default()
    }

    #[inline]
    fn value(&self) -> Option<Value> {
        self.trie.value(self.place.number)
    }
}

impl<G: Guard> Nodes for LoudsTrie<&[u8], G> {
    type Node = Place;

    fn count(&self) -> u64 {
        self.nodes()
    }

    fn root(&self) -> Place {
        LoudsNode::root(self).place
    }

    fn first_child(&self, node: Place) -> Option<Place> {
        self.first_child_of(node)
    }

    fn sibling(&self, node: Place) -> Option<Place> {
        self.sibling_of(node)
    }

    fn first_byte(&self, node: Place) -> u8 {
        self.label(node.number).unwrap_or_default()
    }

    fn push_label(&self, node: Place, out: &mut Vec<u8>) {
        out.extend(self.label(node.number));
    }

    fn found(&self, node: Place) -> Option<Found> {
        self.value(node.number).map(Found::from)
    }
}

impl<M, G> Clone for LoudsNode<'_, M, G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M, G> Copy for LoudsNode<'_, M, G> {}
