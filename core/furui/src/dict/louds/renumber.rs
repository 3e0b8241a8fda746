use super::LoudsTrie;

impl LoudsTrie {
    /// Replaces each value of the trie by its index in `values`, the ascending list of all distinct values of the trie.
    /// No key of the trie may be deleted. Cost: a binary search for each key, in place.
    pub(in crate::dict) fn renumber(&mut self, values: &[u32]) {
        debug_assert!(self.dead.is_empty(), "deletions have no values");
        for value in self.values.as_chunks_mut().0 {
            let index = values.binary_search(&u32::from_le_bytes(*value)).unwrap_or(0);
            *value = (index as u32).to_le_bytes();
        }
    }
}
