use furui_search::{Record, Weight};

/// The true postings of a document: the hashes of its words, each with its weight.
pub(in crate::node) struct Truth(Box<[(u64, Weight)]>);

impl Truth {
    /// Computes the true postings of a record. `hash` returns the hash of a word.
    pub(super) fn of(record: &Record, hash: impl Fn(&str) -> u64) -> Self {
        let mut weights: Vec<(u64, Weight)> =
            record.postings().iter().map(|(word, weight)| (hash(word), *weight)).collect();
        weights.sort_unstable_by_key(|(hash, _)| *hash);
        Self(weights.into())
    }

    /// The true weight of the word with this hash; `None` if the document does not hold the word.
    pub(in crate::node) fn weight(&self, word: u64) -> Option<Weight> {
        let at = self.0.binary_search_by_key(&word, |(hash, _)| *hash).ok()?;
        Some(self.0[at].1)
    }

    /// The number of distinct words of the document.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
