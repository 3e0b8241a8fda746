//! Words and commands of a shell, for messages that say what to type.

/// A command with a file as its last argument, or for standard input without.
pub fn with(command: &str, file: Option<&str>) -> String {
    file.map_or_else(|| command.into(), |file| format!("{command} {file}"))
}

/// A file's name as the shell reads it.
pub fn word(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80 || b"_-./:,+=@%".contains(&byte);
    if !name.is_empty() && name.bytes().all(is_plain) {
        name.into()
    } else {
        format!("'{}'", name.replace('\'', r"'\''"))
    }
}
