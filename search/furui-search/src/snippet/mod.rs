//! Makes the excerpts of documents that are shown with results: see [`Snippet`].

mod piece;

use std::ops::Range;

use piece::piece;

/// The maximum number of marks (words of the query found in a text) that are considered, from the beginning of a text.
/// The best excerpt by these marks is good enough.
const MARKS: usize = 1 << 14;

/// The part of a document that is shown with a result: its title and an excerpt of its text, with the words of the
/// query marked.
///
/// ```text
///  new "york times" -tea        … read the [new] issue of the [York Times], while in York …
/// ```
///
/// ```
/// use furui_search::{PublisherKey, Query, Record, Showings};
///
/// let query = Query::parse("seen before")?;
/// let record = Record {
///     url: "https://example.org/".into(), title: "Seen?".into(), text: "What was seen before.".into(),
///     publisher: PublisherKey::new([7; 32]),
/// };
/// let snippet = Showings::new(query.clauses()).and_then(|showings| showings.of(&record)).expect("it fits").snippet;
/// assert_eq!(snippet.text, "What was seen before.");
/// assert_eq!(snippet.marks.iter().map(|mark| &snippet.text[mark.clone()]).collect::<Vec<_>>(), ["seen", "before"]);
/// # Ok::<(), furui_search::QueryError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The byte ranges of the marks in the title, in order. No two of them overlap or touch.
    pub title_marks: Vec<Range<usize>>,
    /// An excerpt of the text. Each run of white space and control characters is one space, and an ellipsis shows where
    /// the text continues.
    pub text: String,
    /// The byte ranges of the marks in [`text`](Self::text), as in `title_marks`.
    pub marks: Vec<Range<usize>>,
}

impl Snippet {
    /// True if the text contains this excerpt.
    pub fn is_of(&self, text: &str) -> bool {
        let words: Vec<&str> = text.split(is_blank).filter(|word| !word.is_empty()).collect();
        let text = words.join(" ");
        let begun = self.text.strip_prefix('…').unwrap_or(&self.text);
        // The text itself may have an ellipsis at the beginning or the end of the excerpt.
        let pieces = [&self.text, begun].map(|piece| [piece, piece.strip_suffix('…').unwrap_or(piece)]);
        pieces.as_flattened().iter().any(|piece| text.contains(piece))
    }
}

/// A word or phrase of the query found in a text: its index among those of the query, and its byte range.
struct Mark {
    of: usize,
    span: Range<usize>,
}

/// The words and phrases of a query that were found in a text, in the order of their first bytes.
#[derive(Default)]
pub(super) struct Marks(Vec<Mark>);

impl Marks {
    /// Adds a word or phrase with the index `of`, found at the byte range `span`, unless the maximum number is reached.
    /// They must be added in the order of their ends.
    pub(super) fn add(&mut self, of: usize, span: Range<usize>) {
        if self.0.len() < MARKS {
            self.0.push(Mark { of, span });
        }
    }

    fn sort(&mut self) {
        self.0.sort_by_key(|mark| (mark.span.start, mark.span.end));
    }
}

/// Makes the snippet of a document with at most `most` characters of its text, not counting ellipses. `title_marks` and
/// `marks` are those of the title and of the text; their indices are less than `kinds`.
pub(super) fn snippet(text: &str, mut title_marks: Marks, mut marks: Marks, kinds: usize, most: usize) -> Snippet {
    title_marks.sort();
    marks.sort();
    let piece = piece(text, best(text, &marks.0, kinds, most), most);
    shown(text, piece, &joined(&marks.0), joined(&title_marks.0))
}

/// The byte range from the first to the last mark of the best excerpt; `None` if there are no marks.
fn best(text: &str, marks: &[Mark], kinds: usize, most: usize) -> Option<Range<usize>> {
    // Overlapping marks, such as those of character pairs, are treated as one group.
    let groups = joined(marks);
    let group = |mark: &Mark| &groups[groups.partition_point(|group| group.end <= mark.span.start)];
    let first_chars = chars_before(text, marks.iter().map(|mark| group(mark).start));
    let last_chars = chars_before(text, marks.iter().map(|mark| group(mark).end));
    let mut counts = vec![0_u32; kinds];
    let (mut best, mut found) = ((0, 0), groups.first().cloned());
    let (mut different, mut next) = (0, 0);
    for first in 0..marks.len() {
        next = next.max(first);
        while next < marks.len() && last_chars[next] - first_chars[first] <= most {
            let count = &mut counts[marks[next].of];
            different += usize::from(*count == 0);
            *count += 1;
            next += 1;
        }
        if next == first {
            // This group of overlapping marks is longer than an excerpt.
            continue;
        }
        if (different, next - first) > best {
            best = (different, next - first);
            found = Some(group(&marks[first]).start..group(&marks[next - 1]).end);
        }
        let count = &mut counts[marks[first].of];
        *count -= 1;
        different -= usize::from(*count == 0);
    }
    found
}

/// The number of characters before each of the ascending byte offsets in `places`.
fn chars_before(text: &str, places: impl Iterator<Item = usize>) -> Vec<usize> {
    let (mut at, mut chars) = (0, 0);
    let count = |place| {
        chars += text[at..place].chars().count();
        at = place;
        chars
    };
    places.map(count).collect()
}

/// The byte ranges of these marks, joined where they overlap or touch.
fn joined(marks: &[Mark]) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for Mark { span, .. } in marks {
        match joined.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => joined.push(span.clone()),
        }
    }
    joined
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}

/// Makes the snippet for a byte range of a text, with its marks.
fn shown(text: &str, piece: Range<usize>, marks: &[Range<usize>], title_marks: Vec<Range<usize>>) -> Snippet {
    let ellipsis = |cut: &str| if cut.chars().all(is_blank) { "" } else { "…" };
    let mut snippet = Snippet { title_marks, text: ellipsis(&text[..piece.start]).to_owned(), marks: Vec::new() };
    let empty = snippet.text.len();
    let first = marks.partition_point(|mark| mark.end <= piece.start);
    let mut marks = marks[first..].iter().peekable();
    let mut begun = None;
    let mut was_blank = false;
    let shown = &mut snippet.text;
    for (at, c) in text[piece.clone()].char_indices().map(|(at, c)| (piece.start + at, c)) {
        if marks.next_if(|mark| mark.end <= at).is_some()
            && let Some(start) = begun.take()
        {
            snippet.marks.push(start..shown.len());
        }
        if is_blank(c) {
            was_blank = true;
            continue;
        }
        if std::mem::take(&mut was_blank) && shown.len() > empty {
            shown.push(' ');
        }
        if begun.is_none() && marks.peek().is_some_and(|mark| mark.start <= at) {
            begun = Some(shown.len());
        }
        shown.push(c);
    }
    if let Some(start) = begun {
        snippet.marks.push(start..shown.len());
    }
    shown.push_str(ellipsis(&text[piece.end..]));
    snippet
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{PublisherKey, Query, Record, Showings};
    use super::*;

    /// The title and the excerpt with brackets around the marks.
    fn snippet(query: &str, title: &str, text: &str, most: usize) -> (String, String) {
        let query = Query::parse(query).unwrap();
        let record =
            Record { url: "u:1".into(), title: title.into(), text: text.into(), publisher: PublisherKey::new([7; 32]) };
        let snippet = Showings::new(query.clauses()).unwrap().snippet(&record, most);
        (marked(title, &snippet.title_marks), marked(&snippet.text, &snippet.marks))
    }

    fn marked(text: &str, marks: &[Range<usize>]) -> String {
        let mut marked = text.to_owned();
        for mark in marks.iter().rev() {
            marked.insert(mark.end, ']');
            marked.insert(mark.start, '[');
        }
        marked
    }

    #[test]
    fn words_and_phrases_are_marked_in_the_best_piece() {
        let text = "The first words. Then Bloom filters come, and later on there are the sets of Bloom: filters, sets, and \
                    what else there is in the world of sets.";
        for (query, most, expected) in [
            ("bloom", 20, "…Then [Bloom] filters…"),
            ("bloom sets", 30, "…[sets] of [Bloom]: filters, [sets],…"),
            ("\"bloom filters\"", 30, "…Then [Bloom filters] come, and…"),
            ("\"first words\" -x", 30, "The [first words]. Then Bloom…"),
            (
                "\"filters, sets\" bloom",
                200,
                &text.replace("Bloom", "[Bloom]").replace("filters, sets", "[filters, sets]"),
            ),
            ("world", 14, "…[world] of sets."),
            ("world", 3, "…[wor]…"),
            ("world", 0, "……"),
            ("nothing OR site:a.example", 16, "The first words.…"),
            ("nothing", 12, "The first…"),
        ] {
            assert_eq!(snippet(query, "", text, most).1, expected, "{query} in {most}");
        }
        assert_eq!(snippet("bloom set", "Bloom: SET, set", "", 9), ("[Bloom]: [SET], [set]".into(), String::new()));
    }

    #[test]
    fn japanese_text_is_marked_by_characters() {
        let text = "吾輩は猫である。名前はまだ無い。ﾃﾞｰﾀﾍﾞｰｽを検索する東京タワーの夜景と、タワーの東京。";
        for (query, most, expected) in [
            ("東京タワー", 12, "…する[東京タワー]の夜景と、…"),
            ("「東京タワー」", 9, "…る[東京タワー]の夜景…"),
            ("データベース", 14, "…い。[ﾃﾞｰﾀﾍﾞｰｽ]を検索す…"),
            ("検索 猫", 40, "吾輩は[猫]である。名前はまだ無い。ﾃﾞｰﾀﾍﾞｰｽを[検索]する東京タワーの夜景と、…"),
        ] {
            assert_eq!(snippet(query, "", text, most).1, expected, "{query} in {most}");
        }
    }

    #[test]
    fn white_space_and_control_characters_are_one_space() {
        let text = "\n\n a\tNew\r\n  York \u{1b}[2J  \0b \n";
        assert_eq!(snippet("\"new york\"", "", text, 99).1, "a [New York] [2J b");
    }

    #[test]
    fn long_words_and_many_marks_are_cut() {
        let long = "x".repeat(500);
        assert_eq!(snippet("b", "", &format!("{long} b {long}"), 20).1, "…[b]…");
        assert_eq!(snippet("b", "", &long, 10).1, format!("{}…", "x".repeat(10)));
        let many = "a ".repeat(MARKS) + "b";
        assert_eq!(snippet("a b", "", &many, 7).1, "[a] [a] [a] [a]…");
    }

    proptest! {
        #[test]
        fn any_text_has_a_snippet(
            query in "[ab東京ー]{1,3}( \"?[ab東京ー]{1,4}( [ab]\")?){0,2}",
            text in "([ab東京ーﾞ\u{e33}\u{301}\u{200d}👍ß \n,-]|\\PC){0,80}",
            most in 0_usize..40,
        ) {
            let Ok(query) = Query::parse(&query) else { return Ok(()) };
            let record = Record { url: "u:1".into(), title: text.clone(), text: text.clone(), publisher: PublisherKey::new([7; 32]) };
            let snippet = Showings::new(query.clauses()).unwrap().snippet(&record, most);
            prop_assert!(snippet.text.chars().count() <= most + 2);
            prop_assert!(!snippet.text.chars().any(|c| c.is_control()));
            for (text, marks) in [(&text, &snippet.title_marks), (&snippet.text, &snippet.marks)] {
                prop_assert!(marks.is_sorted_by(|a, b| a.end < b.start));
                prop_assert!(marks.iter().all(|mark| text.get(mark.clone()).is_some_and(|marked| !marked.is_empty())));
            }
            let all = Showings::new(query.clauses()).unwrap().snippet(&record, usize::MAX);
            let spaced: Vec<&str> = text.split(is_blank).filter(|part| !part.is_empty()).collect();
            prop_assert_eq!(&all.text, &spaced.join(" "));
            let other = Snippet { text: "another text".into(), ..snippet.clone() };
            prop_assert!(snippet.is_of(&text) && !other.is_of(&text));
            // If the record matches, at least one mark exists.
            let is_marked = !all.marks.is_empty();
            let fits = super::super::Fit::new(query.clauses()).unwrap().fits(&record);
            prop_assert!(is_marked || !fits);
            // If the whole text has a mark, the snippet has one too, unless its end cuts the mark off.
            prop_assert!(most < 20 || is_marked != snippet.marks.is_empty());
        }
    }
}
