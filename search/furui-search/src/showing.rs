use super::fit::{Fit, Numbered};
use super::pattern::Found;
use super::record::own_title;
use super::snippet::{Marks, snippet};
use super::weight::InTitle;
use super::words::Form;
use super::{Asked, Clause, Grade, Record, RecordHead, Scale, Score, SimHash, Snippet, Weight, limits};

/// The data about a document that a node which keeps it sends to a node that searches: enough to show and rank a result
/// without the text.
///
/// URL and title are proved by the id of the document ([`RecordHead::id`]). Only the whole [`Record`] proves the
/// weights and the snippet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Showing {
    /// URL and title, with what is needed to compute the id.
    pub head: RecordHead,
    /// How well the document answers the query's words, in the order of [`Showings::words`]; `None` for a word that
    /// does not occur.
    pub grades: Vec<Option<Grade>>,
    /// The lengths of document and title: [`Weight::size_bits`].
    pub size_bits: u16,
    /// The number of words of the shortest part of title or text that has all required words of a clause; 0 if there is
    /// none, or it has more than 255.
    pub window: u8,
    /// The SimHash of the text, by which a search finds results with nearly the same text.
    pub simhash: Option<SimHash>,
    /// An excerpt of the text with words of the query.
    pub snippet: Snippet,
}

/// Makes the [`Showing`]s of documents for a query's clauses.
///
/// All required phrases of the clauses are marked in the snippet, and so are the required words of a clause that are in
/// none of its phrases. The piece with the most different marks is chosen. Among equal pieces, the number of all marks
/// decides, then the order in the text. A piece begins and ends between words, unless a word is very long; in Japanese
/// text, between almost any two characters.
///
/// **Cost.** One pass over title and text for the words, the phrases and the marks; memory proportional to the marks.
///
/// ```
/// use furui_search::{Grade, PublisherKey, Query, Record, Showings};
///
/// let query = Query::parse("sieve -coffee")?;
/// let showings = Showings::new(query.clauses()).expect("few phrases");
/// let record = |text: &str| Record {
///     url: "https://example.org/".into(), title: String::new(), text: text.into(), publisher: PublisherKey::new([7; 32]),
/// };
/// let showing = showings.of(&record("A sieve, and a sieve.")).expect("it fits");
/// assert_eq!(showing.grades, [Some(Grade::of_bits(0).expect("once, as asked")), None], "so short a text repeats none");
/// assert_eq!(showing.snippet.text, "A sieve, and a sieve.");
/// assert_eq!(showings.of(&record("A coffee sieve.")), None);
/// # Ok::<(), furui_search::QueryError>(())
/// ```
#[derive(Debug)]
pub struct Showings<'a> {
    fit: Fit<'a>,
    /// For each word and then each phrase, true if it is marked in snippets.
    marked: Vec<bool>,
}

impl<'a> Showings<'a> {
    /// Prepares the making of showings for these clauses. `None` if they have more than [`limits::PHRASES`] distinct
    /// phrases.
    pub fn new(clauses: &'a [Clause]) -> Option<Self> {
        let fit = Fit::new(clauses)?;
        let mut marked = vec![false; fit.words() + fit.phrases()];
        for numbered in fit.clauses() {
            numbered.phrases().iter().for_each(|&phrase| marked[fit.words() + phrase] = true);
            let Clause { must, phrases, .. } = numbered.clause;
            for word in must {
                if !phrases.iter().flat_map(|phrase| phrase.words()).any(|other| other.word == Asked::of(word).word()) {
                    marked[fit.number(word)] = true;
                }
            }
        }
        Some(Self { fit, marked })
    }

    /// The distinct words of the clauses, in the order of their first occurrence; in a clause, the required words
    /// precede the excluded ones.
    pub fn words(&self) -> Vec<&str> {
        let mut words = vec![""; self.fit.words()];
        for Numbered { clause, .. } in self.fit.clauses() {
            clause.must.iter().chain(&clause.without).for_each(|word| words[self.fit.number(word)] = word);
        }
        words
    }

    /// Makes the showing of this record; `None` if there are clauses and it matches none of them.
    pub fn of(&self, record: &Record) -> Option<Showing> {
        let (fits, showing) = self.view(record);
        fits.then_some(showing)
    }

    /// Returns true if the record matches, and its showing. The snippet of a record that does not match is empty.
    pub fn view(&self, record: &Record) -> (bool, Showing) {
        let Scanned { fits, grades, size_bits, window, title_marks, marks } = self.scan(record);
        let snippet = match fits {
            true => snippet(&record.text, title_marks, marks, self.marked.len(), limits::SNIPPET),
            false => Snippet::default(),
        };
        let simhash = if fits { SimHash::of(&record.text) } else { None };
        (fits, Showing { head: record.head(), grades, size_bits, window, simhash, snippet })
    }

    /// Makes the snippet of a record with at most `most` characters of its text, even if the record does not match.
    #[cfg(test)]
    pub(super) fn snippet(&self, record: &Record, most: usize) -> Snippet {
        let Scanned { title_marks, marks, .. } = self.scan(record);
        snippet(&record.text, title_marks, marks, self.marked.len(), most)
    }

    fn scan(&self, record: &Record) -> Scanned {
        let words = self.fit.words();
        let (mut uses, mut phrases) = (vec![Use::default(); words], vec![false; self.fit.phrases()]);
        let clauses: Vec<Vec<usize>> = self.fit.clauses().map(|clause| clause.words().collect()).collect();
        let (mut length, mut window) = (0_u32, usize::MAX);
        let mut scan = |text: &str, times: u32| {
            let mut marks = Marks::default();
            let mut last: Vec<Option<usize>> = vec![None; words];
            let own = if times > 1 { own_title(text) } else { 0..0 };
            let all = self.fit.scan(text, true, |found, span| {
                let of = match found {
                    Found::Word { number, form, is_same, unit } => {
                        let word = &mut uses[number];
                        word.occurrences = word.occurrences.saturating_add(times);
                        word.forms |= form;
                        if times > 1 {
                            word.title = word.title.max(InTitle::of(form, own.contains(&span.start)));
                        }
                        let fits = is_same || !self.fit.is_exact(number);
                        word.fits |= fits;
                        last[number] = Some(unit);
                        for clause in clauses.iter().filter(|clause| clause.len() > 1 && clause.contains(&number)) {
                            if let Some(first) = clause.iter().map(|&word| last[word]).min().flatten() {
                                window = window.min(unit - first + 1);
                            }
                        }
                        if fits { number } else { return }
                    }
                    Found::Phrase(number) => {
                        phrases[number] = true;
                        words + number
                    }
                };
                if self.marked[of] {
                    marks.add(of, span);
                }
            });
            length = length.saturating_add(all.saturating_mul(times));
            marks
        };
        let title_marks = scan(&record.title, Weight::TITLE);
        let marks = scan(&record.text, 1);
        let is_there = Use { occurrences: 1, forms: Form::default().bit(), title: InTitle::NONE, fits: true };
        self.fit.sites(&record.url).for_each(|site| uses[site] = is_there);
        let has: Vec<bool> = uses.iter().map(|it| it.fits).collect();
        let mut clauses = self.fit.clauses().peekable();
        let fits = clauses.peek().is_none() || clauses.any(|clause| clause.fits(&has, &phrases));
        let most = uses.iter().map(|it| it.occurrences).max().map_or(0, |most| record.counted(most));
        let size_bits = record.size_bits(length, record.counted(2) > 1);
        let grade = |(word, it): (&str, Use)| {
            let use_bits = Weight::use_of(it.occurrences.min(most), it.forms, it.title);
            Asked::of(word).grade(Weight::of_bits(use_bits, size_bits)?)
        };
        let grades = self.words().into_iter().zip(uses).map(grade).collect();
        let window = u8::try_from(window).unwrap_or(0);
        Scanned { fits, grades, size_bits, window, title_marks, marks }
    }

    /// True if a document with these grades, in the order of [`words`](Self::words), matches the words of one of the
    /// clauses, ignoring phrases and different accents, about which lists have no information.
    pub fn has_words(&self, grades: &[Option<Grade>]) -> bool {
        let mut clauses = self.fit.clauses();
        grades.len() == self.fit.words() && clauses.any(|it| it.fits_words(|number| grades[number].is_some()))
    }

    /// The score of a document that answers the words, in the order of [`words`](Self::words), with these grades, and
    /// has these [bits of its size](Showing::size_bits), if the words have these idfs: the highest score of all clauses
    /// whose words the document matches. `None` if it matches no clause, or the number of grades is wrong.
    ///
    /// The nodes that keep the words' lists, which ignore phrases, compute the same score.
    pub fn score(&self, grades: &[Option<Grade>], size_bits: u16, idfs: &[u32], scale: &Scale) -> Option<u32> {
        if grades.len() != self.fit.words() || idfs.len() != grades.len() {
            return None;
        }
        let fitting = self.fit.clauses().filter(|clause| clause.fits_words(|number| grades[number].is_some()));
        let score = |clause: Numbered<'_>| {
            let (mut score, mut all) = (Score::default(), 0_u32);
            for number in clause.clause.must.iter().map(|word| self.fit.number(word)) {
                all = all.saturating_add(idfs[number]);
                if let Some(grade) = grades[number] {
                    score.add(scale, idfs[number], grade, size_bits);
                }
            }
            score.of(all, size_bits)
        };
        fitting.map(score).max()
    }
}

/// What a record says about a query.
struct Scanned {
    fits: bool,
    grades: Vec<Option<Grade>>,
    size_bits: u16,
    window: u8,
    title_marks: Marks,
    marks: Marks,
}

/// The occurrences of all forms of a word of the query in a record.
#[derive(Clone, Copy, Default)]
struct Use {
    occurrences: u32,
    forms: u8,
    title: InTitle,
    /// True if the record has a form that the query asks for.
    fits: bool,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{PublisherKey, Query};
    use super::*;

    fn record(url: &str, title: &str, text: &str) -> Record {
        Record { url: url.into(), title: title.into(), text: text.into(), publisher: PublisherKey::new([7; 32]) }
    }

    #[test]
    fn scores_are_those_of_the_best_clause_whose_words_are_there() {
        let query = Query::parse("sieve filter OR sieve -\"fine sieve\" -tea OR site:a.example bloom").unwrap();
        let showings = Showings::new(query.clauses()).unwrap();
        assert_eq!(showings.words(), ["sieve", "filter", "=tea", "site:a.example", "bloom"]);
        let (scale, idfs) = (Scale::new(10), [1000, 2000, 3000, 0, 4000]);
        let score = |url: &str, text: &str| {
            let (_, Showing { grades, size_bits, .. }) = showings.view(&record(url, "", text));
            showings.score(&grades, size_bits, &idfs, &scale)
        };
        let part = |idf, length| scale.score(idf, Grade::default(), length);
        assert_eq!(score("u:1", "filter sieve"), Some(part(1000, 2) + part(2000, 2)));
        // A phrase does not affect the score; the word tea does.
        assert_eq!(score("u:1", "fine sieve"), Some(part(1000, 2)));
        assert_eq!(score("u:1", "tea sieve"), None);
        assert_eq!(score("http://a.example/", "bloom sieve x"), Some(part(4000, 3)));
        assert_eq!(showings.score(&[None; 4], 0, &idfs, &scale), None);
        assert_eq!(showings.score(&[Some(Grade::BEST); 5], 0, &idfs[1..], &scale), None);
    }

    proptest! {
        #[test]
        fn what_is_shown_is_what_the_record_says(
            query in "([ab東京]{1,2}|base|menus|a_b)( (-|OR )?\"?[ab東京]{1,3}( [ab]\")?){0,3}",
            title in "[ab東京 ,]{0,8}",
            text in prop_oneof![
                "((bases?|menus?|a_b|[ab_.]{1,4}) ){0,30}",
                "([ab東京ーﾞ\u{301}ß \n,-]|\\PC){0,60}",
                // Many stretches of ASCII, few of which have a word of the query.
                "([c-z1-9]{1,9}[ .-]){100,200}([aAbB]{1,2} (東 )?[aAbB]?){0,5}([c-z1-9]{1,9}[ .-]){100,200}[ab]{0,2}",
            ],
        ) {
            let Ok(query) = Query::parse(&query) else { return Ok(()) };
            let record = record("http://a.example/", &title, &text);
            let showings = Showings::new(query.clauses()).unwrap();
            let (fits, showing) = showings.view(&record);
            prop_assert_eq!(fits, Fit::new(query.clauses()).unwrap().fits(&record));
            prop_assert_eq!(showings.of(&record).is_some(), fits);
            let postings = record.postings();
            let grade = |word: &&str| Asked::of(word).grade(*postings.get(Asked::of(word).list())?);
            let grades: Vec<_> = showings.words().iter().map(grade).collect();
            prop_assert_eq!(&showing.grades, &grades);
            prop_assert!(postings.values().all(|weight| weight.size_bits() == showing.size_bits));
            prop_assert_eq!(showing.head.id(), super::super::ContentId::of(&record.encode().unwrap()));
            prop_assert!(showing.snippet.text.len() <= limits::SNIPPET_BYTES);
            let score = showings.score(&grades, showing.size_bits, &vec![1; grades.len()], &Scale::new(1));
            prop_assert!(score.is_some() || !fits);
            prop_assert_eq!(showings.has_words(&grades), score.is_some());
            prop_assert!(showing.snippet.is_of(&text));
        }
    }
}
