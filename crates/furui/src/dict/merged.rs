use super::{Node, Value};

/// A virtual node M(n₁, …, nₖ): the nodes of several tries as a node of the trie that has the keys of all.
///
/// ```text
///   newer: "ab", "bd"      older: "ac", "bd"        M(root, root) ── a ── M(b, c): b, then its sibling c
///                                                         └───────── b ── M(d, d): the newer one's value
/// ```
///
/// A virtual node holds the nodes of the tries that still have children to come; those with the smallest byte are what it
/// stands for. Let A be these, of alphabet a = min alphabet(nᵢ):
///
/// | | |
/// |---|---|
/// | `first_child` | M of first_child(nᵢ) for all nᵢ in A |
/// | `sibling` | M of sibling(nᵢ) for nᵢ in A, and nᵢ for the others |
/// | `alphabet` | a |
/// | `value` | that of the newest node in A that has one |
///
/// **Cost.** A step costs one step in each trie that has the node. A node that only one trie has is that node itself;
/// otherwise the list of nodes is allocated anew for each step.
///
/// **Source.** Koyanagi et al. (2011), section 4.3 and Table 1, for two tries: a = min of both, and the rows for equal,
/// smaller and greater alphabets are those above for A = {n₁, n₂}, {n₁} and {n₂}. It does not say which value wins; section
/// 3.3 says the newest.
#[derive(Clone, Debug)]
pub struct Merged<N>(Nodes<N>);

/// A trie that has no more nodes here is left out: its alphabet is greater than any.
#[derive(Clone, Debug)]
enum Nodes<N> {
    One(N),
    /// Two or more, newest first.
    Many(Vec<N>),
}

impl<N: Node + Clone> Merged<N> {
    /// The trie of all keys of the tries with these roots, newest first; nothing if there is no trie.
    pub fn new(roots: impl IntoIterator<Item = N>) -> Option<Self> {
        let mut roots = roots.into_iter();
        let first = roots.next()?;
        let Some(second) = roots.next() else { return Some(Self(Nodes::One(first))) };
        let mut nodes = Vec::with_capacity(2 + roots.size_hint().1.unwrap_or(0));
        nodes.extend([first, second]);
        nodes.extend(roots);
        Some(Self(Nodes::Many(nodes)))
    }
}

/// Those of `nodes` that have the smallest byte.
fn smallest<N: Node>(nodes: &[N]) -> impl Iterator<Item = &N> {
    let alphabet = smallest_alphabet(nodes);
    nodes.iter().filter(move |node| node.alphabet() == alphabet)
}

fn smallest_alphabet<N: Node>(nodes: &[N]) -> u8 {
    nodes.iter().map(N::alphabet).min().unwrap_or_default()
}

impl<N: Node + Clone> Node for Merged<N> {
    fn first_child(&self) -> Option<Self> {
        match &self.0 {
            Nodes::One(node) => node.first_child().map(|child| Self(Nodes::One(child))),
            Nodes::Many(nodes) => Self::new(smallest(nodes).filter_map(N::first_child)),
        }
    }

    fn sibling(&self) -> Option<Self> {
        match &self.0 {
            Nodes::One(node) => node.sibling().map(|sibling| Self(Nodes::One(sibling))),
            Nodes::Many(nodes) => {
                let alphabet = smallest_alphabet(nodes);
                Self::new(nodes.iter().filter_map(|node| match node.alphabet() == alphabet {
                    true => node.sibling(),
                    false => Some(node.clone()),
                }))
            }
        }
    }

    fn alphabet(&self) -> u8 {
        match &self.0 {
            Nodes::One(node) => node.alphabet(),
            Nodes::Many(nodes) => smallest_alphabet(nodes),
        }
    }

    fn value(&self) -> Option<Value> {
        match &self.0 {
            Nodes::One(node) => node.value(),
            Nodes::Many(nodes) => smallest(nodes).find_map(N::value),
        }
    }
}
