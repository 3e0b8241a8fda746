//! Front matter: the block of metadata with which static sites begin their sources.

/// The maximum size of front matter, in bytes. Chosen: some hundred times what sites have there.
const MAX_FRONT_MATTER: usize = 64 << 10;

/// A text without its front matter.
pub(crate) struct FrontMatter<'a> {
    /// The title that the front matter states; `None` if it states none on one line, or if there is no front matter.
    pub(crate) title: Option<String>,
    /// The text after the front matter.
    pub(crate) rest: &'a str,
}

impl<'a> FrontMatter<'a> {
    /// Splits a text that begins with metadata, in YAML between two lines `---` or in TOML between two lines `+++`.
    ///
    /// A line of dashes can also be a rule, so the block counts only if its first line with content is a name and a
    /// value. Other texts are returned whole.
    pub(crate) fn split(text: &'a str) -> Self {
        Self::of(text).unwrap_or(Self { title: None, rest: text })
    }

    fn of(text: &'a str) -> Option<Self> {
        let inside = text.strip_prefix('\u{feff}').unwrap_or(text);
        let fence = ["---", "+++"].into_iter().find(|fence| inside.starts_with(fence))?;
        let mut lines = inside.split_inclusive('\n');
        let mut size = lines.next().filter(|line| line.trim_end() == fence)?.len();
        let (mut title, mut is_metadata) = (None, false);
        for line in lines {
            size += line.len();
            if size > MAX_FRONT_MATTER {
                return None;
            }
            let end = line.trim_end();
            if end == fence || (fence == "---" && end == "...") {
                return is_metadata.then(|| Self { title, rest: &inside[size..] });
            }
            if !is_metadata && !end.is_empty() && !end.starts_with('#') {
                is_metadata = is_member(end);
                if !is_metadata {
                    return None;
                }
            }
            title = title.or_else(|| title_in(end));
        }
        None
    }
}

/// True for the beginning of a line `name: value`, `name = value` or `[table]`.
fn is_member(line: &str) -> bool {
    if line.starts_with('[') {
        return line.ends_with(']');
    }
    let name = line.split([':', '=']).next().filter(|name| name.len() < line.len());
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '"' | '\'');
    name.is_some_and(|name| !name.trim_end().is_empty() && name.trim_end().chars().all(is_part))
}

/// The title in a line of metadata; `None` if the line has none, or if it is not on one line. The forms are `title: …`
/// and `title = …`, with or without quotes.
fn title_in(line: &str) -> Option<String> {
    let value = line.strip_prefix("title")?.trim_start().strip_prefix([':', '='])?.trim();
    let quote = value.chars().next().filter(|first| ['"', '\''].contains(first));
    let title = match quote {
        Some(quote) => {
            let inside = value.strip_prefix(quote)?.strip_suffix(quote)?;
            if quote == '"' { inside.replace("\\\"", "\"") } else { inside.replace("''", "'") }
        }
        // A value that begins with one of these characters is not a title on this line, but a text of several lines, a
        // list or a reference.
        None if value.starts_with(['|', '>', '[', '{', '&', '*', '!', '#']) => return None,
        None => value.to_owned(),
    };
    (!title.trim().is_empty()).then_some(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_metadata_is_split_off() {
        for (text, title, rest) in [
            ("---\ntitle: A\ntags: [b]\n---\nwords", Some("A"), "words"),
            ("\u{feff}+++\r\n# a comment\r\n\r\ntitle = 'B'\r\n+++\r\nwords", Some("B"), "words"),
            ("---\nlayout: x\n...\nwords", None, "words"),
            ("+++\n[table]\ntitle = \"C\"\n+++\n", Some("C"), ""),
        ] {
            let split = FrontMatter::split(text);
            assert_eq!((split.title.as_deref(), split.rest), (title, rest), "{text}");
        }
    }

    #[test]
    fn what_is_no_metadata_is_text() {
        let long = format!("---\ntitle: x\n{}---\n", "a: b\n".repeat(MAX_FRONT_MATTER / 5));
        for text in [
            "---\nA heading between rules\n---\nwords",
            "---\ntitle: it does not end\n",
            "----\ntitle: a longer rule\n----\n",
            "words\n---\ntitle: not at the beginning\n---\n",
            "---\n---\n",
            "--- title: x\n---\n",
            "",
            &long,
        ] {
            let split = FrontMatter::split(text);
            assert_eq!((split.title, split.rest), (None, text));
        }
    }
}
