use super::{LoudsBuilder, LoudsTrie, Node, breadth_first};
use crate::filter::{Bloom, ConfigError};
use crate::hash::{KeyHash, Rolling, RollingState};

/// A frozen trie, and the filter that says which keys it cannot have.
#[derive(Clone, Debug)]
pub struct Frozen {
    /// The trie.
    pub trie: LoudsTrie,
    /// The filter of its keys, hashed by [`Rolling::spec`].
    pub filter: Bloom,
}

/// Freezes a trie, and fills the filter of its keys, in one walk: of the keys of a buffer, of a dynamic trie, or of any
/// number of tries that are merged ([`Merged`](super::Merged)).
///
/// The state of the hash of each path is carried in the walk's queue, so that no key is read. The filter has the
/// false-positive `rate` at the number of keys that the walk meets, which is known when it ends: keys that several of
/// the merged tries have count once.
///
/// **Cost.** Beside the walk and the trie, a multiplication a node; 8 bytes a key for the hashes until the number of keys
/// is known.
///
/// **Source.** Koyanagi et al. (2011), sections 3.1 (equation 1: filters are sized for the keys of the merged trie) and
/// 4.4. There the bits are set during the walk; here after it, when the size is known, and all at once, which is no
/// slower as many cache misses overlap.
///
/// # Errors
/// If there is no filter of that rate for so many keys.
///
/// ```
/// use furui::dict::{Merged, SortedKeys, freeze};
/// let old = freeze(SortedKeys::new(&[("ab", Some(1)), ("bd", Some(2))])?.root(), 0.01, 0)?;
/// let new = freeze(SortedKeys::new(&[("ac", Some(3)), ("bd", Some(4))])?.root(), 0.01, 0)?;
/// let both = Merged::new([new.trie.root(), old.trie.root()]).map(|root| freeze(root, 0.01, 0)).expect("two tries")?;
/// assert_eq!(both.trie.get(b"bd"), Some(Some(4)));
/// assert!(both.filter.contains("ab"));
/// # Ok::<(), furui::filter::ConfigError>(())
/// ```
pub fn freeze<N: Node>(root: N, rate: f64, seed: u64) -> Result<Frozen, ConfigError> {
    let rolling = Rolling::new(seed);
    let mut builder = LoudsBuilder::new();
    let mut hashes: Vec<KeyHash> = Vec::new();
    breadth_first(root, |parent: Option<&(u64, RollingState)>, node| {
        let hash = parent.map_or(rolling.start(), |&(_, hash)| rolling.push(hash, node.alphabet()));
        let keys = builder.keys();
        let number = builder.visit(parent.map(|&(number, _)| number), node);
        // Whether a key ends here was asked just now: of merged tries that takes a look into each.
        if builder.keys() > keys {
            hashes.push(hash.finish());
        }
        (number, hash)
    });
    let mut filter = Bloom::with_rate(builder.keys(), rate)?.hashed_by(Rolling::spec(seed));
    filter.insert_all(&hashes);
    Ok(Frozen { trie: builder.finish(), filter })
}
