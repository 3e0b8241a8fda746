use super::{Node, Value};

/// A virtual node M(n₁, …, nₖ) for nodes of several tries: a node of the trie that has the keys of all these tries.
///
/// ```text
///   newer: "ab", "bd"      older: "ac", "bd"        M(root, root) ── a ── M(b, c): b, then its sibling c
///                                                         └───────── b ── M(d, d): the newer one's value
/// ```
///
/// A virtual node holds one node of each trie that still has siblings to visit here. It stands for the held nodes with
/// the smallest byte. Let A be the set of these nodes, and a = min alphabet(nᵢ) their byte:
///
/// | | |
/// |---|---|
/// | `first_child` | M of first_child(nᵢ) for all nᵢ in A |
/// | `sibling` | M of sibling(nᵢ) for the nᵢ in A, and of nᵢ itself for the other nodes |
/// | `alphabet` | a |
/// | `value` | that of the newest node in A that has one |
///
/// **Cost.** A step takes one step in each trie that has the node. A step among the children of nodes of three or more
/// tries allocates the list of nodes.
///
/// **Source.** Koyanagi et al. (2011), section 4.3 and Table 1, for two tries: a = min of both, and the rows for equal,
/// smaller and greater alphabets are those above for A = {n₁, n₂}, {n₁} and {n₂}. The table does not say which value
/// wins; section 3.3 says that the newest does.
///
/// ```
/// use furui::raw::{Merged, Node, SortedKeys};
///
/// let newer = [("ab", Some(1)), ("bd", Some(2))];
/// let older = [("ac", Some(3)), ("bd", Some(4))];
/// let root = Merged::new([SortedKeys::new(&newer)?.root(), SortedKeys::new(&older)?.root()]).expect("two tries");
/// let a = root.first_child().expect("the node of a");
/// let bd = a.sibling().and_then(|b| b.first_child()).expect("the node of bd");
/// assert_eq!(bd.value(), Some(Some(2)));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Merged<N>(Nodes<N>);

/// The nodes that a virtual node holds: at most one of each trie, that of the newest trie first, and at least one in
/// all. One or two nodes need no allocation.
#[derive(Clone, Debug)]
enum Nodes<N> {
    One([N; 1]),
    Two([N; 2]),
    Many(Vec<N>),
}

impl<N: Node + Clone> Merged<N> {
    /// The root of the virtual trie that has all keys of the tries with the roots `roots`, newest first. `None` if
    /// `roots` is empty.
    #[inline]
    pub fn new(roots: impl IntoIterator<Item = N>) -> Option<Self> {
        let mut roots = roots.into_iter();
        let first = roots.next()?;
        let Some(second) = roots.next() else { return Some(Self(Nodes::One([first]))) };
        let Some(third) = roots.next() else { return Some(Self(Nodes::Two([first, second]))) };
        Some(Self(Nodes::Many([first, second, third].into_iter().chain(roots).collect())))
    }

    #[inline]
    fn nodes(&self) -> &[N] {
        match &self.0 {
            Nodes::One(node) => node,
            Nodes::Two(nodes) => nodes,
            Nodes::Many(nodes) => nodes,
        }
    }

    /// The nodes, one for each trie that has it, whose byte is the smallest.
    #[inline]
    fn smallest(&self) -> impl Iterator<Item = &N> {
        let alphabet = self.alphabet();
        self.nodes().iter().filter(move |node| node.alphabet() == alphabet)
    }
}

impl<N: Node + Clone> Node for Merged<N> {
    #[inline]
    fn first_child(&self) -> Option<Self> {
        match self.nodes() {
            [node] => node.first_child().map(|child| Self(Nodes::One([child]))),
            _ => Self::new(self.smallest().filter_map(N::first_child)),
        }
    }

    #[inline]
    fn sibling(&self) -> Option<Self> {
        match self.nodes() {
            [node] => node.sibling().map(|sibling| Self(Nodes::One([sibling]))),
            nodes => {
                let alphabet = self.alphabet();
                Self::new(nodes.iter().filter_map(|node| match node.alphabet() == alphabet {
                    true => node.sibling(),
                    false => Some(node.clone()),
                }))
            }
        }
    }

    #[inline]
    fn alphabet(&self) -> u8 {
        self.nodes().iter().map(N::alphabet).min().unwrap_or_default()
    }

    #[inline]
    fn value(&self) -> Option<Value> {
        match self.nodes() {
            [node] => node.value(),
            _ => self.smallest().find_map(N::value),
        }
    }
}
