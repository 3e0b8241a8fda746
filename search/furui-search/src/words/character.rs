//! Classifies and normalises characters.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The way in which a character forms words.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The character is part of no word.
    None,
    /// The character forms one word with its neighbours, as in scripts that put spaces between words.
    Spaced,
    /// The character forms a word on its own, and one with the next character.
    Unspaced,
}

/// Normalises a piece of text: normal form NFKC, case folded, without invisible characters.
pub(super) fn normalised(piece: &str) -> Cow<'_, str> {
    if piece.is_ascii() {
        return match piece.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => Cow::Owned(piece.to_ascii_lowercase()),
            false => Cow::Borrowed(piece),
        };
    }
    let visible = piece.chars().filter(|&c| !is_ignorable(c));
    let mut last = ' ';
    let folded = visible.nfkc().flat_map(fold).filter(move |&c| {
        // This removes the dot that case folding leaves of İ.
        let stays = c != '\u{307}' || last != 'i';
        if stays {
            last = c;
        }
        stays
    });
    Cow::Owned(folded.nfkc().collect())
}

/// Case folding: to upper case and back, so that letters with a common upper case become equal (ß becomes SS, then ss;
/// ς becomes Σ, then σ).
fn fold(c: char) -> impl Iterator<Item = char> {
    c.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase)
}

/// True for the default ignorable characters of Unicode that occur inside words.
fn is_ignorable(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

pub(super) fn kind(c: char) -> Kind {
    match c {
        '\0'..='\u{7f}' if c.is_ascii_alphanumeric() => Kind::Spaced,
        '\0'..='\u{7f}' => Kind::None,
        _ if !c.is_alphanumeric() || is_combining_mark(c) => Kind::None,
        // Chinese characters, and Korean.
        '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3038}'..='\u{303b}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'
        | '\u{1100}'..='\u{11ff}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}'
        // Japanese kana.
        | '\u{3031}'..='\u{3035}' | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{1aff0}'..='\u{1b16f}'
        // Thai and Lao, Burmese, Khmer, the scripts of Tai languages.
        | '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{a9e0}'..='\u{a9ff}' | '\u{aa60}'..='\u{aa7f}'
        | '\u{1780}'..='\u{17ff}' | '\u{1950}'..='\u{19df}' | '\u{1a20}'..='\u{1aaf}' | '\u{aa80}'..='\u{aadf}'
            => if ('\u{e00}'..='\u{1aaf}').contains(&c) && c.is_numeric() {
                // Digits of these scripts form numbers, not pairs.
                Kind::Spaced
            } else {
                Kind::Unspaced
            },
        _ => Kind::Spaced,
    }
}
