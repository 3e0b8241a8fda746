use encoding_rs::Encoding;

use crate::Kind;

/// The format of a file with documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The file is one page.
    Page(Kind),
    /// Each line of the file is a document in JSON.
    Jsonl,
    /// The file contains pages from a crawler, compressed or not: [`Warc`](crate::Warc).
    Warc,
    /// The file contains several documents in a form of this kind.
    Several(Several),
    /// The file is a ZIM archive, as Kiwix has it. There is no reader: the crate for it is kept no more, maps files,
    /// and needs a second Zstandard.
    Zim,
}

/// The kinds of files with several documents whose readers yield entries ([`Entry`](crate::Entry)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Several {
    /// The bookmarks of a browser: [`Bookmarks`](crate::Bookmarks).
    Bookmarks,
    /// A database, which may be the history of a browser: [`History`](crate::History).
    History,
    /// A mailbox: [`Mbox`](crate::Mbox).
    Mbox,
    /// One electronic message, as files of a Maildir are: [`message`](crate::message()).
    Message,
    /// A book: [`Epub`](crate::Epub).
    Epub,
    /// A PDF, which may be too long for one document: [`Pdf`](crate::Pdf).
    Pdf,
}

impl Format {
    /// The number of first bytes of a file by which [`of`](Self::of) recognises its format.
    pub const HEAD: usize = 1024;

    /// The format of a file with this name, which begins with these bytes. `None` if neither tells more than that it
    /// may be plain text.
    ///
    /// What only one format begins with decides, then the end of the name, and then what a text looks like.
    pub fn of(name: &str, head: &[u8]) -> Option<Self> {
        Self::of_magic(head).or_else(|| Self::of_name(name)).or_else(|| Self::of_text(name, head))
    }

    /// True if a file that begins with these bytes is no text.
    pub fn is_binary(head: &[u8]) -> bool {
        Encoding::for_bom(head).is_none() && head.contains(&0)
    }

    fn of_magic(head: &[u8]) -> Option<Self> {
        let starts = |with: &[u8]| starts(head, with);
        if head.starts_with(b"SQLite format 3\0") {
            Some(Self::Several(Several::History))
        } else if head.starts_with(b"PK\x03\x04") && contains(head, b"mimetypeapplication/epub+zip") {
            Some(Self::Several(Several::Epub))
        } else if head.starts_with(b"%PDF-") {
            Some(Self::Several(Several::Pdf))
        } else if head.starts_with(b"ZIM\x04") {
            Some(Self::Zim)
        } else if head.starts_with(b"WARC/") {
            Some(Self::Warc)
        } else if starts(b"<!doctype netscape-bookmark-file")
            || starts(b"{") && contains(head, b"\"checksum\"") && contains(head, b"\"roots\"")
        {
            Some(Self::Several(Several::Bookmarks))
        } else {
            None
        }
    }

    fn of_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let (stem, end) = name.rsplit_once('.')?;
        Some(match end {
            "html" | "htm" | "xhtml" => Self::Page(Kind::Html),
            "md" | "markdown" => Self::Page(Kind::Markdown),
            "txt" | "text" => Self::Page(Kind::Text),
            "jsonl" | "ndjson" => Self::Jsonl,
            "warc" => Self::Warc,
            "gz" if stem.ends_with(".warc") => Self::Warc,
            "mbox" | "mbx" => Self::Several(Several::Mbox),
            "eml" => Self::Several(Several::Message),
            "epub" => Self::Several(Several::Epub),
            "pdf" => Self::Several(Several::Pdf),
            _ => return None,
        })
    }

    fn of_text(name: &str, head: &[u8]) -> Option<Self> {
        if starts(head, b"<!doctype html") || starts(head, b"<html") {
            Some(Self::Page(Kind::Html))
        } else if head.starts_with(b"\x1f\x8b") && !name.contains('.') {
            Some(Self::Warc)
        } else if let Some(after) = head.strip_prefix(b"From ") {
            let fields = after.iter().position(|&byte| byte == b'\n').map(|end| &after[end + 1..]);
            fields.filter(|fields| is_message(fields)).map(|_| Self::Several(Several::Mbox))
        } else {
            is_message(head).then_some(Self::Several(Several::Message))
        }
    }
}

/// True if the bytes begin with these, whatever their case, after blanks and a byte order mark.
fn starts(head: &[u8], with: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    head.get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with))
}

fn contains(head: &[u8], part: &[u8]) -> bool {
    head.windows(part.len()).any(|window| window == part)
}

/// True if the bytes begin with the fields of an electronic message: a name and a colon on each line, except on lines
/// that begin with a blank, and among the names two that messages have.
fn is_message(head: &[u8]) -> bool {
    const USUAL: [&[u8]; 9] = [
        b"from",
        b"to",
        b"date",
        b"subject",
        b"message-id",
        b"received",
        b"return-path",
        b"delivered-to",
        b"mime-version",
    ];
    let mut usual = 0;
    for line in head.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n")) {
        if line.trim_ascii().is_empty() {
            break;
        }
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            continue;
        }
        let Some(colon) = line.iter().position(|&byte| byte == b':') else { return false };
        let name = &line[..colon];
        if name.is_empty() || !name.iter().all(|&byte| byte.is_ascii_graphic()) {
            return false;
        }
        usual += usize::from(USUAL.iter().any(|usual| name.eq_ignore_ascii_case(usual)));
    }
    usual >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_beginnings_say_what_a_file_holds() {
        let html = Some(Format::Page(Kind::Html));
        for (name, head, format) in [
            ("a.HTML", "", html),
            ("a.b.md", "", Some(Format::Page(Kind::Markdown))),
            ("crawl.warc.gz", "\x1f", Some(Format::Warc)),
            ("notes.gz", "\x1f", None),
            ("README", "words", None),
            ("x.jsonl", "", Some(Format::Jsonl)),
            ("x", "\n <!DocType HTML>", html),
            ("x.md", "WARC/1.1\r\n", Some(Format::Warc)),
            ("bookmarks.html", "<!DOCTYPE NETSCAPE-Bookmark-file-1>", Some(Format::Several(Several::Bookmarks))),
            ("Bookmarks", "{\n   \"checksum\": \"x\",\n   \"roots\": {", Some(Format::Several(Several::Bookmarks))),
            ("x.json", "{\"checksum\": 1}", None),
            ("places.sqlite", "SQLite format 3\0", Some(Format::Several(Several::History))),
            ("book.zip", "PK\x03\x04mimetypeapplication/epub+zip", Some(Format::Several(Several::Epub))),
            ("archive.zip", "PK\x03\x04", None),
            ("wiki", "ZIM\x04\x06\0", Some(Format::Zim)),
            ("paper", "%PDF-1.7\n", Some(Format::Several(Several::Pdf))),
            ("paper.PDF", "\n%PDF-1.7\n", Some(Format::Several(Several::Pdf))),
            (
                "1.M2:2,S",
                "Return-Path: <a@b>\r\nReceived: by c\r\n\tfor d\r\n\r\ntext",
                Some(Format::Several(Several::Message)),
            ),
            ("note.txt", "From: a\nTo: b\n", Some(Format::Page(Kind::Text))),
            ("note", "From: a\nTo all: b\nDate: c\n", None),
            ("Inbox", "From - Mon Jan  1 00:00:00 2024\nFrom: a\nTo: b\n\nx", Some(Format::Several(Several::Mbox))),
            ("letter", "From here on\nall is text\n", None),
        ] {
            assert_eq!(Format::of(name, head.as_bytes()), format, "{name}");
        }
        assert_eq!(Format::of("crawl", b"\x1f\x8b"), Some(Format::Warc));
        assert!(Format::is_binary(b"\x89PNG\0") && !Format::is_binary(b"\xff\xfea\0") && !Format::is_binary(b""));
    }
}
