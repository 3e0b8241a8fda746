use super::{LoudsBuilder, LoudsTrie, Node, breadth_first};
use crate::error::TrieError;

/// Freezes a trie in one walk, which hashes every key on its way. The trie may be the keys of a buffer, a dynamic trie,
/// or any number of tries that are merged ([`Merged`](super::Merged)).
///
/// The queue of the walk carries the state of the hash along each path, so that no key is read. This state is `start`
/// at the root, and `push` gives the state after one more byte. `each_key` gets the state of each key, breadth-first; a
/// key of several merged tries counts once. With `forget` deleted keys are left out, which is right if there is no
/// older trie.
///
/// **Cost.** Besides the walk and the trie, one call of `push` for each node. If keys are left out, there are two more
/// passes over the nodes.
///
/// **Source.** Koyanagi et al. (2011), sections 4.3 and 4.4. In the paper the bits of the filter are set during the
/// walk. Here the caller sets all of them after the walk: only then the number of keys is known, from which the size of
/// the filter follows (equation 1). This is no slower, because many cache misses overlap.
///
/// # Errors
/// [`TrieError::NoMemory`].
///
/// ```
/// use furui::raw::{Merged, SortedKeys, freeze};
/// use furui::raw::Rolling;
///
/// let rolling = Rolling::new(7);
/// let mut hashes = vec![];
/// let new = [("ac", Some(3)), ("bd", Some(4))];
/// let old = [("ab", Some(1)), ("bd", Some(2))];
/// let both = Merged::new([SortedKeys::new(&new)?.root(), SortedKeys::new(&old)?.root()]).expect("two tries");
/// let push = |&state: &_, byte| rolling.push(state, byte);
/// let trie = freeze(both, rolling.start(), push, false, |state| hashes.push(state.finish()))?;
/// assert_eq!(trie.get(b"bd"), Some(Some(4)));
/// assert_eq!(hashes, ["ab", "ac", "bd"].map(|key| Rolling::spec(7).hash(key.as_bytes())));
/// # Ok::<(), furui::Error>(())
/// ```
pub fn freeze<N: Node, S>(
    root: N,
    start: S,
    push: impl Fn(&S, u8) -> S,
    forget: bool,
    mut each_key: impl FnMut(&S),
) -> Result<LoudsTrie, TrieError> {
    let mut builder = LoudsBuilder::new()?;
    // `start` is taken when the root is visited, which happens once.
    let mut start = Some(start);
    let mut forgotten = false;
    breadth_first(root, |parent: Option<&(u64, S)>, node| {
        let byte = node.alphabet();
        let state = match parent {
            Some((_, state)) => push(state, byte),
            None => start.take().ok_or(TrieError::Damaged)?,
        };
        let mut value = node.value();
        if forget && value == Some(None) {
            (value, forgotten) = (None, true);
        }
        if value.is_some() {
            each_key(&state);
        }
        Ok((builder.visit(parent.map(|&(number, _)| number), byte, value)?, state))
    })?;
    let trie = builder.finish()?;
    if forgotten { trie.pruned() } else { Ok(trie) }
}
