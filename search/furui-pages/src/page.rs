use std::fmt;

use serde::{Deserialize, Serialize};

/// The maximum size of a page in bytes, including markup.
pub const MAX_PAGE: usize = 16 << 20;
/// The maximum size of an electronic message in bytes, with attachments. Chosen: providers refuse larger ones.
pub const MAX_MESSAGE: usize = 64 << 20;

/// The title, text and metadata of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// The title of the page; may be empty.
    pub title: String,
    /// The text of the page, without markup. Paragraphs, headings, cells and the like are lines.
    pub text: String,
    /// The address that the page states as its own in `<link rel=canonical>`, as written there; it may be relative.
    pub canonical: Option<String>,
    /// The language that the page states in `<html lang>`, in lower case, such as `en` or `pt-br`.
    pub lang: Option<String>,
    /// True if the page asks search engines to leave it out: `<meta name=robots content=noindex>`.
    pub noindex: bool,
}

/// The reason that bytes cannot be read as a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// The bytes contain NUL, which does not occur in text.
    Binary,
    /// The bytes are not UTF-8, and no other charset is stated.
    Charset,
    /// There are more than [`MAX_PAGE`] bytes.
    TooLong,
    /// The bytes are not the bookmarks of a browser.
    Bookmarks,
    /// The bytes do not begin with the fields of an electronic message.
    Message,
    /// There are more bytes of an electronic message than [`MAX_MESSAGE`].
    LongMessage,
}

/// True if the rules of a robots `<meta>`, or of an `X-Robots-Tag` header, ask search engines to leave the page out.
pub fn is_noindex(rules: &str) -> bool {
    // A header may name a robot before a colon. A rule for any robot is treated as a rule for this one.
    let mut rules = rules.split([',', ':']).map(str::trim);
    rules.any(|rule| rule.eq_ignore_ascii_case("noindex") || rule.eq_ignore_ascii_case("none"))
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Binary => f.write_str("no text: there are zeros in it"),
            Self::Charset => f.write_str("no text: not UTF-8"),
            Self::TooLong => write!(f, "more than {MAX_PAGE} bytes; publish it in parts"),
            Self::Bookmarks => f.write_str("not the bookmarks of a browser"),
            Self::Message => f.write_str("not an electronic message: it does not begin with a sender, date or subject"),
            Self::LongMessage => write!(f, "a message of more than {MAX_MESSAGE} bytes"),
        }
    }
}

impl std::error::Error for Unreadable {}
