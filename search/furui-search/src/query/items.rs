use super::super::Phrase;
use super::super::site::{NoSite, site};
use super::super::words::telling_tokens;
use super::error::{QueryError, QueryFault, fault};
use crate::limits;

/// A token of a query.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// Words that are written together or in quotation marks.
    Words {
        words: Phrase,
        is_quoted: bool,
    },
    /// The word that represents a host, for `site:`.
    Site(String),
    Or,
    And,
    Not,
    Open,
    Close,
}

/// The quotation marks that open a phrase anywhere.
const OPENING: &str = "「『“„";
/// The quotation marks that open a phrase only at the beginning of a word.
const EITHER: &str = "\"＂”";

/// Splits the text of a query into tokens, each with its byte offset.
pub(super) fn items(text: &str) -> Result<Vec<(Item, usize)>, QueryError> {
    let mut items: Vec<(Item, usize)> = Vec::new();
    let mut words = 0;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let start = at;
        at += c.len_utf8();
        let item = match c {
            '(' | '（' => Some(Item::Open),
            ')' | '）' => Some(Item::Close),
            // A minus sign before a space is a dash.
            '-' | '−' | '－' if text[at..].starts_with(|next: char| !next.is_whitespace()) => Some(Item::Not),
            _ if c.is_whitespace() => continue,
            _ if OPENING.contains(c) || EITHER.contains(c) => {
                let Some(length) = text[at..].find(|end| closes(c, end)) else {
                    return Err(fault(QueryFault::QuoteNotClosed, text, start));
                };
                let inside = &text[at..at + length];
                at += length + text[at + length..].chars().next().map_or(0, char::len_utf8);
                let item = phrase(inside, true).map_err(|why| fault(why, text, start))?;
                Some(item.ok_or_else(|| fault(QueryFault::EmptyPhrase, text, start))?)
            }
            _ => {
                let rest = &text[start..];
                let is_end = |c: char| c.is_whitespace() || "()（）".contains(c) || OPENING.contains(c);
                let length = rest.find(is_end).unwrap_or(rest.len());
                at = start + length;
                word(&rest[..length]).map_err(|why| fault(why, text, start))?
            }
        };
        let Some(item) = item else {
            // Punctuation is skipped, except a minus sign directly before the next item.
            let minus = text[..start].chars().next_back().map_or(0, char::len_utf8);
            items.pop_if(|(item, at)| *item == Item::Not && *at + minus == start);
            continue;
        };
        words += match &item {
            Item::Words { words, .. } => words.words().len(),
            Item::Site(_) => 1,
            _ => 0,
        };
        if words > limits::WORDS {
            return Err(fault(QueryFault::TooManyWords, text, start));
        }
        items.push((item, start));
    }
    Ok(items)
}

/// True if the quotation mark `c` closes a phrase that `opening` opened. Except for Japanese marks, every mark closes a
/// phrase that any other mark opened: keyboards have one key for both, and languages use “ and ” in either order.
fn closes(opening: char, c: char) -> bool {
    match opening {
        '「' => c == '」',
        '『' => c == '』',
        _ => "\"＂“”".contains(c),
    }
}

/// The token for a run of characters without spaces; `None` if it consists of punctuation only.
fn word(text: &str) -> Result<Option<Item>, QueryFault> {
    let named = text.split_once([':', '：']);
    if let Some((_, host)) = named.filter(|(name, _)| name.eq_ignore_ascii_case("site")) {
        let site = site(host).map_err(|why| match why {
            NoSite::Empty => QueryFault::NoHost,
            NoSite::NoHost => QueryFault::BadHost,
            NoSite::Path => QueryFault::SiteWithPath,
        });
        return Ok(Some(Item::Site(site?)));
    }
    if text.strip_suffix('*').is_some_and(|word| word.ends_with(char::is_alphanumeric)) {
        return Err(QueryFault::Prefix);
    }
    match text {
        "OR" => Ok(Some(Item::Or)),
        "AND" => Ok(Some(Item::And)),
        "NOT" => Ok(Some(Item::Not)),
        _ => phrase(text, false),
    }
}

fn phrase(text: &str, is_quoted: bool) -> Result<Option<Item>, QueryFault> {
    let mut count = 0;
    for token in telling_tokens(text) {
        count += 1;
        if token.is_cut {
            return Err(QueryFault::TooLongWord);
        }
    }
    match Phrase::of(text) {
        Some(words) => Ok(Some(Item::Words { words, is_quoted })),
        None if count == 0 => Ok(None),
        None => Err(QueryFault::TooManyWords),
    }
}
