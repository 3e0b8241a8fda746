//! The parts of names as programs have them, such as `getOrDefault` and `utf8`.

use std::ops::Range;

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
        assert_eq!(["v3.11", "V1.2.3", "v8", "vi.x"].map(without_v), ["3.11", "1.2.3", "v8", "vi.x"]);
    }
}
