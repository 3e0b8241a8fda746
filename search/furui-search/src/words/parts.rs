//! The parts of names as programs have them, such as `getOrDefault` and `utf8`.

use std::ops::Range;

use crate::limits;

/// The maximum number of parts of a name. What has more is a hash or a number in base 64, of which nobody searches a
/// part. Chosen.
const MOST: usize = 6;

/// The maximum number of digits of a part. What has more is a number in a series, and each would be a word of its own.
/// Chosen.
const DIGITS: usize = 4;

/// The byte ranges of the parts of an ASCII word as it is written: between lower and upper case, and between letters
/// and digits. A single letter is no part. None if there is only one part.
pub(super) fn parts(word: &str) -> Vec<Range<usize>> {
    let bytes = word.as_bytes();
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for at in 1..bytes.len() {
        let (before, here) = (bytes[at - 1], bytes[at]);
        let ends_upper = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase) && before.is_ascii_uppercase();
        let begins = (before.is_ascii_lowercase() || ends_upper) && here.is_ascii_uppercase()
            || before.is_ascii_alphabetic() && here.is_ascii_digit()
            || before.is_ascii_digit() && here.is_ascii_alphabetic();
        if begins {
            parts.push(start..at);
            start = at;
        }
    }
    if parts.is_empty() || parts.len() >= MOST {
        return Vec::new();
    }
    parts.push(start..bytes.len());
    parts.retain(|part| match bytes[part.start].is_ascii_digit() {
        true => part.len() <= DIGITS,
        false => part.len() > 1,
    });
    parts
}

/// The parts of a name in lower case with letters and digits, separated by spaces: `tls1.3` is `tls 1.3`. `None` if the
/// word has one part only.
pub fn in_parts(word: &str) -> Option<String> {
    let parts: Vec<&str> = parts(word).into_iter().map(|part| &word[part]).collect();
    (parts.len() > 1).then(|| parts.join(" "))
}

/// The place of the name whose last word is the one at `word`: words of ASCII with underscores or a full stop between
/// them, as in `os.getcwd` and `pg_index`, also with underscores before it or around it, as in `_thread` and
/// `__init__`. `None` if the word is by itself, the name goes on after it, or has more than
/// [`WORD_BYTES`](limits::WORD_BYTES).
pub(super) fn whole_name(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let (before, after) = (&text.as_bytes()[..word.start], &text[word.end..]);
    if !before.ends_with(b"_") && !before.ends_with(b".") {
        return None;
    }
    let next = after.strip_prefix('.').unwrap_or(after.trim_start_matches('_'));
    let goes_on = next.len() < after.len() && next.starts_with(|c: char| c.is_ascii_alphanumeric());
    let joins = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    let run = before.iter().rev().take_while(joins).take(limits::WORD_BYTES).count();
    let name = text[word.start - run..word.end].trim_start_matches('.');
    let underscores = name.len() - name.trim_start_matches('_').len();
    // What is between single underscores is emphasised, and a row of them is a line.
    let end = match (underscores, after.len() - after.trim_start_matches('_').len()) {
        (2, 2) => word.end + 2,
        (0..=2, 0) => word.end,
        _ => return None,
    };
    let name = word.end - name.len()..end;
    let has_letters = text[name.clone()].contains(|c: char| c.is_ascii_alphabetic());
    (!goes_on && has_letters && name.len() > word.len() && name.len() <= limits::WORD_BYTES).then_some(name)
}

/// The number of a version without the letter before it: `v3.11` is `3.11`.
pub(super) fn without_v(word: &str) -> &str {
    let version = word.strip_prefix(['v', 'V']).filter(|version| version.contains('.'));
    version.filter(|version| version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_where_their_writer_began_a_word() {
        for (word, expected) in [
            ("getOrDefault", "get Or Default"),
            ("HTMLParser", "HTML Parser"),
            ("utf8", "utf 8"),
            ("RFC2616", "RFC 2616"),
            ("x12345", ""),
            ("H264", "264"),
            ("plain", ""),
            ("Title", ""),
            ("UPPER", ""),
            ("3.11", ""),
            ("a1b2c3d4e5f6", ""),
        ] {
            let found: Vec<&str> = parts(word).into_iter().map(|part| &word[part]).collect();
            assert_eq!(found.join(" "), expected, "{word}");
        }
        for (text, expected) in [
            ("see os.getcwd.", "os.getcwd"),
            ("(pg_index,", "pg_index"),
            ("_thread", "_thread"),
            ("__init__", "__init__"),
            ("a._b", "a._b"),
            ("_word_", ""),
            ("____word", ""),
            ("word", ""),
            ("1_2", ""),
            ("a..b", "a..b"),
        ] {
            let end = text.rfind(|c: char| c.is_ascii_alphanumeric()).unwrap() + 1;
            let start = text[..end].rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |mark| mark + 1);
            assert_eq!(whole_name(text, start..end).map_or("", |name| &text[name]), expected, "{text}");
        }
        assert_eq!(whole_name("os.path.join", 3..7), None);
        assert_eq!(["v3.11", "V1.2.3", "v8", "vi.x"].map(without_v), ["3.11", "1.2.3", "v8", "vi.x"]);
    }
}
