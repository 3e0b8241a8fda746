use std::collections::VecDeque;

use super::Node;
use crate::error::TrieError;

/// Walks a trie from its root, level by level, and each level in the order of keys.
///
/// `visit` is called for every node, with the value that it returned for the node's parent, or `None` for the root. The
/// value is kept until the node's children were visited, so it can carry data along a path, such as the number of a
/// node or the state of a hash.
///
/// **Cost.** The queue holds one level of the trie: at most about one node for each key.
///
/// **Source.** Koyanagi et al. (2011), section 4.1, statement by statement. In the paper, nodes have fields for the
/// data that is carried.
///
/// # Errors
/// Those of `visit`, which end the walk; [`TrieError::NoMemory`] if there is no memory for the queue.
pub fn breadth_first<N: Node, S>(
    root: N,
    mut visit: impl FnMut(Option<&S>, &N) -> Result<S, TrieError>,
) -> Result<(), TrieError> {
    let mut queue = VecDeque::new();
    let carried = visit(None, &root)?;
    queue.push_back((root, carried));
    while let Some((parent, carried)) = queue.pop_front() {
        let mut child = parent.first_child();
        while let Some(node) = child {
            let of_node = visit(Some(&carried), &node)?;
            child = node.sibling();
            let room = queue.len() + 1;
            queue.try_reserve(1).map_err(|_| TrieError::NoMemory(room * size_of::<(N, S)>()))?;
            queue.push_back((node, of_node));
        }
    }
    Ok(())
}
