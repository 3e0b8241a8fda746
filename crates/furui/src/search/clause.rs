/// A conjunction: the documents in which all of `must` and none of `without` occur. A query asks for those of any of its
/// clauses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Clause {
    /// Words that must occur, normalised, each once; at least one.
    pub must: Vec<String>,
    /// Words that must not, normalised, each once.
    pub without: Vec<String>,
}
