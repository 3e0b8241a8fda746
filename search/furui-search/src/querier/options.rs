use thiserror::Error;

use super::super::{Clause, Place, Wants, limits};

/// The options of a query.
///
/// ```
/// use furui_search::{Querier, Query, QueryOptions};
///
/// // The ten best documents, and a report of how they were found.
/// let options = QueryOptions { page: 10, limit: 10, explain: true, ..QueryOptions::new(1) };
/// Querier::new(Query::parse("bloom filter")?.clauses(), vec![], options)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct QueryOptions {
    /// The number of ids on a page, from 1 to [`limits::PAGE`].
    pub page: usize,
    /// The number of documents to find, those that rank best; at most [`limits::PAGE`].
    pub limit: u64,
    /// The place after which to continue an earlier query. With several conjunctions, only the best [`limits::PAGE`]
    /// documents can be reached.
    pub after: Option<Place>,
    /// The encoding in which nodes send each other sets of ids.
    pub wants: Wants,
    /// An unpredictable number that is different for each query. It is the key of the check bits of coded sets.
    pub salt: u64,
    /// The number of answers for each slice of a list that are requested at once and compared; at least one. Up to
    /// [`limits::REPLICAS`] answers come from different keepers of the list, which ask different keepers of the other
    /// words. Further answers come from the same keepers, which then ask other keepers of the other words; a query of
    /// one word has no further answers. If the answers differ, all possible ones are requested.
    pub hosts: usize,
    /// True if the nodes are known to be honest, as members of one network of friends: then one of them is believed,
    /// and another one is asked only if it is slow, or says that it has not been given everything. With this, [`hosts`]
    /// is one.
    ///
    /// [`hosts`]: Self::hosts
    pub trusting: bool,
    /// True if the report describes each request for a slice of a list.
    pub explain: bool,
}

impl QueryOptions {
    /// Returns the options for a query that ends after one page of 20 ids, with the coding that needs the fewest bits.
    /// `salt` is an unpredictable number that is different for each query.
    pub fn new(salt: u64) -> Self {
        Self {
            page: 20,
            limit: 20,
            after: None,
            wants: Wants::Best,
            salt,
            hosts: limits::HOSTS,
            trusting: false,
            explain: false,
        }
    }
}

/// The reason that a query is rejected before anything is sent.
///
/// ```
/// use furui_search::{Querier, Query, QueryOptions, QueryRefused};
///
/// let options = QueryOptions { page: 0, ..QueryOptions::new(1) };
/// let refused = Querier::new(Query::parse("filter")?.clauses(), vec![], options).unwrap_err();
/// assert_eq!(refused, QueryRefused::Page(0));
/// # Ok::<(), furui_search::QueryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum QueryRefused {
    /// The number of clauses, which is zero or above [`limits::CLAUSES`].
    #[error("query: {} clauses; a query has from 1 to {}", .0, limits::CLAUSES)]
    Clauses(usize),
    /// A clause has no required word.
    #[error("query: a clause without a word that must occur; add one")]
    OnlyWithout,
    /// The number of words of a clause, which is above [`limits::WORDS`].
    #[error("query: {} words in a clause; at most {} are allowed", .0, limits::WORDS)]
    Words(usize),
    /// The length of a word in bytes, which is zero or above [`limits::WORD_BYTES`].
    #[error("query: a word of {} bytes; a word has from 1 to {}", .0, limits::WORD_BYTES)]
    WordBytes(usize),
    /// The requested number of ids per page, which is zero or above [`limits::PAGE`].
    #[error("query: pages of {} ids; a page has from 1 to {}", .0, limits::PAGE)]
    Page(usize),
    /// The requested number of documents to find, which is above [`limits::PAGE`].
    #[error("query: the best {} documents; ask for the best {} at most, and then for the next", .0, limits::PAGE)]
    Best(u64),
}

pub(super) fn check(clauses: &[Clause], options: &QueryOptions) -> Result<(), QueryRefused> {
    if !(1..=limits::CLAUSES).contains(&clauses.len()) {
        return Err(QueryRefused::Clauses(clauses.len()));
    }
    for Clause { must, without, .. } in clauses {
        if must.is_empty() {
            return Err(QueryRefused::OnlyWithout);
        }
        if must.len() + without.len() > limits::WORDS {
            return Err(QueryRefused::Words(must.len() + without.len()));
        }
        let bad = must.iter().chain(without).find(|word| !(1..=limits::ASKED_BYTES).contains(&word.len()));
        if let Some(word) = bad {
            return Err(QueryRefused::WordBytes(word.len()));
        }
    }
    if !(1..=limits::PAGE).contains(&options.page) {
        return Err(QueryRefused::Page(options.page));
    }
    if options.limit > limits::PAGE as u64 {
        return Err(QueryRefused::Best(options.limit));
    }
    Ok(())
}
