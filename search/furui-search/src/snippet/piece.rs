use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

/// The maximum distance, in characters, at which a word boundary is searched to begin or end an excerpt.
const SLACK: usize = 32;
/// The fraction of a snippet's unmarked characters that precede its first mark is one divided by this number.
const BEFORE: usize = 3;

/// The byte range of an excerpt with at most `most` characters around the byte range `found`. If `found` is `None`, the
/// excerpt is the beginning of the text.
pub(super) fn piece(text: &str, found: Option<Range<usize>>, most: usize) -> Range<usize> {
    let Some(found) = found else { return 0..end_of_word(text, 0, 0, forward(text, 0, most)) };
    let spare = most.saturating_sub(text[found.clone()].chars().count());
    let after = text[found.end..].chars().take(spare).count();
    let start = back(text, found.start, (spare / BEFORE).max(spare - after));
    let start = start_of_word(text, start, found.start);
    let end = forward(text, start, most);
    start..if end > found.end { end_of_word(text, start, found.end, end) } else { end }
}

/// The byte offset `chars` characters before the offset `at`, or the beginning of the text.
fn back(text: &str, at: usize, chars: usize) -> usize {
    match chars {
        0 => at,
        _ => text[..at].char_indices().rev().nth(chars - 1).map_or(0, |(at, _)| at),
    }
}

/// The byte offset `chars` characters after the offset `at`, or the end of the text.
fn forward(text: &str, at: usize, chars: usize) -> usize {
    text[at..].char_indices().nth(chars).map_or(text.len(), |(after, _)| at + after)
}

/// The byte offset at or after `at` where the first word begins, but not beyond `last`. If no word begins nearby,
/// returns `last` if that is nearby, and otherwise `at`.
fn start_of_word(text: &str, at: usize, last: usize) -> usize {
    if at == 0 {
        return 0;
    }
    let (from, to) = (back(text, at, SLACK), forward(text, at, SLACK));
    let words = text[from..to].split_word_bound_indices().map(|(start, word)| (from + start, word));
    let mut starts = words.filter(|(start, word)| *start >= at && !word.trim().is_empty()).map(|(start, _)| start);
    starts.next().map_or(if to < last { at } else { last }, |start| start.min(last))
}

/// The byte offset at or before `at` where the last word ends, but not before `least`. If no word ends nearby, returns
/// `at`.
fn end_of_word(text: &str, start: usize, least: usize, at: usize) -> usize {
    if at == text.len() {
        return at;
    }
    let (from, to) = (back(text, at, SLACK).max(least), forward(text, at, SLACK));
    let ends = text[from..to].split_word_bound_indices().map(|(end, _)| from + end);
    let end = ends.take_while(|&end| end <= at).last().unwrap_or(from);
    if end > from || from == least && least > start { end } else { at }
}
