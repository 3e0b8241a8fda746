//! Detects the charset of bytes, which is stated by a byte order mark, by the sender, or by a `<meta>` near the
//! beginning.

use std::borrow::Cow;
use std::convert::Infallible;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use html5gum::Span;
use html5gum::Tokenizer;
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};

use crate::Unreadable;

/// The number of bytes at the beginning of a page in which browsers look for its charset.
const PRESCANNED: usize = 1024;

/// Decodes a page. The charset is stated by the first of these that is present: the byte order mark, `declared`, a
/// `<meta>`. If none is stated, it is UTF-8 if the bytes are valid UTF-8, and otherwise windows-1252, as in browsers.
/// Invalid bytes become U+FFFD.
pub(crate) fn decode_html<'a>(bytes: &'a [u8], declared: Option<&str>) -> Cow<'a, str> {
    if Encoding::for_bom(bytes).is_none() && declared.and_then(named).is_none() {
        let named = prescan(&bytes[..bytes.len().min(PRESCANNED)]);
        // If no charset is stated, bytes that are valid UTF-8 are decoded as UTF-8: text in another charset is hardly
        // ever valid UTF-8 by chance.
        match (str::from_utf8(bytes), named) {
            (Ok(text), None) => return Cow::Borrowed(text),
            (_, encoding) => return encoding.unwrap_or(WINDOWS_1252).decode(bytes).0,
        }
    }
    // A byte order mark takes precedence over the charset passed here.
    declared.and_then(named).unwrap_or(UTF_8).decode(bytes).0
}

/// Decodes plain text. Its charset is stated by the byte order mark or by `declared`; otherwise it is UTF-8.
pub(crate) fn decode_text<'a>(bytes: &'a [u8], declared: Option<&str>) -> Result<Cow<'a, str>, Unreadable> {
    let encoding = Encoding::for_bom(bytes).map(|(encoding, _)| encoding).or_else(|| declared.and_then(named));
    let (text, _, broken) = encoding.unwrap_or(UTF_8).decode(bytes);
    if text.contains('\0') {
        return Err(Unreadable::Binary);
    }
    if broken && encoding.is_none() { Err(Unreadable::Charset) } else { Ok(text) }
}

fn named(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label(label.as_bytes())
}

/// The charset that a `<meta>` element among these bytes states; `None` if there is none.
fn prescan(head: &[u8]) -> Option<&'static Encoding> {
    let mut found = None;
    let mut is_meta = false;
    let mut is_content = false;
    let emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
        match event {
            CallbackEvent::OpenStartTag { name } => is_meta = name == b"meta",
            CallbackEvent::AttributeName { name } if is_meta => is_content = name != b"charset",
            CallbackEvent::AttributeValue { value } if is_meta && found.is_none() => {
                let label = if is_content { charset_parameter(value) } else { Some(value) };
                found = label.and_then(Encoding::for_label);
            }
            _ => {}
        }
        None
    });
    let Ok(()) = Tokenizer::new_with_emitter(head, emitter).finish();
    // As the bytes could be read as ASCII so far, they are not UTF-16.
    found.map(|encoding| if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding })
}

/// The value of the parameter `charset` in a content type; `None` if it has none.
pub(crate) fn charset_parameter(content_type: &[u8]) -> Option<&[u8]> {
    const NAME: &[u8] = b"charset=";
    let at = content_type.windows(NAME.len()).position(|part| part.eq_ignore_ascii_case(NAME))?;
    let label = content_type[at + NAME.len()..].trim_ascii_start();
    let label = label.split(|byte| matches!(byte, b';' | b',') || byte.is_ascii_whitespace()).next()?;
    Some(label.trim_ascii()).map(|label| {
        let quoted = label.strip_prefix(b"\"").or_else(|| label.strip_prefix(b"'")).unwrap_or(label);
        quoted.strip_suffix(b"\"").or_else(|| quoted.strip_suffix(b"'")).unwrap_or(quoted)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_goes_before_what_is_declared_and_that_before_a_meta() {
        let latin = b"<meta charset=koi8-r><p>caf\xe9";
        assert!(decode_html(latin, None).ends_with("cafИ"));
        assert!(decode_html(latin, Some("iso-8859-1")).ends_with("café"));
        assert_eq!(decode_html(b"\xef\xbb\xbfcaf\xc3\xa9", Some("iso-8859-1")), "café");
        assert_eq!(decode_html(b"\xff\xfeA\0", None), "A");
        assert!(
            decode_html(b"<meta http-equiv=Content-Type content='text/html; charset=Shift_JIS'>\x8e\x84", None)
                .ends_with('私')
        );
        assert_eq!(decode_html(b"caf\xe9", None), "café");
        assert_eq!(decode_html("café".as_bytes(), Some("none such")), "café");
        assert_eq!(decode_html(b"<meta charset=utf-16>x", None), "<meta charset=utf-16>x");
    }

    #[test]
    fn text_says_what_it_is_not() {
        assert_eq!(decode_text(b"caf\xe9", None), Err(Unreadable::Charset));
        assert_eq!(decode_text(b"caf\xe9", Some("latin1")).as_deref(), Ok("café"));
        assert_eq!(decode_text(b"a\0b", None), Err(Unreadable::Binary));
        assert_eq!(decode_text(b"\xff\xfea\0", None).as_deref(), Ok("a"));
    }

    #[test]
    fn a_content_type_may_name_a_charset() {
        for (content_type, label) in [
            ("text/html; charset=utf-8", Some("utf-8")),
            ("text/html;CHARSET=\"latin1\"; x=y", Some("latin1")),
            ("text/html", None),
            ("charset=", Some("")),
        ] {
            assert_eq!(charset_parameter(content_type.as_bytes()), label.map(str::as_bytes));
        }
    }
}
