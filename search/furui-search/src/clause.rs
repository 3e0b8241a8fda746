use super::Phrase;

/// A conjunction. It finds the documents in which every word of `must` and every phrase of `phrases` occur, and no word
/// of `without` and no phrase of `without_phrases`. A query finds the documents of any of its clauses.
///
/// The lists of words know nothing about phrases: a search by words finds all documents that fit, and also others.
/// Whether a document fits is decided by its text ([`Fit`](super::Fit)).
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
    /// The words that must occur, normalised, without duplicates. There is at least one. The words of `phrases` are
    /// among them.
    pub must: Vec<String>,
    /// The words that must not occur, normalised, without duplicates.
    pub without: Vec<String>,
    /// The phrases that must occur, without duplicates.
    pub phrases: Vec<Phrase>,
    /// The phrases that must not occur, without duplicates.
    pub without_phrases: Vec<Phrase>,
}

impl Clause {
    /// True if the lists of words do not suffice to tell which documents fit.
    pub fn has_phrases(&self) -> bool {
        !self.phrases.is_empty() || !self.without_phrases.is_empty()
    }
}
