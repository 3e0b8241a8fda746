use std::fmt;

/// The most bytes of a page, markup and all.
pub const MAX_PAGE: usize = 16 << 20;

/// What a page says, and what it says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Its title; may be empty.
    pub title: String,
    /// Its text, without markup: paragraphs, headings, cells and such are lines.
    pub text: String,
    /// Where it says that it is to be found: `<link rel=canonical>`, as it is written there, perhaps relative.
    pub canonical: Option<String>,
    /// The language that it says it is in, in lower case, as `en` or `pt-br`: `<html lang>`.
    pub lang: Option<String>,
    /// Whether it asks not to be found: `<meta name=robots content=noindex>`.
    pub noindex: bool,
}

/// Why bytes are no page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It has zeros in it, as no text does.
    Binary,
    /// It is in no charset that is named, and not in UTF-8.
    Charset,
    /// It is longer than [`MAX_PAGE`].
    TooLong,
}

/// Whether the rules of a robots `<meta>`, or of an `X-Robots-Tag` header, say that a page should not be found.
pub fn is_noindex(rules: &str) -> bool {
    // A header may name a robot before a colon; what holds for some robot is held to hold for this one.
    let mut rules = rules.split([',', ':']).map(str::trim);
    rules.any(|rule| rule.eq_ignore_ascii_case("noindex") || rule.eq_ignore_ascii_case("none"))
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Binary => f.write_str("no text: there are zeros in it"),
            Self::Charset => f.write_str("no text: not UTF-8"),
            Self::TooLong => write!(f, "more than {MAX_PAGE} bytes; publish it in parts"),
        }
    }
}

impl std::error::Error for Unreadable {}
