//! Escapes for bytes that would be ambiguous within a line: those of `--escape`, and of keys of several parts in
//! dictionaries.

use std::borrow::Cow;

/// The bytes that have an escape, each with the letter that follows the backslash in it.
const ESCAPES: [(u8, u8); 5] = [(b'\\', b'\\'), (b'\t', b't'), (b'\n', b'n'), (b'\r', b'r'), (0, b'0')];

/// Appends `bytes` to `out`, with escapes for the bytes that have one.
pub fn push_escaped(out: &mut Vec<u8>, bytes: &[u8]) {
    for &byte in bytes {
        match ESCAPES.iter().find(|&&(plain, _)| plain == byte) {
            Some(&(_, letter)) => out.extend([b'\\', letter]),
            None => out.push(byte),
        }
    }
}

/// Decodes the escapes in a part of a line. `None` if a backslash begins no escape.
pub fn unescaped(text: &[u8]) -> Option<Cow<'_, [u8]>> {
    if !text.contains(&b'\\') {
        return Some(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.iter();
    while let Some(&byte) = rest.next() {
        if byte == b'\\' {
            let letter = rest.next()?;
            bytes.push(ESCAPES.iter().find(|(_, escape)| escape == letter)?.0);
        } else {
            bytes.push(byte);
        }
    }
    Some(Cow::Owned(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_come_back_and_lines_have_no_separators() {
        let all: Vec<u8> = (0..=u8::MAX).collect();
        let mut line = vec![];
        push_escaped(&mut line, &all);
        assert!(!line.iter().any(|byte| [0, b'\t', b'\n', b'\r'].contains(byte)));
        assert_eq!(unescaped(&line).as_deref(), Some(&all[..]));
        assert!(matches!(unescaped(b"as it is"), Some(Cow::Borrowed(b"as it is"))));
    }

    #[test]
    fn a_backslash_without_a_letter_that_it_may_have_is_none() {
        for text in ["\\", "a\\", "\\x41", "\\T", "\\\\\\"] {
            assert_eq!(unescaped(text.as_bytes()), None, "{text}");
        }
    }
}
