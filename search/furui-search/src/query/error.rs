use std::fmt;

use crate::limits;

/// Why a query cannot be understood, and where in its text.
///
/// ```
/// use furui_search::{Query, QueryFault};
///
/// let error = Query::parse("篩 OR").unwrap_err();
/// assert_eq!((error.fault, error.at, error.character), (QueryFault::OneSided("OR"), 4, 3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryError {
    /// The fault.
    pub fault: QueryFault,
    /// The index of the byte at which the fault is.
    pub at: usize,
    /// The number of the character at which the fault is, from 1 on.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryFault {
    /// The query has no words.
    Empty,
    /// A part of the query only excludes words.
    OnlyWithout,
    /// A word is required and excluded.
    Contradiction,
    /// A `(` is never closed.
    NotClosed,
    /// A `)` was never opened.
    NotOpened,
    /// Parentheses have nothing between them.
    EmptyGroup,
    /// This operator, OR or AND, has no words on one side.
    OneSided(&'static str),
    /// NOT has no words after it.
    NothingExcluded,
    /// The query is longer than [`limits::QUERY_BYTES`].
    TooLong,
    /// The query has more than [`limits::WORDS`] words.
    TooManyWords,
    /// The query has more than [`limits::CLAUSES`] clauses.
    TooManyClauses,
    /// Parentheses are nested deeper than [`limits::NESTING`].
    TooDeep,
    /// A word is longer than [`limits::WORD_BYTES`].
    TooLongWord,
    /// A quotation mark is never closed.
    QuoteNotClosed,
    /// Quotation marks have no word between them.
    EmptyPhrase,
    /// `site:` has no host after it.
    NoHost,
    /// The text after `site:` is not a host.
    BadHost,
    /// The text after `site:` is more than a host.
    SiteWithPath,
}

pub(super) fn fault(fault: QueryFault, text: &str, at: usize) -> QueryError {
    QueryError { fault, at, character: text[..at].chars().count() + 1 }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use QueryFault::{Contradiction, Empty, TooLong, TooManyClauses};
        if !matches!(self.fault, Empty | Contradiction | TooLong | TooManyClauses) {
            write!(f, "at character {}: ", self.character)?;
        }
        self.fault.fmt(f)
    }
}

impl fmt::Display for QueryFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the query has no words; write some letters or digits to search for"),
            Self::OnlyWithout => f.write_str(
                "this only excludes words: on each side of an OR, write at least one word that the documents must \
                 hold, as in: word -other",
            ),
            Self::Contradiction => {
                f.write_str("no document can hold a word and not hold it; leave one of the two out of the query")
            }
            Self::NotClosed => f.write_str("this \"(\" is never closed; add a \")\", or leave it out"),
            Self::NotOpened => f.write_str("this \")\" was never opened; add a \"(\" before, or leave it out"),
            Self::EmptyGroup => f.write_str("there is no word in these parentheses; write one, or leave them out"),
            Self::OneSided(name) => write!(
                f,
                "{name} needs words on both sides, as in: this {name} that; to search for the word, write {}",
                name.to_lowercase()
            ),
            Self::NothingExcluded => {
                f.write_str("NOT needs a word after it, as in: word NOT other; to search for the word, write not")
            }
            Self::TooLong => write!(f, "the query is longer than {} bytes; write fewer words", limits::QUERY_BYTES),
            Self::TooManyWords => write!(f, "more than {} words; write fewer", limits::WORDS),
            Self::TooManyClauses => {
                write!(f, "the query expands to more than {} searches; use fewer ORs, or exclude fewer words", limits::CLAUSES)
            }
            Self::TooDeep => write!(f, "parentheses more than {} deep; use fewer", limits::NESTING),
            Self::TooLongWord => {
                write!(f, "this word has more than {} bytes; write a shorter one, or only its parts", limits::WORD_BYTES)
            }
            Self::QuoteNotClosed => {
                f.write_str("this quotation mark is never closed; add one after the phrase, or leave it out")
            }
            Self::EmptyPhrase => {
                f.write_str("there is no word between these quotation marks; write one, or leave them out")
            }
            Self::NoHost => f.write_str("site: needs a host right after it, without a space, as in site:example.org"),
            Self::BadHost => f.write_str(
                "the text after site: is not a host; write the name of one, as in site:example.org, which also finds the \
                 hosts below it",
            ),
            Self::SiteWithPath => f.write_str(
                "site: takes only a host; leave out what comes after the host, as in site:example.org, and write words of \
                 the page beside it",
            ),
        }
    }
}

impl std::error::Error for QueryError {}
