use super::{LoudsBuilder, LoudsTrie, Node, breadth_first};
use crate::filter::{Bloom, ConfigError, FilterMut};
use crate::hash::{KeyHash, Rolling, RollingState};

/// A frozen trie and the filter of its keys.
///
/// ```
/// use furui::dict::{Frozen, SortedKeys, freeze};
///
/// let keys = [("ab", Some(1)), ("bd", Some(2))];
/// let Frozen { trie, filter } = freeze(SortedKeys::new(&keys)?.root(), 0.01, 0)?;
/// assert!(filter.contains("bd") && trie.get(b"bd") == Some(Some(2)));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Frozen {
    /// The trie.
    pub trie: LoudsTrie,
    /// The filter of its keys, hashed by [`Rolling::spec`].
    pub filter: Bloom,
}

/// Freezes a trie and fills the filter of its keys, in one walk. The trie may be the keys of a buffer, a dynamic trie,
/// or any number of tries that are merged ([`Merged`](super::Merged)).
///
/// The queue of the walk carries the hash state of each path, so that no key is read. The filter has the false-positive
/// `rate` for the number of keys that the walk meets; a key of several merged tries counts once.
///
/// **Cost.** Besides the walk and the trie, one multiplication for each node, and 8 bytes for the hash of each key
/// until the number of keys is known.
///
/// **Source.** Koyanagi et al. (2011), sections 3.1 (equation 1: filters are sized for the keys of the merged trie) and
/// 4.4. There the bits are set during the walk. Here they are set together after it, when the size is known, which is
/// no slower because many cache misses overlap.
///
/// # Errors
/// If no filter has this rate for so many keys.
///
/// ```
/// use furui::dict::{Merged, SortedKeys, freeze};
/// let old = freeze(SortedKeys::new(&[("ab", Some(1)), ("bd", Some(2))])?.root(), 0.01, 0)?;
/// let new = freeze(SortedKeys::new(&[("ac", Some(3)), ("bd", Some(4))])?.root(), 0.01, 0)?;
/// let both = Merged::new([new.trie.root(), old.trie.root()]).map(|root| freeze(root, 0.01, 0)).expect("two tries")?;
/// assert_eq!(both.trie.get(b"bd"), Some(Some(4)));
/// assert!(both.filter.contains("ab"));
/// # Ok::<(), furui::Error>(())
/// ```
pub fn freeze<N: Node>(root: N, rate: f64, seed: u64) -> Result<Frozen, ConfigError> {
    let rolling = Rolling::new(seed);
    let mut builder = LoudsBuilder::new();
    let mut hashes: Vec<KeyHash> = Vec::new();
    breadth_first(root, |parent: Option<&(u64, RollingState)>, node| {
        let hash = parent.map_or(rolling.start(), |&(_, hash)| rolling.push(hash, node.alphabet()));
        let keys = builder.keys();
        let number = builder.visit(parent.map(|&(number, _)| number), node);
        // The builder has just asked whether a key ends here. Asking again would look into each of the merged tries.
        if builder.keys() > keys {
            hashes.push(hash.finish());
        }
        (number, hash)
    });
    let mut filter = Bloom::with_rate(builder.keys(), rate)?.hashed_by(Rolling::spec(seed));
    filter.insert_all(&hashes).expect("a Bloom filter is never full");
    Ok(Frozen { trie: builder.finish(), filter })
}
