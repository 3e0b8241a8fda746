use std::fmt;

use crate::limits;

/// Why a query cannot be asked, and where in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryError {
    /// What is wrong.
    pub fault: QueryFault,
    /// Before which byte of the query.
    pub at: usize,
    /// The same in characters, from 1 on.
    pub character: usize,
}

/// What is wrong with a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryFault {
    /// It has no words.
    Empty,
    /// It says only what documents are not to hold.
    OnlyWithout,
    /// A word is asked for and excluded.
    Contradiction,
    /// A `(` without `)`.
    NotClosed,
    /// A `)` without `(`.
    NotOpened,
    /// `()`.
    EmptyGroup,
    /// OR or AND has no words on one side.
    OneSided(&'static str),
    /// NOT has no word after it.
    NothingExcluded,
    /// More than [`limits::QUERY_BYTES`] bytes.
    TooLong,
    /// More than [`limits::WORDS`] words.
    TooManyWords,
    /// More than [`limits::CLAUSES`] clauses.
    TooManyClauses,
    /// Parentheses more than [`limits::NESTING`] deep.
    TooDeep,
    /// A word of more than [`limits::WORD_BYTES`] bytes.
    TooLongWord,
    /// A quotation mark without another.
    QuoteNotClosed,
    /// Quotation marks without a word between them.
    EmptyPhrase,
    /// `site:` with nothing after it.
    NoHost,
    /// `site:` with something after it that is no host.
    BadHost,
    /// `site:` with a host and more.
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
                "this excludes words from nothing: on each side of an OR, write at least one word that the documents are \
                 to hold, as in: word -other",
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
            Self::TooLong => write!(f, "the query is longer than {} bytes; ask for fewer words", limits::QUERY_BYTES),
            Self::TooManyWords => write!(f, "here are more than {} words; ask for fewer", limits::WORDS),
            Self::TooManyClauses => {
                write!(f, "the query comes to more than {} searches; use OR, or exclude, less", limits::CLAUSES)
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
                "what comes after site: is no host; write the name of one, as in site:example.org, which finds those below \
                 it, too",
            ),
            Self::SiteWithPath => f.write_str(
                "site: knows only hosts; leave out what comes after the host, as in site:example.org, and write words of \
                 the page beside it",
            ),
        }
    }
}

impl std::error::Error for QueryError {}
