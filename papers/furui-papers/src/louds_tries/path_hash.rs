//! Hashes that can be computed along a path of a trie, and the filters they fill: those of Koyanagi et al., and this
//! project's.

use std::sync::LazyLock;

use furui::filter::{Bloom, Filter, FilterMut};
use furui::raw::{LoudsBuilder, LoudsTrie, Node, breadth_first, freeze};
use furui::raw::{PolynomialHashes, Rolling, RollingState};

/// The number of bits of a filter for each of its keys.
const BITS: usize = 10;

/// The state of a hash after the bytes of a path in a trie, from which a filter is filled.
pub(super) trait PathHash: Copy {
    type Filter: PartialEq;
    /// Creates an empty filter for this many keys.
    fn filter(keys: usize) -> Self::Filter;
    fn start() -> Self;
    fn push(self, byte: u8) -> Self;
    fn insert(self, filter: &mut Self::Filter);
    fn is_in(self, filter: &Self::Filter) -> bool;

    fn of(key: &[u8]) -> Self {
        key.iter().fold(Self::start(), |state, &byte| state.push(byte))
    }
}

/// The filter of l bits of Koyanagi et al.: each hash h of a key sets the bit h mod l.
#[derive(PartialEq)]
pub(super) struct Bits {
    words: Vec<u64>,
    len: u64,
}

impl<const K: usize> PathHash for PolynomialHashes<K> {
    type Filter = Bits;

    fn filter(keys: usize) -> Bits {
        // The length is odd. If it were a power of two, the upper bits of a hash would have no influence.
        let len = (keys * BITS) | 1;
        Bits { words: vec![0; len.div_ceil(64)], len: len as u64 }
    }

    fn start() -> Self {
        Self::start()
    }

    #[inline(always)]
    fn push(self, byte: u8) -> Self {
        self.push(byte)
    }

    #[inline(always)]
    fn insert(self, filter: &mut Bits) {
        for bit in self.hashes().map(|hash| hash % filter.len) {
            filter.words[(bit / 64) as usize] |= 1 << (bit % 64);
        }
    }

    #[inline(always)]
    fn is_in(self, filter: &Bits) -> bool {
        self.hashes()
            .map(|hash| hash % filter.len)
            .iter()
            .all(|bit| filter.words[(bit / 64) as usize] >> (bit % 64) & 1 == 1)
    }
}

/// One hash state from which all `K` positions of a key in a filter are derived.
#[derive(Clone, Copy)]
pub(super) struct OneState<const K: usize>(RollingState);

static ROLLING: LazyLock<Rolling> = LazyLock::new(|| Rolling::new(0));

impl<const K: usize> PathHash for OneState<K> {
    type Filter = Bloom;

    fn filter(keys: usize) -> Bloom {
        let bits = (keys * BITS).max(1) as u64;
        Bloom::from_parts(bits, K as u32).expect("a filter of this size").hashed_by(Rolling::spec(0))
    }

    fn start() -> Self {
        Self(ROLLING.start())
    }

    #[inline(always)]
    fn push(self, byte: u8) -> Self {
        Self(ROLLING.push(self.0, byte))
    }

    #[inline(always)]
    fn insert(self, filter: &mut Bloom) {
        filter.insert_hash(self.0.finish()).expect("a Bloom filter is never full");
    }

    #[inline(always)]
    fn is_in(self, filter: &Bloom) -> bool {
        filter.contains_hash(self.0.finish())
    }
}

/// Builds the trie of the keys below `root`, without a filter.
pub(super) fn build(root: impl Node) -> LoudsTrie {
    let build = || {
        let mut builder = LoudsBuilder::new()?;
        breadth_first(root, |parent, node| builder.visit(parent.copied(), node.alphabet(), node.value()))?;
        builder.finish()
    };
    build().expect("memory for a trie")
}

/// Builds the trie of the keys below `root` and its filter in one walk, which carries the hashes of the paths. `keys`
/// is the number of keys that the filter is made for.
pub(super) fn build_concurrently<H: PathHash>(root: impl Node, keys: usize) -> (LoudsTrie, H::Filter) {
    let mut filter = H::filter(keys);
    let push = |hash: &H, byte| hash.push(byte);
    let trie = freeze(root, H::start(), push, false, |hash| hash.insert(&mut filter)).expect("memory for a trie");
    (trie, filter)
}

/// Builds the filter of a finished trie by a second walk, which carries the hashes, like the walk that built the trie.
pub(super) fn scan<H: PathHash>(trie: &LoudsTrie) -> H::Filter {
    let mut filter = H::filter(trie.keys() as usize);
    breadth_first(trie.root(), |parent: Option<&H>, node| {
        let hash = parent.map_or_else(H::start, |hash| hash.push(node.alphabet()));
        if node.value().is_some() {
            hash.insert(&mut filter);
        }
        Ok(hash)
    })
    .expect("memory for a queue");
    filter
}

/// Builds the filter of a finished trie by reading each key out of the trie and hashing it from its first byte, as the
/// paper does. This is the only way if no hash is computed along the walk.
pub(super) fn scan_keys<H: PathHash>(trie: &LoudsTrie) -> H::Filter {
    let mut filter = H::filter(trie.keys() as usize);
    let mut key = Vec::new();
    let mut to_do = vec![(trie.root(), 0)];
    while let Some((node, len)) = to_do.pop() {
        key.truncate(len);
        if len > 0 {
            key[len - 1] = node.alphabet();
        }
        if node.value().is_some() {
            H::of(&key).insert(&mut filter);
        }
        to_do.extend(node.sibling().map(|sibling| (sibling, len)));
        to_do.extend(node.first_child().map(|child| (child, len + 1)));
        key.push(0);
    }
    filter
}
