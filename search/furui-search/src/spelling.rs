use super::list_of;
use super::words::forms;

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
    /// The word as it was written.
    written: Vec<char>,
    /// The name of the list that it would have.
    word: Vec<char>,
    most: usize,
}

impl Spelling {
    /// Prepares the comparison with a word of a query. `None` if the word is too short for suggestions, or is no word
    /// of a text.
    pub fn of(word: &str) -> Option<Self> {
        let list = list_of(word);
        let (written, word): (Vec<char>, Vec<char>) = (word.chars().collect(), list.chars().collect());
        let is_word = written.len() >= SHORTEST && word.len() > 1 && written.iter().all(|c| c.is_alphabetic());
        let most = if word.len() < LONG { 1 } else { 2 };
        is_word.then_some(Self { written, word, most })
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
        let distance = distance(&self.word, &other, self.most).filter(|distance| *distance > 0)?;
        let is_exchanged = other.len() > 1 && [other[1], other[0]] == self.word[..2];
        let first = if self.word.first() == other.first() || is_exchanged { FIRST_LETTER } else { 0.0 };
        Some(distance as f64 - first - DOUBLING * (documents.max(1) as f64).log2())
    }

    /// The word of this list that is nearest to what was written: `notes` of the list `note` for `notjes`.
    pub fn meant(&self, list: &str) -> String {
        let most = self.written.len();
        let cost = |form: &String| distance(&self.written, &form.chars().collect::<Vec<_>>(), most).unwrap_or(most);
        let is_word = list.bytes().all(|byte| byte.is_ascii_alphabetic());
        forms(list).filter(|_| is_word).min_by_key(cost).unwrap_or_else(|| list.to_owned())
    }

    /// The texts with which most words begin that are near: the first letter, the second one in its place, and, of a
    /// word in ASCII, each letter before the first two or in place of the first one.
    pub fn beginnings(&self) -> impl Iterator<Item = String> {
        let text = |letters: &[char]| letters.iter().collect::<String>();
        let mut first = vec![text(&self.word[..1]), text(&self.word[1..2])];
        first.dedup();
        let rest = [text(&self.word[..2]), text(&self.word[1..self.word.len().min(3)])];
        let letters = ('a'..='z').filter(|_| self.word.iter().all(char::is_ascii));
        let others = letters.flat_map(|letter| rest.each_ref().map(|rest| format!("{letter}{rest}")));
        let others: Vec<String> = others.filter(|other| !first.iter().any(|first| other.starts_with(first))).collect();
        first.into_iter().chain(others)
    }
}

/// The number of letters that are wrong, missing, too many or exchanged with a neighbour; `None` if more than `most`.
fn distance(word: &[char], other: &[char], most: usize) -> Option<usize> {
    if word.len().abs_diff(other.len()) > most {
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
        if row.iter().all(|distance| *distance > most) {
            return None;
        }
        rows.rotate_left(1);
    }
    Some(rows[1][other.len()]).filter(|distance| *distance <= most)
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
        assert!(Spelling::of("ilst").unwrap().cost("list", 9) < Spelling::of("ilst").unwrap().cost("ist", 8));
        for (word, list) in
            [("xamples", "example"), ("ocale", "locale"), ("arameter", "parameter"), ("zarameter", "parameter")]
        {
            let begins = |beginning: String| list.starts_with(&beginning);
            assert!(Spelling::of(word).unwrap().beginnings().any(begins), "{word}");
        }
        assert_eq!(Spelling::of("большой").unwrap().beginnings().count(), 2);
        for (word, list, meant) in [
            ("notjes", "note", "notes"),
            ("proerties", "property", "properties"),
            ("tpes", "type", "types"),
            ("kernal", "kernel", "kernel"),
            ("größse", "grösse", "grösse"),
            ("indicse", "index", "indices"),
        ] {
            assert_eq!(Spelling::of(word).unwrap().meant(list), meant);
        }
    }
}
