use std::fmt::{self, Write};

/// A value that is displayed so that it cannot do anything to a terminal.
///
/// Names of files, columns and documents come from strangers. A terminal obeys the control characters in them, and
/// characters that change the direction of writing make one name look like another. Here all of these are escaped, as
/// in a string of Rust: `\n`, `\u{1b}`, `\u{202e}`. Other characters, backslashes among them, stay as they are. The
/// errors of this crate are displayed in this way.
///
/// ```
/// use furui::format::Printable;
///
/// assert_eq!(Printable("a\u{1b}[31m\nb").to_string(), r"a\u{1b}[31m\nb");
/// assert_eq!(Printable("été.txt").to_string(), "été.txt");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Printable<T>(pub T);

impl Printable<char> {
    /// True if a terminal shows the character: it is no control character (C0, DEL or C1), and does not change the
    /// direction of the text around it.
    ///
    /// ```
    /// use furui::format::Printable;
    ///
    /// assert!(Printable('ñ').is_shown());
    /// assert!(!Printable('\u{9b}').is_shown() && !Printable('\u{202e}').is_shown());
    /// ```
    pub fn is_shown(self) -> bool {
        let turns = matches!(
            self.0,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        );
        !turns && !self.0.is_control()
    }
}

impl<T: fmt::Display> fmt::Display for Printable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping(f), "{}", self.0)
    }
}

/// A formatter that escapes the text that is written to it: control characters, and those that change the direction of
/// writing.
struct Escaping<'a, 'f>(&'a mut fmt::Formatter<'f>);

impl Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut shown = 0;
        for (at, c) in text.char_indices().filter(|&(_, c)| !Printable(c).is_shown()) {
            self.0.write_str(&text[shown..at])?;
            write!(self.0, "{}", c.escape_default())?;
            shown = at + c.len_utf8();
        }
        self.0.write_str(&text[shown..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_terminal_obeys_is_escaped_and_the_text_around_it_stays() {
        let turns = "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}";
        for c in '\0'..=char::MAX {
            let is_shown = !c.is_control() && !turns.contains(c);
            assert_eq!(Printable(c).is_shown(), is_shown, "{c:?}");
            if c < '\u{3000}' {
                let displayed = Printable(format!("é{c}漢{c}{c}a")).to_string();
                let c = if is_shown { c.to_string() } else { c.escape_default().to_string() };
                assert_eq!(displayed, format!("é{c}漢{c}{c}a"));
            }
        }
    }
}
