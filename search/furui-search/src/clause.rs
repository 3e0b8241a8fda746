use super::Phrase;

/// A conjunction. It finds the documents in which every word of `must` and every phrase of `phrases` occur, and no word
/// of `without` and no phrase of `without_phrases`. A query finds the documents of any of its clauses.
///
/// The lists of words contain no information about phrases: a search by words finds all matching documents, and
/// possibly others. The document's text decides whether it matches ([`Fit`](super::Fit)).
///
/// ```
/// use furui_search::{Clause, Query};
///
/// let words = Clause { must: vec!["bloom".into(), "filter".into()], ..Clause::default() };
/// assert_eq!(Query::parse("bloom filter")?.clauses(), [words]);
/// assert!(Query::parse("\"bloom filter\"")?.clauses()[0].has_phrases());
/// # Ok::<(), furui_search::QueryError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Clause {
    /// The required words, normalised, without duplicates. There is at least one. The words of `phrases` are included.
    pub must: Vec<String>,
    /// The excluded words, normalised, without duplicates.
    pub without: Vec<String>,
    /// The required phrases, without duplicates.
    pub phrases: Vec<Phrase>,
    /// The excluded phrases, without duplicates.
    pub without_phrases: Vec<Phrase>,
}

impl Clause {
    /// True if the clause has required or excluded phrases, so that the lists of words do not suffice to decide which
    /// documents match.
    pub fn has_phrases(&self) -> bool {
        !self.phrases.is_empty() || !self.without_phrases.is_empty()
    }
}
