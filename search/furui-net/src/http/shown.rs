use furui::format::Printable;
use unicode_normalization::char::is_combining_mark;

/// The maximum number of characters of a title that are shown. Chosen: two lines of a page.
pub const TITLE: usize = 140;
/// The maximum number of characters of a snippet that are shown. Honest nodes send at most two thirds of it.
pub const SNIPPET: usize = 300;
/// The maximum number of combining marks on one character that are shown. Written languages have at most four.
const COMBINING: usize = 4;

/// A text of strangers as people see it: without control and invisible characters, floods of combining marks and long
/// runs of space, and cut to a length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The cleaned text. If it was cut, it ends with an ellipsis (…).
    pub text: String,
    /// The marked ranges in the text: the byte offsets of their starts and ends (exclusive), in order.
    pub marks: Vec<[usize; 2]>,
}

impl Shown {
    /// Cleans a text with these marked ranges, and cuts it after `most` characters. Invalid ranges are left out.
    pub fn new(text: &str, marks: &[[usize; 2]], most: usize) -> Self {
        let mut shown = String::new();
        // For each byte of the text, the length of what is shown before it.
        let mut places = Vec::with_capacity(text.len() + 1);
        let (mut count, mut combining, mut is_cut) = (0, 0, false);
        let mut characters = text.char_indices().peekable();
        while let Some((_, character)) = characters.next() {
            let next = characters.peek().map(|(_, next)| *next);
            let before = shown.chars().next_back();
            places.resize(places.len() + character.len_utf8(), shown.len());
            combining = if is_combining_mark(character) { combining + 1 } else { 0 };
            let space = character.is_whitespace() || character.is_control();
            match character {
                _ if space && before.is_none_or(|before| before == ' ') => continue,
                _ if space => shown.push(' '),
                _ if combining > COMBINING || is_invisible(before, character, next) => continue,
                _ => shown.push(character),
            }
            count += 1;
            if count == most && next.is_some() {
                is_cut = true;
                break;
            }
        }
        places.resize(text.len() + 1, shown.len());
        if is_cut {
            shown.push('…');
        }
        let mut done = 0;
        let moved = marks.iter().filter_map(|&[start, end]| {
            let is_valid = start < end && text.is_char_boundary(start) && text.is_char_boundary(end);
            let [start, end] = is_valid.then(|| [places[start], places[end]])?;
            let follows = start >= done && start < end;
            done = if follows { end } else { done };
            follows.then_some([start, end])
        });
        let marks = moved.collect();
        Self { text: shown, marks }
    }
}

/// True if a character leaves no trace, or changes the direction of the text around it, and so can hide what a text
/// says. Joiners in scripts that are written with them, and the selectors of emoji, are kept.
fn is_invisible(before: Option<char>, character: char, after: Option<char>) -> bool {
    let joins = |neighbour: Option<char>| neighbour.is_some_and(|neighbour| neighbour >= '\u{590}');
    match character {
        '\u{200c}' | '\u{200d}' => !joins(before) || !joins(after),
        '\u{fe0e}' | '\u{fe0f}' => {
            !before.is_some_and(|before| before >= '\u{2000}' || before.is_ascii_digit() || "#*©®".contains(before))
        }
        '\u{ad}'
        | '\u{34f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'
        | '\u{2060}'..='\u{206f}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0d}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fff8}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        other => !Printable(other).is_shown(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> String {
        Shown::new(text, &[], 100).text
    }

    #[test]
    fn what_cannot_be_seen_is_not_there() {
        assert_eq!(text("pay\u{200b}p\u{ad}a\u{2060}l\u{feff}\u{202e}\u{e0041}"), "paypal");
        assert_eq!(text(" a\u{1b}[31m\n\t b\u{3000}\u{3164}c "), "a [31m b c ");
        assert_eq!(text(&format!("e{} x", "\u{301}".repeat(50))), format!("e{} x", "\u{301}".repeat(4)));
        // Texts that need such characters keep them.
        for kept in
            ["می\u{200c}خواهم", "👩\u{200d}💻", "❤\u{fe0f}", "1\u{fe0f}\u{20e3}", "ที่นี่", "बच्चों", "Straße é e\u{301}"]
        {
            assert_eq!(text(kept), kept);
        }
        assert_eq!(text("a\u{200d}b\u{fe0f}"), "ab");
    }

    #[test]
    fn marks_stay_on_their_words() {
        let shown = Shown::new("\u{200b}a  blo\u{ad}om filter", &[[6, 13], [14, 20]], 100);
        assert_eq!(shown.text, "a bloom filter");
        let marked: Vec<_> = shown.marks.iter().map(|&[start, end]| &shown.text[start..end]).collect();
        assert_eq!(marked, ["bloom", "filter"]);
        // Others may send any ranges.
        let ranges = [[3, 2], [1, 2], [0, 900], [2, 4], [2, 4], [0, 1], [900, 901], [usize::MAX, 0]];
        assert_eq!(Shown::new("篩 ab", &ranges, 100).marks, [[0; 2]; 0]);
        assert_eq!(Shown::new("ab cd", &[[3, 5], [0, 2]], 100).marks, [[3, 5]]);
    }

    #[test]
    fn a_long_text_is_cut_with_its_marks() {
        let shown = Shown::new(&"ab ".repeat(1000), &[[3, 5], [9, 11], [2997, 2999]], 10);
        assert_eq!((shown.text.as_str(), shown.marks), ("ab ab ab a…", vec![[3, 5], [9, 10]]));
        assert_eq!(Shown::new("abc", &[], 3).text, "abc");
        assert_eq!(Shown::new("abcd", &[], 3).text, "abc…");
    }
}
