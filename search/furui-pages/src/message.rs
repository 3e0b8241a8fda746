use std::fmt::Write;

use mail_parser::{Address as Addresses, GetHeader, HeaderName, Message, MessageParser, MimeHeaders, PartType};

use crate::{Address, Document, MAX_MESSAGE, MAX_PAGE, Page, Unreadable, html};

/// The maximum number of parts that are in each other. Chosen: messages have four.
const MAX_DEPTH: usize = 16;
/// The maximum number of parts of a message that are looked at; the others are left out. Chosen: messages have a dozen.
const MAX_PARTS: usize = 256;
/// The maximum number of addresses in the first line of the text. Chosen: it is a line.
const MAX_ADDRESSES: usize = 32;

/// Reads an electronic message (RFC 5322). Its title is the subject. The first line of its text has the senders, the
/// receivers and the date; below it is what its parts say in plain text or, where there is none, in HTML. What is
/// attached is left out, and so are messages within the message. The URL is `mid:` and the message's id (RFC 2392); a
/// message without an id has its `place` as a fragment.
///
/// # Errors
/// If there are more than [`MAX_MESSAGE`] bytes, or more than [`MAX_PAGE`] bytes of text, or if they do not begin with
/// the fields of a message.
pub fn message(bytes: &[u8], place: &str) -> Result<Document, Unreadable> {
    if bytes.len() > MAX_MESSAGE {
        return Err(Unreadable::LongMessage);
    }
    let head = head_of(bytes).filter(|head| head.from().is_some() || head.date().is_some() || head.subject().is_some());
    let head = head.ok_or(Unreadable::Message)?;
    let mut text = people(&head);
    let mut parts = MAX_PARTS;
    body(bytes, &mut parts, 0, &mut text);
    if text.len() > MAX_PAGE {
        return Err(Unreadable::TooLong);
    }
    let address = match head.message_id().map(str::trim).filter(|id| !id.is_empty()) {
        Some(id) => Address::Url(format!("mid:{}", escaped(id))),
        None => Address::Part(place.to_owned()),
    };
    let page = Page { title: head.subject().unwrap_or_default().to_owned(), text, ..Page::default() };
    Ok(Document { place: place.to_owned(), address, page })
}

fn head_of(bytes: &[u8]) -> Option<Message<'_>> {
    MessageParser::default().parse_headers(bytes)
}

/// The line with senders, receivers and date.
fn people(head: &Message<'_>) -> String {
    let mut line = String::new();
    for (name, addresses) in [("From: ", head.from()), ("To: ", head.to())] {
        let mut separator = name;
        for address in addresses.into_iter().flat_map(Addresses::iter).take(MAX_ADDRESSES) {
            line += separator;
            separator = ", ";
            line += &[address.name(), address.address()].into_iter().flatten().collect::<Vec<_>>().join(" ");
        }
        if separator != name {
            line += ". ";
        }
    }
    if let Some(date) = head.date() {
        // Writing to a string does not fail.
        let _ = write!(line, "Date: {:04}-{:02}-{:02}", date.year, date.month, date.day);
    }
    line.trim_end().to_owned()
}

/// Appends the text of a part, or of the parts in it. Returns true if there is some.
///
/// The parser gets no part with others in it: it would go into messages within messages as deep as they are.
fn body(bytes: &[u8], parts: &mut usize, depth: usize, text: &mut String) -> bool {
    let Some(left) = parts.checked_sub(1).filter(|_| text.len() <= MAX_PAGE) else { return false };
    *parts = left;
    let head = head_of(bytes);
    let head = head.as_ref().map(Message::root_part);
    if head.and_then(|head| head.content_disposition()).is_some_and(|disposition| disposition.is_attachment()) {
        return false;
    }
    let kind = head.and_then(|head| head.headers.header_value(&HeaderName::ContentType)?.as_content_type());
    match kind.map(|kind| (kind.ctype(), kind.subtype(), kind.attribute("boundary"))) {
        None | Some(("text", Some("plain" | "html"), _)) => leaf(bytes, text),
        // A digest is a list of messages.
        Some(("multipart", Some("digest"), _)) => false,
        Some(("multipart", ..)) if depth == MAX_DEPTH => false,
        // The forms are in the order of their quality, plain text first.
        Some(("multipart", Some("alternative"), Some(boundary))) => {
            inner(bytes, boundary).any(|part| body(part, parts, depth + 1, text))
        }
        Some(("multipart", _, Some(boundary))) => {
            inner(bytes, boundary).filter(|part| body(part, parts, depth + 1, text)).count() > 0
        }
        _ => false,
    }
}

/// Appends the text of a part with nothing but text.
fn leaf(bytes: &[u8], text: &mut String) -> bool {
    let parsed = MessageParser::default().parse(bytes);
    let words = match parsed.as_ref().map(|parsed| &parsed.root_part().body) {
        Some(PartType::Text(words)) => words.trim().to_owned(),
        Some(PartType::Html(source)) => html(source.as_bytes(), Some("utf-8")).text,
        _ => return false,
    };
    if words.is_empty() {
        return false;
    }
    text.push('\n');
    text.push_str(&words);
    true
}

/// The parts between the lines with a boundary.
fn inner<'a>(bytes: &'a [u8], boundary: &str) -> impl Iterator<Item = &'a [u8]> {
    let mark = format!("--{boundary}").into_bytes();
    let mut rest = bytes;
    let mut is_inside = false;
    std::iter::from_fn(move || {
        loop {
            let (part, after, is_last) = until(rest, &mark)?;
            let was_inside = std::mem::replace(&mut is_inside, !is_last);
            rest = if is_last { &[] } else { after };
            if was_inside {
                return Some(part);
            }
        }
    })
}

/// The bytes before the next line with a mark, those after it, and whether the line says that it is the last one. What
/// is cut off ends with the bytes.
fn until<'a>(bytes: &'a [u8], mark: &[u8]) -> Option<(&'a [u8], &'a [u8], bool)> {
    let mut at = 0;
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        if let Some(end) = line.strip_prefix(mark) {
            let is_last = end.starts_with(b"--");
            if is_last || end.trim_ascii().is_empty() {
                return Some((&bytes[..at], &bytes[at + line.len()..], is_last));
            }
        }
        at += line.len();
    }
    (!bytes.is_empty()).then_some((bytes, &[], true))
}

/// A message's id as a part of a URL. What is not usual in an id is escaped.
fn escaped(id: &str) -> String {
    let mut url = String::new();
    for byte in id.bytes() {
        if byte.is_ascii_alphanumeric() || b"@.-_~!$&'*+=,;:()".contains(&byte) {
            url.push(char::from(byte));
        } else {
            let _ = write!(url, "%{byte:02X}");
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str) -> String {
        message(source.as_bytes(), "").unwrap().page.text.replace("\r\n", "\n")
    }

    #[test]
    fn plain_text_goes_before_html_and_attachments_are_left_out() {
        let source = "From: =?utf-8?q?J=C3=B6rg?= <j@x.example>\r\nTo: a@x.example, B <b@x.example>\r\n\
            Date: Mon, 01 Jan 2024 10:00:00 +0000\r\nSubject: =?iso-8859-1?q?caf=E9?=\r\n\
            Content-Type: multipart/mixed; boundary=\"out er\"\r\n\r\npreamble\r\n--out er\r\n\
            Content-Type: multipart/alternative; boundary=in\r\n\r\n\
            --in\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n\
            caf=E9 plain\r\n--in\r\nContent-Type: text/html\r\n\r\n<p>html\r\n--in--\r\n\
            --out er\r\nContent-Type: text/plain\r\nContent-Disposition: attachment\r\n\r\nattached\r\n\
            --out er\r\nContent-Type: message/rfc822\r\n\r\nSubject: y\r\n\r\nforwarded\r\n\
            --out er\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\nPHA+b25lPGJyPnR3bw==\r\n\
            --out er\r\n\r\nwithout fields\r\n--out er--\r\nepilogue\r\n";
        let read = message(source.as_bytes(), "").unwrap().page;
        assert_eq!(read.title, "café");
        let head = "From: Jörg j@x.example. To: a@x.example, B b@x.example. Date: 2024-01-01";
        assert_eq!(read.text, format!("{head}\ncafé plain\none\ntwo\nwithout fields"));
    }

    #[test]
    fn html_is_read_where_there_is_no_plain_text() {
        let source = "Subject: x\nContent-Type: multipart/alternative; boundary=a\n\n--a\nContent-Type: text/plain\n\n \n\
            --a\nContent-Type: multipart/related; boundary=b\n\n--b\nContent-Type: text/html; charset=koi8-r\n\
            Content-Transfer-Encoding: base64\n\nPHA+6TxzY3JpcHQ+bm8=\n--b--\n--a--\n";
        assert_eq!(text(source), "\nИ");
    }

    #[test]
    fn parts_within_parts_end_somewhere() {
        let mut deep = String::from("Subject: x\n");
        for depth in 0..50_000 {
            deep += &format!("Content-Type: multipart/mixed; boundary=b{depth}\n\n--b{depth}\n");
        }
        assert_eq!(text(&deep), "");
        let nested = "Subject: x\n".to_owned() + &"Content-Type: message/rfc822\n\n".repeat(200_000);
        assert_eq!(text(&nested), "");
        let wide =
            "Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n".to_owned() + &"--b\n\nword\n".repeat(1000);
        assert_eq!(text(&wide).split_whitespace().count(), MAX_PARTS - 1);
        let cut = "Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nthe end is miss";
        assert_eq!(text(cut), "\nthe end is miss");
    }

    #[test]
    fn what_has_no_fields_is_no_message() {
        for bytes in [&b""[..], b"text", b"\n\ntext", b"X-Own: 1\n\ntext", b"\0\xff"] {
            assert_eq!(message(bytes, "").err(), Some(Unreadable::Message), "{bytes:?}");
        }
    }
}
