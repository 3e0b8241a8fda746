use super::asked::exactly;
use super::limits;
use super::neighbours::Neighbours;
use super::words::telling_tokens;

/// A sequence of words that must be adjacent in the title of a document, or in its text.
///
/// ```text
///  "new york"      new york                  finds  New York; NEW-YORK; in new, York
///  "東京タワー"    東京 京タ タワ ワー       finds  東京タワー, and not 東京都のタワー
///  "東京 2024"     東京 ·2024                the dot stands for 京, with which no word begins
/// ```
///
/// The words are segmented and normalised like those of documents ([`words()`](super::words())): case, width and
/// punctuation make no difference. Each word begins one or two units after the beginning of the previous word. In
/// scripts without spaces, words that are written together in the phrase must be written together in the text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Phrase {
    words: Vec<PhraseWord>,
}

/// A word of a [`Phrase`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PhraseWord {
    /// The word, normalised.
    pub word: String,
    /// True if between the beginnings of the previous word and this word there is a unit (a word or a character) at
    /// which no word of the phrase begins. False for the first word.
    pub skips: bool,
}

impl Phrase {
    /// Makes a phrase from words. `None` if there are no words or more than [`limits::WORDS`], if a word is empty or
    /// longer than [`limits::WORD_BYTES`], or if the first word skips a unit.
    pub fn new(words: Vec<PhraseWord>) -> Option<Self> {
        let is_one = (1..=limits::WORDS).contains(&words.len())
            && !words[0].skips
            && words.iter().all(|word| (1..=limits::WORD_BYTES).contains(&word.word.len()));
        is_one.then_some(Self { words })
    }

    /// Makes a phrase from a text. `None` if the text has no words, or more than [`limits::WORDS`].
    pub fn of(text: &str) -> Option<Self> {
        let mut next = 0;
        let words = telling_tokens(text).take(limits::WORDS + 1).map(|token| {
            // At most one unit is skipped: only the last unit of a run of characters begins no word, and a word begins
            // at the unit after it.
            let skips = token.unit > next;
            next = token.unit + 1;
            PhraseWord { word: token.word.into_owned(), skips }
        });
        Self::new(words.collect())
    }

    /// The words of the phrase in order: at least one.
    pub fn words(&self) -> &[PhraseWord] {
        &self.words
    }

    /// True if the phrase is written without spaces between words, as in Chinese, Japanese and Thai.
    pub(super) fn is_unspaced(&self) -> bool {
        self.words.iter().all(|word| exactly(&word.word) == word.word)
    }

    /// The pairs and triples of common words that are neighbours in the phrase, and so in each text that has it, as
    /// words of the index: the fewest that imply all others.
    pub(super) fn neighbours(&self) -> impl Iterator<Item = String> {
        let mut neighbours = Neighbours::default();
        for PhraseWord { word, skips } in &self.words {
            if *skips {
                neighbours.pause();
            }
            neighbours.push(word);
        }
        neighbours.telling()
    }

    /// The words, each with the unit at which it begins, counted from the beginning of the phrase.
    pub(super) fn places(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut place = 0;
        self.words.iter().enumerate().map(move |(number, word)| {
            place += if number == 0 { 0 } else { 1 + usize::from(word.skips) };
            (place, word.word.as_str())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of the phrase `text`, with a dot before each word that skips a unit.
    fn phrase(text: &str) -> String {
        let phrase = Phrase::of(text).unwrap();
        let words = phrase.words().iter().map(|word| format!("{}{}", if word.skips { "·" } else { "" }, word.word));
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn phrases_are_the_words_that_are_searched_for_in_their_places() {
        for (text, expected) in [
            ("New  YORK!", "new york"),
            ("東京タワー", "東京 京タ タワ ワー"),
            ("東京 2024", "東京 ·2024"),
            ("水 2024", "水 2024"),
            ("の、水と火", "の 水と と火"),
            ("東京・大阪", "東京 ·大阪"),
        ] {
            assert_eq!(phrase(text), expected, "{text}");
        }
        assert_eq!(Phrase::of("?!"), None);
        assert_eq!(Phrase::of(&"a ".repeat(limits::WORDS + 1)), None);
        assert!(Phrase::of(&"a ".repeat(limits::WORDS)).is_some());
    }

    #[test]
    fn what_is_no_phrase_is_refused() {
        let word = |word: &str, skips| PhraseWord { word: word.into(), skips };
        assert!(Phrase::new(vec![word("a", false), word("b", true)]).is_some());
        assert_eq!(Phrase::new(vec![]), None);
        assert_eq!(Phrase::new(vec![word("", false)]), None);
        assert_eq!(Phrase::new(vec![word("a", true)]), None);
        assert_eq!(Phrase::new(vec![word(&"a".repeat(limits::WORD_BYTES + 1), false)]), None);
        assert_eq!(Phrase::new(vec![word("a", false); limits::WORDS + 1]), None);
    }
}
