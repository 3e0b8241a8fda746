use unicode_segmentation::UnicodeSegmentation;

/// Cuts text at the word boundaries of UAX #29. Gives the pieces that have a letter or digit, each with its byte offset,
/// as [`UnicodeSegmentation::unicode_word_indices`] does. A word of ASCII letters and digits between characters that
/// always separate words, as most words of most texts are, is found without the tables of Unicode.
pub(super) struct Pieces<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Pieces<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<(usize, &'a str)> {
        let bytes = &self.text.as_bytes()[self.at..];
        let mut passed = bytes.iter().take_while(|&&byte| separates(byte)).count();
        if bytes.get(passed).is_some_and(|byte| !byte.is_ascii()) {
            // It may be a mark, which belongs to the character before it, and so do the spaces before that.
            let spaces = bytes[..passed].iter().rev().take_while(|&&byte| byte == b' ').count();
            passed -= spaces.max(1).min(passed);
        }
        self.at += passed;
        let rest = &self.text[self.at..];
        let length = ascii_length(rest);
        let is_word = length > 0 && rest.as_bytes().get(length).is_none_or(|&byte| separates(byte));
        let (start, piece) = if is_word { (0, &rest[..length]) } else { rest.unicode_word_indices().next()? };
        let start = self.at + start;
        self.at = start + piece.len();
        Some((start, piece))
    }
}

/// The number of ASCII letters and digits at the beginning of the text.
pub(super) fn ascii_length(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_alphanumeric).count()
}

/// True for ASCII characters that stand in no word, whatever their neighbours. By UAX #29, `'` `.` `,` `:` `;` and `_`
/// may stand in one, and `\r` belongs to the next character.
fn separates(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t'
            | b'\n'
            | b'('
            | b')'
            | b'['
            | b']'
            | b'{'
            | b'}'
            | b'<'
            | b'>'
            | b'"'
            | b'-'
            | b'/'
            | b'='
            | b'!'
            | b'?'
            | b'*'
            | b'`'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_are_those_of_unicode() {
        const PARTS: [&str; 33] = [
            "",
            "a",
            "Zx",
            "7",
            " ",
            "  ",
            "\n",
            "\r",
            "\r\n",
            "\t",
            ".",
            ",",
            ":",
            ";",
            "'",
            "\"",
            "_",
            "-",
            "(",
            "*",
            "\u{301}",
            "\u{93f}",
            "\u{200d}",
            "\u{ad}",
            "ש",
            "é",
            "東",
            "カ",
            "\u{1f1e6}",
            "👩",
            "\u{2018}",
            "\u{a0}",
            "ก",
        ];
        // All texts of at most four parts.
        for number in 0..PARTS.len().pow(4) {
            let parts = (0..4).map(|at| PARTS[number / PARTS.len().pow(at) % PARTS.len()]);
            let text: String = parts.collect();
            assert!(Pieces::new(&text).eq(text.unicode_word_indices()), "{text:?}");
        }
        for byte in (0..128_u8).map(char::from) {
            for text in [
                format!("a{byte}b"),
                format!("{byte}1{byte}{byte}b{byte}"),
                format!("1{byte}2"),
                format!("{byte}\u{301}a"),
            ] {
                assert_eq!(
                    Pieces::new(&text).collect::<Vec<_>>(),
                    text.unicode_word_indices().collect::<Vec<_>>(),
                    "{text:?}"
                );
            }
        }
    }
}
