//! The trie of minimal prefixes, which the paper of Koyanagi et al. names as future work: see [`MinimalTrie`].

use furui::raw::Select0;
use furui::raw::{LoudsBuilder, LoudsTrie, Node, Value, breadth_first};

/// A trie of the shortest prefixes that tell its keys apart. It is a [`LoudsTrie`], which has the arrays BASE, LEAF,
/// EDGE and VAL. The part of a key after its prefix, its *rest*, is in a further array, TAIL.
///
/// ```text
///   keys "cat", "coal", "coat", "coats", "dog"
///
///         0               BASE, LEAF, EDGE, VAL: the LOUDS trie of "ca", "coal", "coat", "coats" and "d"
///       /   \             keys          d     ca    coal  coat  coats     in the order of their nodes
///      c     d  "og"      TAIL          o g   t
///     / \                 ends of rests 1 1 0 1 0   0     0     0         a rest's length in unary
///    a   o
///   "t"  |
///        a
///       / \
///      l   t -- s
/// ```
///
/// A key that is a prefix of another key ends within the trie, and its rest is empty. The rest is also empty if a key
/// differs from the others only in its last byte. A look-up goes down as far as there are children, and compares what
/// is left of the key with the rest.
///
/// **Cost.** The LOUDS trie of the prefixes, a byte and a bit for each byte of the rests, a bit for each key, and an
/// index of about a tenth of these bits. After the descent, a hit takes one rank and two selects.
///
/// **Source.** Koyanagi et al. (2011), section 6, say only that virtual nodes (each stands for nodes of several tries)
/// are thought to be usable for building such tries. Rests and the name TAIL are from Aoe (1989). There, an offset is
/// kept for each key, and each rest has an end mark, a byte that no key may contain.
pub(super) struct MinimalTrie {
    prefixes: LoudsTrie,
    tail: Vec<u8>,
    /// The lengths of the rests in unary: ones, and a zero at the end of each.
    ends: Select0,
}

impl MinimalTrie {
    /// Builds the trie of the keys below `root`, by the breadth-first walk that is also used to build LOUDS tries. The
    /// root may be that of sorted keys, that of a trie of any kind, or a virtual node of several tries.
    pub(super) fn build(root: impl Node) -> Self {
        let (mut tail, mut ends, mut len) = (vec![], vec![], 0);
        let walk = || {
            let mut builder = LoudsBuilder::new()?;
            breadth_first(Cut::new(root), |parent, cut| {
                let value = cut.end(|byte| tail.push(byte));
                if value.is_some() {
                    let end = tail.len() + builder.keys() as usize;
                    ends.resize(end / 8 + 1, 0xFF);
                    ends[end / 8] &= !(1u8 << (end % 8));
                    len = end as u64 + 1;
                }
                builder.visit(parent.copied(), cut.alphabet(), value)
            })?;
            builder.finish()
        };
        let prefixes = walk().expect("memory for a trie");
        Self { prefixes, tail, ends: Select0::new(ends.into(), len).expect("memory for an index") }
    }

    /// The value of a key; `None` if it is not in the trie.
    pub(super) fn get(&self, key: &[u8]) -> Option<Value> {
        let (mut node, mut left) = (0, key);
        while let Some((&byte, behind)) = left.split_first()
            && let Some(child) = self.child(node, byte)
        {
            (node, left) = (child, behind);
        }
        let index = self.key_at(node)?;
        (self.rest(index) == left).then(|| self.value(index))
    }

    /// The root, where a walk over all bytes of all keys begins.
    pub(super) fn root(&self) -> MinimalNode<'_> {
        MinimalNode { trie: self, number: 0, bit: 0, rest: None }
    }

    /// The trie without TAIL: the LOUDS trie of the shortest prefixes that tell the keys apart.
    pub(super) fn prefixes(&self) -> &LoudsTrie {
        &self.prefixes
    }

    /// The rests of all keys, in the order of the nodes where their prefixes end.
    pub(super) fn rests(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.prefixes.keys()).map(|index| self.rest(index))
    }

    /// The size, in bytes, of the bits that mark where the rests of the keys end, with their index.
    pub(super) fn bytes_of_ends(&self) -> usize {
        self.ends.words().len() + self.ends.index().map(<[u8]>::len).iter().sum::<usize>()
    }

    /// The size of all parts of the trie and their indices, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.prefixes.bytes() + self.tail.len() + self.bytes_of_ends()
    }

    /// The number of the first child of a node, and the index of the child's bit in BASE; `None` if the node has no
    /// child.
    #[inline]
    fn children(&self, node: u64) -> Option<(u64, u64)> {
        let bit = self.prefixes.base().select0(node)? + 1;
        Some((bit - node - 1, bit))
    }

    #[inline]
    fn child(&self, node: u64, byte: u8) -> Option<u64> {
        let (mut child, mut bit) = self.children(node)?;
        while self.prefixes.base().bit(bit) {
            let label = self.label(child);
            if label >= byte {
                return (label == byte).then_some(child);
            }
            (child, bit) = (child + 1, bit + 1);
        }
        None
    }

    #[inline]
    fn label(&self, node: u64) -> u8 {
        node.checked_sub(1).map_or(0, |index| self.prefixes.edge()[index as usize])
    }

    /// The index, among all keys, of the key whose prefix ends at a node; `None` if none does.
    #[inline]
    fn key_at(&self, node: u64) -> Option<u64> {
        let leaf = self.prefixes.leaf();
        leaf.bit(node).then(|| leaf.rank1(node))
    }

    /// The rest of the key with this index. In `ends`, a one stands for each byte of TAIL, and a zero for the end of
    /// each rest.
    #[inline]
    fn rest(&self, index: u64) -> &[u8] {
        let end = |index| self.ends.select0(index).map_or(0, |bit| (bit - index) as usize);
        &self.tail[index.checked_sub(1).map_or(0, end)..end(index)]
    }

    #[inline]
    fn value(&self, index: u64) -> Value {
        let is_dead = self.prefixes.dead().get((index / 8) as usize).is_some_and(|byte| byte >> (index % 8) & 1 == 1);
        (!is_dead).then(|| u32::from_le_bytes(self.prefixes.values().as_chunks().0[index as usize]))
    }
}

/// A node of a walk over all bytes of the keys in a [`MinimalTrie`], by which such tries can be merged. Each byte of a
/// key's rest (the part after its prefix, which is stored in TAIL) has a node of its own, too.
#[derive(Clone, Copy)]
pub(super) struct MinimalNode<'a> {
    trie: &'a MinimalTrie,
    /// The number of the node in the LOUDS trie of the prefixes.
    number: u64,
    /// The index of the bit in BASE that stands for the node.
    bit: u64,
    /// If the node stands for a byte of a key's rest (the part after the prefix), the rest from this byte on. `None`
    /// if the node is in the trie of prefixes.
    rest: Option<&'a [u8]>,
}

impl Node for MinimalNode<'_> {
    fn first_child(&self) -> Option<Self> {
        let below = match self.rest {
            Some(rest) => &rest[1..],
            None => {
                let (number, bit) = self.trie.children(self.number)?;
                if self.trie.prefixes.base().bit(bit) {
                    return Some(Self { number, bit, ..*self });
                }
                self.trie.rest(self.trie.key_at(self.number)?)
            }
        };
        (!below.is_empty()).then_some(Self { rest: Some(below), ..*self })
    }

    fn sibling(&self) -> Option<Self> {
        let has_one = self.rest.is_none() && self.trie.prefixes.base().bit(self.bit + 1);
        has_one.then(|| Self { number: self.number + 1, bit: self.bit + 1, ..*self })
    }

    fn alphabet(&self) -> u8 {
        self.rest.map_or_else(|| self.trie.label(self.number), |rest| rest[0])
    }

    fn value(&self) -> Option<Value> {
        if self.rest.is_some_and(|rest| rest.len() > 1) {
            return None;
        }
        let index = self.trie.key_at(self.number)?;
        (self.rest.is_some() || self.trie.rest(index).is_empty()).then(|| self.trie.value(index))
    }
}

/// A virtual node that turns another trie into a trie of minimal prefixes: if only one key is below the node, it has no
/// child, and it has the value of that key.
///
/// **Cost.** Besides the walk, each node of the other trie is visited once, to find out whether several keys are below.
/// No memory is allocated: the rest of a key is read again when it is written.
struct Cut<N> {
    node: N,
    /// The number of levels from this node down to the next branch; `None` if only one key is below.
    branch: Option<usize>,
}

impl<N: Node> Cut<N> {
    fn new(node: N) -> Self {
        let branch = branch_below(&node);
        Self { node, branch }
    }

    /// The value of the key that ends at this node, or of the only key below it. The rest of that key is passed to
    /// `push`.
    fn end(&self, mut push: impl FnMut(u8)) -> Option<Value> {
        let below = if self.branch.is_none() { self.node.first_child() } else { None };
        let Some(mut last) = below else { return self.node.value() };
        push(last.alphabet());
        while let Some(node) = last.first_child() {
            push(node.alphabet());
            last = node;
        }
        last.value()
    }
}

impl<N: Node> Node for Cut<N> {
    fn first_child(&self) -> Option<Self> {
        let levels = self.branch?;
        let node = self.node.first_child()?;
        // A branch further below is already known, and need not be searched again.
        Some(match levels.checked_sub(1) {
            Some(left) => Self { node, branch: Some(left) },
            None => Self::new(node),
        })
    }

    fn sibling(&self) -> Option<Self> {
        self.node.sibling().map(Self::new)
    }

    fn alphabet(&self) -> u8 {
        self.node.alphabet()
    }

    fn value(&self) -> Option<Value> {
        self.end(|_| {})
    }
}

/// The number of levels from a node down to the next branch: a node that has two children, or that has a child and is
/// the end of a key. `None` if only one key is below.
fn branch_below<N: Node>(node: &N) -> Option<usize> {
    let is_branch = |node: &N, child: &N| child.sibling().is_some() || node.value().is_some();
    let mut last = node.first_child()?;
    if is_branch(node, &last) {
        return Some(0);
    }
    for levels in 1.. {
        let child = last.first_child()?;
        if is_branch(&last, &child) {
            return Some(levels);
        }
        last = child;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use furui::raw::{Merged, SortedKeys};

    use super::*;
    use crate::keys::mix;

    type Map = BTreeMap<Vec<u8>, Value>;

    fn of_map(map: &Map) -> MinimalTrie {
        let keys: Vec<(&Vec<u8>, Value)> = map.iter().map(|(key, value)| (key, *value)).collect();
        MinimalTrie::build(SortedKeys::new(&keys).unwrap().root())
    }

    fn merged(newest_first: &[MinimalTrie]) -> MinimalTrie {
        MinimalTrie::build(Merged::new(newest_first.iter().map(MinimalTrie::root)).unwrap())
    }

    fn check(trie: &MinimalTrie, map: &Map, seed: u64) {
        let parts = |trie: &MinimalTrie| {
            let louds =
                [trie.prefixes.base().words(), trie.prefixes.edge(), trie.prefixes.values(), trie.prefixes.dead()];
            [louds.concat(), trie.prefixes.leaf().words().to_vec(), trie.tail.clone(), trie.ends.words().to_vec()]
        };
        assert!(parts(trie) == parts(&of_map(map)), "seed {seed}: the trie is that of sorted keys");
        for key in map.keys().chain([&vec![]]) {
            let longer = [0, b'a', 0xFF].map(|byte| [key.as_slice(), &[byte]].concat());
            let others = (key.len().saturating_sub(6)..key.len()).map(|at| [&key[..at], &[7], &key[at + 1..]].concat());
            let near = longer.into_iter().chain(others).chain([key.clone(), key[..key.len() / 2].to_vec()]);
            near.for_each(|key| assert_eq!(trie.get(&key), map.get(&key).copied(), "seed {seed}: {key:?}"));
        }
    }

    /// A random key of one of three kinds: a few bytes of six values, so that some keys are prefixes of others; such
    /// bytes after a long prefix; or up to 59 bytes of any values.
    fn key(random: impl Fn(u64) -> u64) -> Vec<u8> {
        let few = (2..2 + random(1) % 6).map(|i| [0, 1, b'a', b'b', 0xFE, 0xFF][(random(i) % 6) as usize]).collect();
        match random(0) % 8 {
            0 => (0..random(1) % 60).map(|i| random(i + 2) as u8).collect(),
            1 => [vec![b'a'; 300], few].concat(),
            _ => few,
        }
    }

    #[test]
    fn tries_that_are_merged_are_a_map_whatever_is_put_and_deleted() {
        for seed in 0..20 {
            let (mut all, mut window, mut tries) = (Map::new(), Map::new(), vec![]);
            for step in 0..200 {
                let random = |i| mix(mix(seed << 32 | step) ^ i);
                match random(100) % 16 {
                    0 => tries.insert(0, of_map(&std::mem::take(&mut window))),
                    1 if !tries.is_empty() => {
                        let newest = 1 + random(101) as usize % tries.len();
                        let one = merged(&tries[..newest]);
                        tries.splice(..newest, [one]);
                    }
                    choice => {
                        let entry = (key(random), (choice > 4).then_some(step as u32));
                        window.extend([entry.clone()]);
                        all.extend([entry]);
                    }
                }
                let key = key(|i| random(i + 500));
                let newest = window.get(&key).copied().or_else(|| tries.iter().find_map(|trie| trie.get(&key)));
                assert_eq!(newest, all.get(&key).copied(), "seed {seed}, step {step}: {key:?}");
            }
            tries.insert(0, of_map(&window));
            check(&merged(&tries), &all, seed);
        }
    }

    #[test]
    fn the_example_and_tries_of_one_key_or_none() {
        let map =
            |keys: &[&str]| keys.iter().zip(0..).map(|(key, value)| (key.as_bytes().to_vec(), Some(value))).collect();
        let trie = of_map(&map(&["cat", "coal", "coat", "coats", "dog"]));
        assert_eq!((trie.prefixes.edge(), trie.tail.as_slice()), (&b"cdaoalts"[..], &b"ogt"[..]));
        assert_eq!(trie.rests().collect::<Vec<_>>(), [&b"og"[..], b"t", b"", b"", b""]);
        for keys in [&[][..], &[""], &["a"], &["a long key"]] {
            let trie = of_map(&map(keys));
            assert_eq!((trie.prefixes.nodes(), trie.tail.as_slice()), (1, keys.concat().as_bytes()));
            check(&merged(&[of_map(&Map::new()), trie]), &map(keys), 0);
        }
    }
}
