use std::collections::HashSet;

use furui::search::{Query, words};

use crate::http::Piece;

/// How many words a snippet has, and how many of them stand before the first that was searched for.
const WORDS: usize = 36;
const BEFORE: usize = 8;
/// How many characters it has at most: text without spaces is one long word.
const CHARACTERS: usize = 400;

/// The part of a text around the first of the query's words, with all of them marked.
pub(super) fn snippet(text: &str, query: &Query) -> Vec<Piece> {
    let wanted: HashSet<&str> = query.clauses().iter().flat_map(|clause| &clause.must).map(String::as_str).collect();
    let is_match = |word: &str| words(word).any(|word| wanted.contains(&*word));
    let all: Vec<&str> = text.split_whitespace().collect();
    let first = all.iter().position(|word| is_match(word)).unwrap_or(0).saturating_sub(BEFORE);
    let mut pieces: Vec<Piece> = Vec::new();
    let mut left = CHARACTERS;
    let plain = |text: &str| Piece { text: text.to_owned(), is_match: false };
    if first > 0 {
        pieces.push(plain("… "));
    }
    for word in all.iter().skip(first).take(WORDS) {
        let shown: String = word.chars().take(left).collect();
        left -= shown.chars().count();
        let is_match = is_match(word);
        pieces.push(Piece { text: shown, is_match });
        pieces.push(plain(" "));
    }
    if first + WORDS < all.len() || left == 0 {
        pieces.push(plain("…"));
    }
    pieces
}
