use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::{UnicodeSegmentation, UnicodeWordIndices};

/// The most bytes of a word; a longer one is cut at the character before, when it is published as when it is searched.
pub const MAX_WORD: usize = 128;

/// The most bytes of a character with its marks in scripts without spaces: two of them are a word.
const MAX_CLUSTER: usize = MAX_WORD / 2;

/// The words of a text under which it is to be found: as they come, repeats included.
///
/// ```text
///  "Naïve Bloom-filters, v1.2:"    naïve bloom filters v1.2
///  "東京タワー"                    東 京 東京 京タ タワ ワー
/// ```
///
/// - Text is cut at the word boundaries of Unicode (UAX #29), in any language, and then at everything that is no
///   letter, digit or mark: `foo_bar`, `don't` and `example.org` are two words each, so that each part is found. Only a
///   full stop between two digits stays, in `3.14` and `10.0.0.1`.
/// - Words are in normal form NFKC and without case: `ﬁ` is `fi`, full width is half width; `Straße`, `STRASSE` and
///   `strasse` are one word, so are `Σίσυφος` and `ΣΊΣΥΦΟΣ` (a final sigma is a sigma), and of the four i of Turkish
///   (`İ`, `I`, `ı`, `i`) there is one, because the language of a text is not known. Accents stay. What is not seen (soft
///   hyphen, joiners, variation selectors) is dropped.
/// - Scripts without spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese and others), and Korean, where
///   a word and its particles are written together, have a word for each two neighbouring characters; no dictionary is
///   needed, and whatever is searched for is found. A Chinese character or Korean syllable is also a word by itself,
///   other characters only if they stand alone.
/// - `C++` is `c`: what is only punctuation is no word.
///
/// **Cost.** Time in proportion to the text, memory to its longest stretch without a boundary. Text in ASCII and lower
/// case is not copied.
///
/// **Source.** Unicode Standard Annex #29 and #15. What differs is said above.
pub fn words(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    Tokens::new(text, false).map(|token| token.word)
}

/// The words to search for: those of [`words`] that imply the others. A text that holds 東京 holds 東 and 京.
pub(super) fn telling_tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    Tokens::new(text, false).filter(|token| !token.implied)
}

/// The words of [`words`], each with its unit, and with its place in the text, which takes more time.
pub(super) fn tokens(text: &str, located: bool) -> impl Iterator<Item = Token<'_>> {
    Tokens::new(text, located)
}

/// A word in its place.
pub(super) struct Token<'a> {
    pub(super) word: Cow<'a, str>,
    /// It is part of a longer one.
    pub(super) implied: bool,
    /// It was longer than [`MAX_WORD`].
    pub(super) is_cut: bool,
    /// Which of the text's units it begins with: words, or characters of scripts without spaces. A unit that only ends
    /// a word has a number, and no word that begins with it.
    pub(super) unit: usize,
    /// Its bytes in the text, if it was to be located: at least these, where normalising it leaves no more precise place.
    pub(super) span: Range<usize>,
}

/// Goes through the text piece by piece (between boundaries of UAX #29), and through a piece unit by unit: a word, or a
/// character of a script without spaces, which makes words with its neighbours.
struct Tokens<'a> {
    pieces: UnicodeWordIndices<'a>,
    /// The piece, normalised; what is before `at` is done.
    piece: Cow<'a, str>,
    at: usize,
    /// Where the piece begins and ends in the text.
    start: usize,
    end: usize,
    /// Units before this one.
    units: usize,
    located: bool,
    /// The ends of the piece's characters, normalised and in the piece, where these may differ and are to be known.
    ends: Vec<(usize, usize)>,
    /// The character before, if it is one of a script without spaces.
    last: Option<Cluster>,
    ready: VecDeque<Token<'a>>,
}

/// A character with its marks.
struct Cluster {
    text: String,
    kind: Kind,
    unit: usize,
    span: Range<usize>,
    /// There is another one before it.
    follows: bool,
}

/// How a character makes words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It does not.
    None,
    /// With all its neighbours.
    Spaced,
    /// With the next one.
    Paired,
    /// With the next one and by itself.
    Syllable,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a str, located: bool) -> Self {
        let pieces = text.unicode_word_indices();
        Self {
            pieces,
            piece: "".into(),
            at: 0,
            start: 0,
            end: 0,
            units: 0,
            located,
            ends: Vec::new(),
            last: None,
            ready: VecDeque::new(),
        }
    }

    /// Where these bytes of the piece are in the text.
    fn span(&self, part: Range<usize>) -> Range<usize> {
        if self.ends.is_empty() {
            return self.start + part.start..self.start + part.end;
        }
        let first = self.ends.partition_point(|&(end, _)| end <= part.start);
        let start = if first == 0 { 0 } else { self.ends[first - 1].1 };
        let last = self.ends.partition_point(|&(end, _)| end < part.end).min(self.ends.len() - 1);
        self.start + start..self.start + self.ends[last].1
    }

    /// Takes the next unit out of the piece; its word, if that is the next.
    fn step(&mut self) -> Option<Token<'a>> {
        let rest = &self.piece[self.at..];
        let c = rest.chars().next()?;
        let kind = kind(c);
        if kind == Kind::None {
            let span = self.span(self.at..self.at + c.len_utf8());
            self.at += c.len_utf8();
            match &mut self.last {
                // Thai am comes apart into a mark of the character before, and another character.
                Some(last) if is_combining_mark(c) && last.text.len() + c.len_utf8() <= MAX_CLUSTER => {
                    last.text.push(c);
                    last.span.end = span.end;
                }
                _ => self.end_run(),
            }
            return None;
        }
        let length = if kind == Kind::Spaced { word_length(rest) } else { cluster_length(rest) };
        let start = self.at;
        self.at += length;
        let (unit, span) = (self.units, self.span(start..self.at));
        self.units += 1;
        if kind == Kind::Spaced {
            self.end_run();
            let word = match &self.piece {
                Cow::Borrowed(piece) => Cow::Borrowed(cut(&piece[start..self.at], MAX_WORD)),
                Cow::Owned(piece) => Cow::Owned(cut(&piece[start..self.at], MAX_WORD).to_owned()),
            };
            let token = Token { word, implied: false, is_cut: length > MAX_WORD, unit, span };
            if self.ready.is_empty() {
                return Some(token);
            }
            self.ready.push_back(token);
        } else {
            let text = cut(&self.piece[start..self.at], MAX_CLUSTER).to_owned();
            self.push_cluster(Cluster { text, kind, unit, span, follows: self.last.is_some() });
        }
        None
    }

    fn push_cluster(&mut self, cluster: Cluster) {
        if let Some(last) = self.last.take() {
            let pair = format!("{}{}", last.text, cluster.text);
            let span = last.span.start..cluster.span.end;
            let unit = last.unit;
            if last.kind == Kind::Syllable {
                self.ready.push_back(last.into_token(true));
            }
            self.ready.push_back(Token { word: pair.into(), implied: false, is_cut: false, unit, span });
        }
        self.last = Some(cluster);
    }

    /// The character before has no neighbour after it.
    fn end_run(&mut self) {
        if let Some(last) = self.last.take()
            && (last.kind == Kind::Syllable || !last.follows)
        {
            let implied = last.follows;
            self.ready.push_back(last.into_token(implied));
        }
    }
}

impl Cluster {
    fn into_token<'a>(self, implied: bool) -> Token<'a> {
        Token { word: self.text.into(), implied, is_cut: false, unit: self.unit, span: self.span }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            if let Some(token) = self.ready.pop_front() {
                return Some(token);
            }
            if self.at < self.piece.len() {
                if let Some(token) = self.step() {
                    return Some(token);
                }
                continue;
            }
            let Some((start, piece)) = self.pieces.next() else {
                self.end_run();
                return self.ready.pop_front();
            };
            if start != self.end {
                self.end_run();
            }
            self.start = start;
            self.end = start + piece.len();
            self.piece = normalised(piece);
            self.at = 0;
            self.ends = if self.located && !piece.is_ascii() { ends(piece, &self.piece) } else { Vec::new() };
        }
    }
}

/// For each character, as readers see them, where it ends in the normal form and in the piece; for the piece as a whole,
/// if normalising joins its characters.
fn ends(piece: &str, normal: &str) -> Vec<(usize, usize)> {
    let mut ends = Vec::new();
    let mut end = 0;
    for (at, character) in piece.grapheme_indices(true) {
        let part = normalised(character);
        if !normal[end..].starts_with(&*part) {
            return vec![(normal.len(), piece.len())];
        }
        end += part.len();
        ends.push((end, at + character.len()));
    }
    if end == normal.len() { ends } else { vec![(normal.len(), piece.len())] }
}

/// How long the word at the beginning is, of a script with spaces.
fn word_length(text: &str) -> usize {
    let mut before = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let stays = match c {
            '.' => before.is_some_and(char::is_numeric) && chars.peek().is_some_and(|&(_, next)| next.is_numeric()),
            _ => kind(c) == Kind::Spaced || is_combining_mark(c),
        };
        if !stays {
            return at;
        }
        before = Some(c);
    }
    text.len()
}

/// How long the character at the beginning is, with its marks.
fn cluster_length(text: &str) -> usize {
    text.char_indices().skip(1).find(|&(_, c)| !is_combining_mark(c)).map_or(text.len(), |(at, _)| at)
}

/// The beginning of a word, at most so many bytes; no word ends in a full stop.
fn cut(word: &str, most: usize) -> &str {
    let mut end = most.min(word.len());
    while !word.is_char_boundary(end) {
        end -= 1;
    }
    word[..end].trim_end_matches('.')
}

/// NFKC and without case; what is not seen is gone.
fn normalised(piece: &str) -> Cow<'_, str> {
    if piece.is_ascii() {
        return match piece.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => Cow::Owned(piece.to_ascii_lowercase()),
            false => Cow::Borrowed(piece),
        };
    }
    let visible = piece.chars().filter(|&c| !is_ignorable(c));
    let mut last = ' ';
    let folded = visible.nfkc().flat_map(fold).filter(move |&c| {
        // The dot that is left of İ.
        let stays = c != '\u{307}' || last != 'i';
        if stays {
            last = c;
        }
        stays
    });
    Cow::Owned(folded.nfkc().collect())
}

/// Without case: there and back again, so that what has no lower case of its own takes part (ß is SS is ss, ς is Σ is σ).
fn fold(c: char) -> impl Iterator<Item = char> {
    c.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase)
}

/// What Unicode calls default ignorable, as far as it occurs inside words.
fn is_ignorable(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

fn kind(c: char) -> Kind {
    match c {
        '\0'..='\u{7f}' if c.is_ascii_alphanumeric() => Kind::Spaced,
        '\0'..='\u{7f}' => Kind::None,
        _ if !c.is_alphanumeric() || is_combining_mark(c) => Kind::None,
        // Chinese characters, and Korean.
        '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3038}'..='\u{303b}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'
        | '\u{1100}'..='\u{11ff}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}' => Kind::Syllable,
        // Kana.
        '\u{3031}'..='\u{3035}' | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{1aff0}'..='\u{1b16f}'
        // Thai and Lao, Burmese, Khmer, the scripts of Tai languages.
        | '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{a9e0}'..='\u{a9ff}' | '\u{aa60}'..='\u{aa7f}'
        | '\u{1780}'..='\u{17ff}' | '\u{1950}'..='\u{19df}' | '\u{1a20}'..='\u{1aaf}' | '\u{aa80}'..='\u{aadf}'
            // Their digits make numbers.
            if !c.is_numeric() => Kind::Paired,
        _ => Kind::Spaced,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

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
            ("don't foo_bar example.org std::vec C++ a.b.", "don t foo bar example org std vec c a b"),
            ("3.14 10.0.0.1 1,000 1.2.3-4 v1.x 5.", "3.14 10.0.0.1 1 000 1.2.3 4 v1 x 5"),
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
        assert_eq!(all("東京タワー").join(" "), "東 東京 京 京タ タワ ワー");
        assert_eq!(telling("東京タワー").join(" "), "東京 京タ タワ ワー");
        assert_eq!(telling("水").join(" "), "水");
        assert_eq!(telling("の、水と").join(" "), "の 水と");
        assert_eq!(all("furuiは篩です。").join(" "), "furui は篩 篩 篩で です");
        assert_eq!(all("ﾃﾞｰﾀﾍﾞｰｽ"), all("データベース"));
        assert_eq!(all("時々").join(" "), "時 時々 々");
        assert_eq!(all("서울에서 책").join(" "), "서 서울 울 울에 에 에서 서 책");
        // Each character with its marks.
        assert_eq!(all("น้ำ").join(" "), "น้ํา");
        assert_eq!(all("ภาษาไทย ๑๒").join(" "), "ภา าษ ษา าไ ไท ทย ๑๒");
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
        assert_eq!(all(&long), [String::from("é").repeat(MAX_WORD / 2)]);
        assert_eq!(all(&format!("{long}x")), all(&long));
        assert_eq!(all(&"€".repeat(3)), Vec::<String>::new());
        assert_eq!(all(&format!("a{}", "₁".repeat(100)))[0], "a");
        let stops = format!("{}.1", "1".repeat(MAX_WORD - 1));
        assert_eq!(all(&stops), ["1".repeat(MAX_WORD - 1)]);
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
                prop_assert!(word.len() <= MAX_WORD && !word.is_empty());
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
                prop_assert!(all(place).contains(&token.word.into_owned()), "{:?}", place);
                prop_assert!(token.unit >= unit);
                unit = token.unit;
            }
        }

        #[test]
        fn text_around_it_changes_no_word(left in alphabet(), right in alphabet()) {
            let both = format!("{left} . {right}");
            prop_assert_eq!(all(&both), [all(&left), all(&right)].concat());
        }
    }
}
