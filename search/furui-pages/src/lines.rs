/// Text that is built in lines, with one space between words.
#[derive(Default)]
pub(crate) struct Lines {
    text: String,
    /// The separator between the existing text and the next text.
    gap: Gap,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    None,
    Space,
    Line,
}

impl Lines {
    /// Appends text. Each run of spaces becomes one space. Line ends are kept if `keeps_lines` is true, and become
    /// spaces otherwise.
    pub(crate) fn push(&mut self, text: &str, keeps_lines: bool) {
        for piece in text.split_inclusive(is_space) {
            let word = piece.trim_end_matches(is_space);
            if !word.is_empty() {
                match self.gap {
                    _ if self.text.is_empty() => {}
                    Gap::None => {}
                    Gap::Space => self.text.push(' '),
                    Gap::Line => self.text.push('\n'),
                }
                self.gap = Gap::None;
                self.text.push_str(word);
            }
            if word.len() < piece.len() {
                let gap = if keeps_lines && piece.ends_with('\n') { Gap::Line } else { Gap::Space };
                self.gap = self.gap.max(gap);
            }
        }
    }

    /// Ends the line, so that the next text is on another line.
    pub(crate) fn end_line(&mut self) {
        self.gap = Gap::Line;
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }
}

/// True for HTML's white space, for no-break spaces, which look the same, and for NUL, which browsers ignore.
fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\x0c' | '\0' | '\u{a0}')
}
