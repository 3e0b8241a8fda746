use std::collections::HashSet;
use std::ops::Range;

use furui::search::{Query, Record, words};

/// How many words a snippet has, and how many of them stand before the first that was searched for.
const WORDS: usize = 36;
const BEFORE: usize = 8;
/// How many characters of one it has at most: text without spaces is one long word.
const CHARACTERS: usize = 200;

/// What is shown of a document that was found: its title and a piece of its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// Where the title has what was asked for: bytes of it, in order.
    pub title_marks: Vec<Range<usize>>,
    /// A piece of the text.
    pub text: String,
    /// Where this piece has what was asked for.
    pub marks: Vec<Range<usize>>,
    /// Whether the text has more before it.
    pub is_cut_before: bool,
    /// Whether the text has more after it.
    pub is_cut_after: bool,
}

/// The part of a record's text around the first of the query's words, with all of them marked.
pub(super) fn snippet(record: &Record, query: &Query) -> Snippet {
    let wanted: HashSet<&str> = query.clauses().iter().flat_map(|clause| &clause.must).map(String::as_str).collect();
    let is_match = |word: &str| words(word).any(|word| wanted.contains(&*word));
    let all: Vec<&str> = record.text.split_whitespace().collect();
    let first = all.iter().position(|word| is_match(word)).unwrap_or(0).saturating_sub(BEFORE);
    let mut snippet =
        Snippet { is_cut_before: first > 0, is_cut_after: first + WORDS < all.len(), ..Snippet::default() };
    for word in all.iter().skip(first).take(WORDS) {
        let start = snippet.text.len();
        snippet.text.extend(word.chars().take(CHARACTERS));
        if is_match(word) {
            snippet.marks.push(start..snippet.text.len());
        }
        snippet.text.push(' ');
    }
    snippet
}
