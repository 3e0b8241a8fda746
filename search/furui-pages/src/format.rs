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
}

impl Format {
    /// The number of first bytes of a file by which [`of_content`](Self::of_content) recognises its format.
    pub const HEAD: usize = 1024;

    /// The format of a file with this name; `None` if the name does not determine it.
    pub fn of_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let (stem, end) = name.rsplit_once('.')?;
        Some(match end {
            "html" | "htm" | "xhtml" => Self::Page(Kind::Html),
            "md" | "markdown" => Self::Page(Kind::Markdown),
            "txt" | "text" => Self::Page(Kind::Text),
            "jsonl" | "ndjson" => Self::Jsonl,
            "warc" => Self::Warc,
            "gz" if stem.ends_with(".warc") => Self::Warc,
            _ => return None,
        })
    }

    /// The format of a file that begins with these bytes. It is plain text if no other format is recognised.
    pub fn of_content(head: &[u8]) -> Self {
        let starts = |with: &[u8]| {
            let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
            head.get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with))
        };
        if starts(b"<!doctype html") || starts(b"<html") {
            Self::Page(Kind::Html)
        } else if head.starts_with(b"WARC/") || head.starts_with(b"\x1f\x8b") {
            Self::Warc
        } else {
            Self::Page(Kind::Text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_beginnings_say_what_a_file_holds() {
        for (name, format) in [
            ("a.HTML", Some(Format::Page(Kind::Html))),
            ("a.b.md", Some(Format::Page(Kind::Markdown))),
            ("crawl.warc.gz", Some(Format::Warc)),
            ("notes.gz", None),
            ("README", None),
            ("x.jsonl", Some(Format::Jsonl)),
        ] {
            assert_eq!(Format::of_name(name), format, "{name}");
        }
        assert_eq!(Format::of_content(b"\n <!DocType HTML>"), Format::Page(Kind::Html));
        assert_eq!(Format::of_content(b"WARC/1.1\r\n"), Format::Warc);
        assert_eq!(Format::of_content(b""), Format::Page(Kind::Text));
    }
}
