use thiserror::Error;

use crate::limits;

/// The reason that a query is invalid, and its position in the text.
///
/// ```
/// use furui_search::{Query, QueryFault};
///
/// let error = Query::parse("篩 OR").unwrap_err();
/// assert_eq!((error.fault, error.at, error.character), (QueryFault::OneSided("OR"), 4, 3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{}{fault}", place(.fault, .character))]
pub struct QueryError {
    /// The fault: what is wrong with the query.
    pub fault: QueryFault,
    /// The byte offset, in the text of the query, at which the fault is.
    pub at: usize,
    /// The position of the fault in characters, from 1 on.
    pub character: usize,
}

/// A fault of a query.
///
/// ```
/// use furui_search::{Query, QueryFault};
///
/// for (text, fault) in [("", QueryFault::Empty), ("-coffee", QueryFault::OnlyWithout), ("(a", QueryFault::NotClosed)] {
///     assert_eq!(Query::parse(text).unwrap_err().fault, fault);
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum QueryFault {
    /// The query has no words.
    #[error("the query has no words; write some letters or digits to search for")]
    Empty,
    /// A part of the query only excludes words.
    #[error(
        "this only excludes words: on each side of an OR, write at least one word that the documents must hold, as in: \
         word -other"
    )]
    OnlyWithout,
    /// A word is required and excluded.
    #[error("no document can hold a word and not hold it; leave one of the two out of the query")]
    Contradiction,
    /// A `(` is never closed.
    #[error("this \"(\" is never closed; add a \")\", or leave it out")]
    NotClosed,
    /// A `)` was never opened.
    #[error("this \")\" was never opened; add a \"(\" before, or leave it out")]
    NotOpened,
    /// Parentheses have nothing between them.
    #[error("there is no word in these parentheses; write one, or leave them out")]
    EmptyGroup,
    /// This operator, OR or AND, has no words on one side.
    #[error(
        "{name} needs words on both sides, as in: this {name} that; to search for the word, write {}",
        .0.to_lowercase(),
        name = .0
    )]
    OneSided(&'static str),
    /// `NOT`, or `-`, is not followed by a word.
    #[error("NOT needs a word after it, as in: word NOT other; to search for the word, write not")]
    NothingExcluded,
    /// The query is longer than [`limits::QUERY_BYTES`].
    #[error("the query is longer than {} bytes; write fewer words", limits::QUERY_BYTES)]
    TooLong,
    /// The query has more than [`limits::WORDS`] words.
    #[error("more than {} words; write fewer", limits::WORDS)]
    TooManyWords,
    /// The query has more than [`limits::CLAUSES`] clauses.
    #[error("the query expands to more than {} searches; use fewer ORs, or exclude fewer words", limits::CLAUSES)]
    TooManyClauses,
    /// Parentheses are nested deeper than [`limits::NESTING`].
    #[error("parentheses more than {} deep; use fewer", limits::NESTING)]
    TooDeep,
    /// A word is longer than [`limits::WORD_BYTES`].
    #[error("this word has more than {} bytes; write a shorter one, or only its parts", limits::WORD_BYTES)]
    TooLongWord,
    /// A word ends with a star.
    #[error("there is no search for beginnings of words; leave out the star, or write the whole word")]
    Prefix,
    /// A quotation mark is never closed.
    #[error("this quotation mark is never closed; add one after the phrase, or leave it out")]
    QuoteNotClosed,
    /// Quotation marks have no word between them.
    #[error("there is no word between these quotation marks; write one, or leave them out")]
    EmptyPhrase,
    /// `site:` is not followed by a host.
    #[error("site: needs a host right after it, without a space, as in site:example.org")]
    NoHost,
    /// The text after `site:` is not a host.
    #[error(
        "the text after site: is not a host; write the name of one, as in site:example.org, which also finds the hosts \
         below it"
    )]
    BadHost,
    /// The text after `site:` contains more than a host.
    #[error(
        "site: takes only a host; leave out what comes after the host, as in site:example.org, and write words of the \
         page beside it"
    )]
    SiteWithPath,
}

pub(super) fn fault(fault: QueryFault, text: &str, at: usize) -> QueryError {
    QueryError { fault, at, character: text[..at].chars().count() + 1 }
}

/// Formats the position of the fault in the text; empty if the fault has no position.
fn place(fault: &QueryFault, character: &usize) -> String {
    use QueryFault::{Contradiction, Empty, TooLong, TooManyClauses};
    match fault {
        Empty | Contradiction | TooLong | TooManyClauses => String::new(),
        _ => format!("at character {character}: "),
    }
}
