//! Finds the words of ASCII text, which are those that UAX #29 and [`words`](super::words) give, without their tables.

use std::ops::Range;

/// The byte ranges of the words in ASCII text: the longest runs of letters and digits, where a full stop between two
/// digits belongs to a word.
pub(super) struct AsciiWords<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> AsciiWords<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        debug_assert!(text.is_ascii());
        Self { text, at: 0 }
    }
}

impl Iterator for AsciiWords<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let text = self.text.as_bytes();
        let start = self.at + text[self.at..].iter().position(u8::is_ascii_alphanumeric)?;
        let mut end = start + 1;
        while let Some(byte) = text.get(end)
            && (byte.is_ascii_alphanumeric() || joins(&text[end - 1..]))
        {
            end += 1;
        }
        let word = named(self.text, start..end);
        self.at = word.end;
        Some(word)
    }
}

/// The byte range of the word with the marks that belong to a few names: `C++`, `g++`, `C#`, `F#` and `.NET`.
pub(super) fn named(text: &str, mut word: Range<usize>) -> Range<usize> {
    let (before, after) = (&text[..word.start], &text[word.end..]);
    match &text[word.clone()] {
        "c" | "C" | "g" if after.starts_with("++") => word.end += 2,
        "c" | "C" | "f" | "F" if after.starts_with('#') => word.end += 1,
        "net" | "Net" | "NET" if before.strip_suffix('.').is_some_and(|it| !it.ends_with(char::is_alphanumeric)) => {
            word.start -= 1;
        }
        _ => {}
    }
    word
}

/// True if the second of these bytes is a full stop between two digits.
fn joins(bytes: &[u8]) -> bool {
    matches!(bytes, [b'0'..=b'9', b'.', b'0'..=b'9', ..])
}

/// The number of words in ASCII text. The loops have no branches, so that they become vector instructions.
pub(super) fn count(text: &str) -> u32 {
    let text = text.as_bytes();
    let (next, second) = (text.get(1..).unwrap_or_default(), text.get(2..).unwrap_or_default());
    let begins = text.iter().zip(next);
    let begins = begins.map(|(a, b)| u32::from(!a.is_ascii_alphanumeric() & b.is_ascii_alphanumeric()));
    let joined = text.iter().zip(next).zip(second);
    let joined = joined.map(|((a, b), c)| u32::from(a.is_ascii_digit() & (*b == b'.') & c.is_ascii_digit()));
    u32::from(text.first().is_some_and(u8::is_ascii_alphanumeric)) + begins.sum::<u32>() - joined.sum::<u32>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::words;

    #[test]
    fn a_few_names_have_marks() {
        for (text, expected) in [
            (
                "C++ c# F# .NET g++ i++ (.net) a.net c++11 ..net C# 7",
                "c++ c# f# .net g++ i .net a net c++ 11 .net c# 7",
            ),
            ("cc++ c+ c ++", "cc c c"),
        ] {
            let found = |text: &str| words(text).map(|word| word.into_owned()).collect::<Vec<_>>().join(" ");
            assert_eq!(found(text), expected);
            assert_eq!(found(&text.replace(' ', "篩 ")).replace(" 篩", ""), expected);
        }
    }

    #[test]
    fn every_short_text_has_the_words_of_unicode() {
        // A character at the end, of a script that is far from ASCII, makes the text take the way of all languages.
        let mut texts = vec![String::new()];
        for _ in 0..6 {
            texts = texts.iter().flat_map(|text| "aZ19.,'_ -".chars().map(move |c| format!("{text}{c}"))).collect();
            if texts.len() > 100_000 {
                texts = texts.into_iter().step_by(3).collect();
            }
            for text in &texts {
                let expected: Vec<String> = words(&format!("{text} ا")).map(|word| word.into_owned()).collect();
                let found: Vec<String> = AsciiWords::new(text).map(|word| text[word].to_ascii_lowercase()).collect();
                assert_eq!(found[..], expected[..expected.len() - 1], "{text:?}");
                assert_eq!(count(text) as usize, found.len(), "{text:?}");
            }
        }
    }
}
