use super::list_of;

/// The minimum length, in characters, of a word for which other spellings are suggested.
const SHORTEST: usize = 4;
/// The length, in characters, from which a word may have two wrong letters. Measured: with two, most suggestions for
/// shorter words are wrong.
const LONG: usize = 7;
/// What a common first letter is worth, in letters, and what a doubling of the documents is. Measured on manuals, where
/// 95 to 100 % of the first suggestions for one wrong letter are right.
const FIRST_LETTER: f64 = 0.5;
const DOUBLING: f64 = 0.12;

/// Finds the words that somebody may have meant who wrote a word that no document has.
///
/// ```
/// use furui_search::Spelling;
///
/// let spelling = Spelling::of("dictionery").expect("it is long enough");
/// assert!(spelling.cost("dictionary", 100) < spelling.cost("dictionaries", 100).or(Some(9.0)));
/// assert_eq!(spelling.cost("directory", 100), None);
/// ```
#[derive(Clone, Debug)]
pub struct Spelling {
    word: Vec<char>,
    most: usize,
}

impl Spelling {
    /// Prepares the comparison with a word of a query. `None` if the word is too short for suggestions, or is no word
    /// of a text.
    pub fn of(word: &str) -> Option<Self> {
        let list = list_of(word);
        let word: Vec<char> = list.chars().collect();
        let is_word = word.len() >= SHORTEST && word.iter().all(|c| c.is_alphabetic());
        let most = if word.len() < LONG { 1 } else { 2 };
        is_word.then_some(Self { word, most })
    }

    /// How far the name of a list with this number of documents is from the word: the number of letters that are wrong,
    /// missing, too many or exchanged with a neighbour, less what a common first letter and many documents are worth.
    /// `None` if more than one letter differs, or two in a word of seven letters and more.
    ///
    /// **Source.** The distance is that of Damerau (1964), by Wagner and Fischer's table.
    pub fn cost(&self, list: &str, documents: u64) -> Option<f64> {
        // Another node may name anything. Neighbours of common words have spaces: `ofthe` is `of the`.
        let is_word = list.chars().all(|c| c.is_alphabetic() || c == ' ');
        if list.len() > 4 * (self.word.len() + self.most) || !is_word {
            return None;
        }
        let other: Vec<char> = list.chars().collect();
        let distance = self.distance(&other).filter(|distance| *distance > 0)?;
        let first = if self.word.first() == other.first() { FIRST_LETTER } else { 0.0 };
        Some(distance as f64 - first - DOUBLING * (documents.max(1) as f64).log2())
    }

    /// The texts with which most words begin that are near: the first letter, and the second one in its place.
    pub fn beginnings(&self) -> impl Iterator<Item = String> {
        let [first, second] = [0, 1].map(|place| self.word[place].to_string());
        let second = Some(second).filter(|second| *second != first);
        [Some(first), second].into_iter().flatten()
    }

    fn distance(&self, other: &[char]) -> Option<usize> {
        let word = &self.word;
        if word.len().abs_diff(other.len()) > self.most {
            return None;
        }
        let mut rows = [vec![0; other.len() + 1], (0..=other.len()).collect(), vec![0; other.len() + 1]];
        for (at, letter) in word.iter().enumerate() {
            let [before, last, row] = &mut rows;
            row[0] = at + 1;
            for (place, of) in other.iter().enumerate() {
                let changed = last[place] + usize::from(letter != of);
                row[place + 1] = changed.min(last[place + 1] + 1).min(row[place] + 1);
                let is_exchanged = at > 0 && place > 0 && *letter == other[place - 1] && word[at - 1] == *of;
                if is_exchanged {
                    row[place + 1] = row[place + 1].min(before[place - 1] + 1);
                }
            }
            if row.iter().all(|distance| *distance > self.most) {
                return None;
            }
            rows.rotate_left(1);
        }
        Some(rows[1][other.len()]).filter(|distance| *distance <= self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_those_with_one_or_two_wrong_letters() {
        let is_near = |word: &str, other: &str| Spelling::of(word).is_some_and(|it| it.cost(other, 1).is_some());
        for (word, other) in [
            ("dictionery", "dictionary"),
            ("recieve", "receive"),
            ("vaccum", "vacuum"),
            ("asynico", "asyncio"),
            ("pyhton", "python"),
            ("ynix", "unix"),
            ("authetnicaton", "authentication"),
        ] {
            assert!(is_near(word, other), "{word}");
        }
        for (word, other) in [("unix", "unix"), ("unix", "xinu"), ("unix", "uni"), ("cat", "cut"), ("utf8", "utf9")] {
            assert_eq!(is_near(word, other), (word, other) == ("unix", "uni"), "{word}");
        }
        assert!(is_near("ofthe", "of the") && !is_near("kernel", "=kernel") && !is_near("sites", "site:"));
        let spelling = Spelling::of("kernal").unwrap();
        assert!(spelling.cost("kernel", 9) < spelling.cost("kernel", 2));
        assert!(spelling.cost("kernel", 9) < spelling.cost("vernal", 9).or(Some(9.0)));
        assert_eq!(spelling.beginnings().collect::<Vec<_>>(), ["k", "e"]);
        assert_eq!(Spelling::of("aaaa").unwrap().beginnings().count(), 1);
    }
}
