mod ascii;
mod character;
mod form;
mod parts;
mod stretches;
mod tokens;

use std::borrow::Cow;
use std::ops::Range;

pub(crate) use form::{Form, form_of, forms};
pub use parts::in_parts;
pub(super) use tokens::Tokens;

/// The words under which a text is found, in their order, with repetitions.
///
/// ```text
///  "Naïve Bloom-filters, v1.2:"    naïve bloom filters v1.2
///  "東京タワー"                    東 京 東京 京タ タワ ワー
/// ```
///
/// - Text is cut at the word boundaries of Unicode (UAX #29), in any language, and at everything that is not a letter,
///   digit or mark: `foo_bar`, `don't` and `example.org` are two words each, so that each part is found. A full stop
///   between two digits does not cut: `3.14` and `10.0.0.1` are words.
/// - Words are in normal form NFKC, and case folded: `ﬁ` is `fi`, full width is half width; `Straße`, `STRASSE` and
///   `strasse` are one word, and so are `Σίσυφος` and `ΣΊΣΥΦΟΣ` (a final sigma is a sigma). The four i of Turkish (`İ`,
///   `I`, `ı`, `i`) are one letter, because the language of a text is unknown. Accents are kept. Invisible characters
///   (soft hyphens, joiners, variation selectors) are dropped.
/// - In scripts without spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese and others), and in Korean,
///   where a word and its particles are written together, each pair of neighbouring characters is a word. No dictionary
///   is needed, and any substring is found. Each character is also a word by itself.
/// - A document is also found by the parts of its names, as `default` in `getOrDefault`, and by whole names of several
///   words, as `pg_index` and `os.path`; these are not among the words.
/// - Punctuation is not part of words, but for the names `C++`, `g++`, `C#`, `F#` and `.NET`. The letter before the
///   number of a version is none either: `v3.11` is `3.11`.
///
/// **Cost.** Time proportional to the text, and memory proportional to its longest stretch without a boundary.
/// Lower-case ASCII text is not copied.
///
/// **Source.** Unicode Standard Annexes #29 and #15, with the differences above.
pub fn words(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    Tokens::new(text, false).filter(|token| !token.is_part).map(|token| token.word)
}

/// The words to use in a search: those words of [`words`] that no other word implies. For example, a text with the word
/// 東京 also contains the words 東 and 京.
pub(super) fn telling_tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    Tokens::new(text, false).filter(|token| !token.implied && !token.is_part)
}

/// The words of [`words`], each as a [`Token`]. If `located` is true, the byte range in the text is computed too, which
/// takes more time.
pub(super) fn tokens(text: &str, located: bool) -> Tokens<'_> {
    Tokens::new(text, located)
}

/// A word with its position in the text.
#[derive(Clone)]
pub(super) struct Token<'a> {
    pub(super) word: Cow<'a, str>,
    /// True if the word is part of a longer word, which implies it.
    pub(super) implied: bool,
    /// True for a part of a name, as `default` in `getOrDefault`, which begins at the unit of the name, and for a name
    /// of several words, as `pg_index`, which is reported at the unit of the last one.
    pub(super) is_part: bool,
    /// True if the word was longer than [`WORD_BYTES`](crate::limits::WORD_BYTES), and was cut.
    pub(super) is_cut: bool,
    /// The index of the unit at which the word begins. Units are words, or characters of scripts without spaces. A
    /// character at which no word begins is a unit, too.
    pub(super) unit: usize,
    /// The byte range of the word in the text, if requested. If normalisation leaves no exact position, the range is
    /// larger.
    pub(super) span: Range<usize>,
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::limits;

    fn all(text: &str) -> Vec<String> {
        words(text).map(Cow::into_owned).collect()
    }

    fn telling(text: &str) -> Vec<String> {
        telling_tokens(text).map(|token| token.word.into_owned()).collect()
    }

    #[test]
    fn words_are_cut_at_everything_that_is_no_letter_or_digit() {
        for (text, expected) in [
            ("", ""),
            (" -- ?! ... 👍 ", ""),
            ("The Quick (\"brown\") fox", "the quick brown fox"),
            ("don't foo_bar example.org std::vec C++ a.b.", "don t foo bar example org std vec c++ a b"),
            ("3.14 10.0.0.1 1,000 1.2.3-4 v1.x v3.11 5.", "3.14 10.0.0.1 1 000 1.2.3 4 v1 x 3.11 5"),
            ("end.Next l’arbre", "end next l arbre"),
            ("x² H₂O ½ ﷺ", "x 2 h 2 o 1 2 صلى الله عليه وسلم"),
            ("ＦＵＬＬ　Ｗｉｄｔｈ", "full width"),
        ] {
            assert_eq!(all(text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn case_and_what_is_not_seen_make_no_difference() {
        for same in [
            &["Straße", "STRASSE", "strasse", "STRAẞE", "stra\u{ad}sse"][..],
            &["Σίσυφος", "ΣΊΣΥΦΟΣ", "σίσυφοσ"],
            &["İstanbul", "ISTANBUL", "ıstanbul", "istanbul", "i\u{307}stanbul"],
            &["Café", "CAFE\u{301}"],
            &["ﬁle", "FILE"],
            &["می\u{200c}خواهم", "میخواهم"],
            &["ＡＢＣ", "abc"],
        ] {
            for text in same {
                assert_eq!(all(text), all(same[0]), "{text}");
            }
            assert_eq!(all(same[0]).len(), 1, "{}", same[0]);
        }
        assert_ne!(all("café"), all("cafe"));
    }

    #[test]
    fn scripts_without_spaces_have_words_of_two_characters() {
        assert_eq!(all("東京タワー").join(" "), "東 東京 京 京タ タ タワ ワ ワー ー");
        assert_eq!(telling("東京タワー").join(" "), "東京 京タ タワ ワー");
        assert_eq!(telling("水").join(" "), "水");
        assert_eq!(telling("の、水と").join(" "), "の 水と");
        assert_eq!(all("furuiは篩です。").join(" "), "furui は は篩 篩 篩で で です す");
        assert_eq!(all("ﾃﾞｰﾀﾍﾞｰｽ"), all("データベース"));
        assert_eq!(telling("データベース").join(" "), "デー ータ タベ ベー ース");
        assert_eq!(all("時々").join(" "), "時 時々 々");
        assert_eq!(all("서울에서 책").join(" "), "서 서울 울 울에 에 에서 서 책");
        // Each character with its marks.
        assert_eq!(telling("น้ำ").join(" "), "น้ํา");
        assert_eq!(telling("ภาษาไทย ๑๒").join(" "), "ภา าษ ษา าไ ไท ทย ๑๒");
        // Scripts with spaces keep their words, with all marks.
        assert_eq!(all("नमस्ते दुनिया").join(" "), "नमस्ते दुनिया");
    }

    #[test]
    fn what_is_searched_for_is_found_inside_longer_text() {
        let text: HashSet<String> =
            words("吾輩は猫である。名前はまだ無い。データベースを検索する").map(Cow::into_owned).collect();
        for query in ["吾輩", "猫", "名前", "データ", "ベース", "検索", "猫である", "無い"] {
            assert!(telling(query).iter().all(|word| text.contains(word)), "{query}");
        }
        assert!(!telling("犬").iter().all(|word| text.contains(word)));
        assert!(!telling("前名").iter().all(|word| text.contains(word)));
    }

    #[test]
    fn long_words_are_cut_alike_and_between_characters() {
        let long = "é".repeat(1000);
        assert_eq!(all(&long), [String::from("é").repeat(limits::WORD_BYTES / 2)]);
        assert_eq!(all(&format!("{long}x")), all(&long));
        assert_eq!(all(&"€".repeat(3)), Vec::<String>::new());
        assert_eq!(all(&format!("a{}", "₁".repeat(100)))[0], "a");
        let stops = format!("{}.1", "1".repeat(limits::WORD_BYTES - 1));
        assert_eq!(all(&stops), ["1".repeat(limits::WORD_BYTES - 1)]);
    }

    #[test]
    fn text_in_lower_case_is_not_copied() {
        assert!(words("plain text 1.5").all(|word| matches!(word, Cow::Borrowed(_))));
    }

    #[test]
    fn every_character_is_normalised_once() {
        for c in ('\0'..=char::MAX).filter(|c| !c.is_ascii()) {
            let text = format!("a{c}b {c}");
            for word in words(&text) {
                assert_eq!(telling(&word), [word], "{c:?}");
            }
        }
    }

    fn alphabet() -> impl Strategy<Value = String> {
        let picked = prop::sample::select(
            "aI.9'- _ßςİ\u{307}\u{301}\u{ad}e日本ーカのไน้\u{e33}각ᄀ\u{1161}א\"ﷺ½،٣नम्\u{200d}👍é"
                .chars()
                .collect::<Vec<_>>(),
        );
        prop::collection::vec(prop_oneof![4 => picked, 1 => any::<char>()], 0..30)
            .prop_map(|chars| chars.into_iter().collect())
    }

    proptest! {
        #[test]
        fn words_are_words_already(text in alphabet()) {
            for word in words(&text) {
                prop_assert!(word.len() <= limits::WORD_BYTES && !word.is_empty());
                prop_assert_eq!(telling(&word), [word]);
            }
        }

        #[test]
        fn a_query_asks_for_nothing_that_its_own_text_lacks(text in alphabet()) {
            let all: HashSet<String> = words(&text).map(Cow::into_owned).collect();
            prop_assert!(telling_tokens(&text).all(|token| all.contains(&*token.word)));
        }

        #[test]
        fn words_lie_where_they_are_said_to(text in alphabet()) {
            let mut unit = 0;
            for token in tokens(&text, true) {
                let place = text.get(token.span.clone()).expect("between characters");
                // A symbol like ㌀, which normalises to アパート, makes words only beside letters.
                let is_symbol = !place.contains(char::is_alphanumeric);
                let is_there = all(place).contains(&token.word.clone().into_owned());
                prop_assert!(is_symbol || token.is_part || is_there, "{:?}", place);
                prop_assert!(token.unit >= unit);
                unit = token.unit;
            }
        }

        #[test]
        fn white_space_separates_words(text in alphabet(), space in prop::sample::select(vec![" ", "\n", "\r\n", "\t "])) {
            // A text this short is one stretch.
            let text: String = text.chars().take(20).collect();
            let spaced = text.replace(['-', '_', '\''], space);
            let parts: Vec<String> = spaced.split_ascii_whitespace().flat_map(all).collect();
            prop_assert_eq!(all(&spaced), parts);
        }

        #[test]
        fn skipped_stretches_count(parts in prop::collection::vec("[a-z1.]{1,20}|東京|[あ-う]{1,4}", 0..60)) {
            let text = parts.join(" ");
            let place = |token: Token<'_>| (token.word.into_owned(), token.unit, token.span);
            let whole: Vec<_> = tokens(&text, true).filter(|token| !token.is_part).map(place).collect();
            let mut some = tokens(&text, true);
            let (mut found, wanted) = (Vec::new(), |stretch: &str| stretch.contains('7'));
            while let Some(token) = some.next_of(wanted) {
                if !token.is_part {
                    found.push(place(token));
                }
            }
            prop_assert_eq!(some.skipped() as usize + found.len(), whole.len());
            prop_assert!(found.iter().all(|it| whole.contains(it)));
            prop_assert!(whole.iter().all(|it| it.0.is_ascii() || found.contains(it)));
        }

        #[test]
        fn text_around_it_changes_no_word(left in alphabet(), right in alphabet()) {
            let both = format!("{left} . {right}");
            prop_assert_eq!(all(&both), [all(&left), all(&right)].concat());
        }
    }
}
