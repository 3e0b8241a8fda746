use crate::charset::charset_parameter;

/// The kind of a document, which decides how its text is extracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// HTML, or XHTML.
    Html,
    /// CommonMark.
    Markdown,
    /// Plain text.
    Text,
}

/// The kind of a page, and the charset that its sender stated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Media {
    /// The kind of the page: HTML, Markdown or plain text.
    pub kind: Kind,
    /// The name of the charset that the sender stated; `None` if it stated none.
    pub charset: Option<String>,
}

impl From<Kind> for Media {
    fn from(kind: Kind) -> Self {
        Self { kind, charset: None }
    }
}

impl Media {
    /// Parses a header `Content-Type`, such as `text/html; charset=utf-8`. `None` if no page can be of this type.
    pub fn of(content_type: &str) -> Option<Self> {
        let kind = match content_type.split(';').next()?.trim().to_ascii_lowercase().as_str() {
            "text/html" | "application/xhtml+xml" => Kind::Html,
            "text/markdown" | "text/x-markdown" => Kind::Markdown,
            "text/plain" => Kind::Text,
            _ => return None,
        };
        let charset = charset_parameter(content_type.as_bytes());
        Some(Self { kind, charset: charset.map(|label| String::from_utf8_lossy(label).into_owned()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_types_are_read_whatever_their_case() {
        let html = Media::of("Text/HTML; Charset=\"Shift_JIS\"");
        assert_eq!(html, Some(Media { kind: Kind::Html, charset: Some("Shift_JIS".into()) }));
        assert_eq!(Media::of("text/plain"), Some(Kind::Text.into()));
        assert_eq!(Media::of("image/png"), None);
        assert_eq!(Media::of(""), None);
    }
}
