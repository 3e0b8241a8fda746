//! Words and commands of a shell, for messages that say what to type.

/// Returns a command with `file` as its last argument, or without it if the command reads standard input.
pub fn with(command: &str, file: Option<&str>) -> String {
    file.map_or_else(|| command.into(), |file| format!("{command} {file}"))
}

/// Quotes a file's name for a shell, if it needs quotes.
pub fn word(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80 || b"_-./:,+=@%".contains(&byte);
    if !name.is_empty() && name.bytes().all(is_plain) {
        name.into()
    } else {
        format!("'{}'", name.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn names_are_quoted_for_the_shell() {
        assert_eq!(
            ["a.zst", "/x/ä-1.gz", "", "a b", "it's", "$(x)"].map(word),
            ["a.zst", "/x/ä-1.gz", "''", "'a b'", r"'it'\''s'", "'$(x)'"]
        );
    }
}
