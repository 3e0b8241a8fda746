use super::Phrase;

/// A conjunction: the documents in which all of `must` and none of `without` occur, and of the phrases likewise. A query
/// asks for those of any of its clauses.
///
/// Lists of words know nothing of phrases: a search by words finds all documents that fit, and others, which are told by
/// their text ([`Fit`](super::Fit)).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Clause {
    /// Words that must occur, normalised, each once; at least one. Those of the phrases are among them.
    pub must: Vec<String>,
    /// Words that must not, normalised, each once.
    pub without: Vec<String>,
    /// Phrases that must occur, each once.
    pub phrases: Vec<Phrase>,
    /// Phrases that must not, each once.
    pub without_phrases: Vec<Phrase>,
}

impl Clause {
    /// Whether it takes more than lists of words to tell which documents fit.
    pub fn has_phrases(&self) -> bool {
        !self.phrases.is_empty() || !self.without_phrases.is_empty()
    }
}
