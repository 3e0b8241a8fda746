/// A conjunction: documents in which every word of `must` and no word of `without` occurs.
///
/// A query is a union of these: OR is what lies between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clause {
    /// Words that must occur, normalised; at least one, none twice.
    pub must: Vec<String>,
    /// Words that must not.
    pub without: Vec<String>,
}
