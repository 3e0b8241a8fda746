use std::collections::HashSet;

use furui::search::{Query, Record, words};

/// How many words a snippet has, and how many of them stand before the first that was searched for.
const WORDS: usize = 36;
const BEFORE: usize = 8;
/// How many characters of one it has at most: text without spaces is one long word.
const CHARACTERS: usize = 200;

/// The part of a record's text around the first of the query's words, and where they stand in it.
pub(super) fn snippet(record: &Record, query: &Query) -> (String, Vec<[usize; 2]>) {
    let wanted: HashSet<&str> = query.clauses().iter().flat_map(|clause| &clause.must).map(String::as_str).collect();
    let is_match = |word: &str| words(word).any(|word| wanted.contains(&*word));
    let all: Vec<&str> = record.text.split_whitespace().collect();
    let first = all.iter().position(|word| is_match(word)).unwrap_or(0).saturating_sub(BEFORE);
    let mut snippet = String::from(if first > 0 { "… " } else { "" });
    let mut marks = Vec::new();
    for word in all.iter().skip(first).take(WORDS) {
        let start = snippet.len();
        snippet.extend(word.chars().take(CHARACTERS));
        if is_match(word) {
            marks.push([start, snippet.len()]);
        }
        snippet.push(' ');
    }
    snippet += if first + WORDS < all.len() { "…" } else { "" };
    (snippet, marks)
}
