use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use super::pattern::{Found, Pattern};
use super::site::{is_site, sites};
use super::{Asked, Clause, Record, limits};

/// Decides whether a record matches a query's clauses, including phrases.
///
/// The node that keeps a document and the node that searches apply the same decision; see
/// [`Showings`](super::Showings).
///
/// **Cost.** One pass over title and text, with one step per distinct phrase at each word (in scripts without spaces,
/// at each character).
///
/// ```
/// use furui_search::{Fit, PublisherKey, Query, Record};
///
/// let query = Query::parse("\"bloom filter\" -coffee")?;
/// let fit = Fit::new(query.clauses()).expect("few phrases");
/// let page = |text: &str| Record {
///     url: "https://example.org/".into(), title: String::new(), text: text.into(), publisher: PublisherKey::new([7; 32]),
/// };
/// assert!(fit.fits(&page("What is a Bloom filter?")));
/// assert!(!fit.fits(&page("A filter that Bloom described")));
/// # Ok::<(), furui_search::QueryError>(())
/// ```
#[derive(Debug)]
pub struct Fit<'a> {
    clauses: &'a [Clause],
    pattern: Pattern<'a>,
    words: HashMap<&'a str, usize>,
    /// For each word, true if no other form of it matches.
    is_exact: Vec<bool>,
    /// For each clause, the required and the excluded phrases, as their indices in `pattern`.
    phrases: Vec<[Vec<usize>; 2]>,
}

impl<'a> Fit<'a> {
    /// Prepares the decision for these clauses. `None` if they have more than [`limits::PHRASES`] distinct phrases.
    pub fn new(clauses: &'a [Clause]) -> Option<Self> {
        let (words, is_exact) = (HashMap::new(), Vec::new());
        let mut fit = Self { clauses, pattern: Pattern::new(), words, is_exact, phrases: Vec::new() };
        for clause in clauses {
            for word in clause.must.iter().chain(&clause.without) {
                let next = fit.words.len();
                if let Entry::Vacant(entry) = fit.words.entry(word) {
                    entry.insert(next);
                    fit.is_exact.push(Asked::of(word).is_exact());
                    fit.pattern.add_word(word, next);
                }
            }
            let mut numbers = [Vec::new(), Vec::new()];
            for (numbers, phrases) in numbers.iter_mut().zip([&clause.phrases, &clause.without_phrases]) {
                for phrase in phrases {
                    numbers.push(fit.pattern.add_phrase(phrase));
                    if fit.pattern.phrases() > limits::PHRASES {
                        return None;
                    }
                }
            }
            fit.phrases.push(numbers);
        }
        Some(fit)
    }

    /// True if the record matches at least one of the clauses.
    pub fn fits(&self, record: &Record) -> bool {
        let mut words = vec![false; self.words()];
        let mut phrases = vec![false; self.phrases()];
        for text in [&record.title, &record.text] {
            self.scan(text, false, |found, _| match found {
                Found::Word { number, is_same, .. } => words[number] |= is_same || !self.is_exact[number],
                Found::Phrase(number) => phrases[number] = true,
            });
        }
        self.sites(&record.url).for_each(|number| words[number] = true);
        self.clauses().any(|clause| clause.fits(&words, &phrases))
    }

    /// The number of distinct words of the clauses. The words have indices in the order of their first occurrence in
    /// the clauses, where the required words of a clause precede the excluded ones.
    pub(super) fn words(&self) -> usize {
        self.words.len()
    }

    /// True if only the word with this index itself matches, and no other form of it.
    pub(super) fn is_exact(&self, number: usize) -> bool {
        self.is_exact[number]
    }

    /// The number of distinct phrases of the clauses.
    pub(super) fn phrases(&self) -> usize {
        self.pattern.phrases()
    }

    /// The index of a word among the distinct words of the clauses, in the order of their first occurrence.
    pub(super) fn number(&self, word: &str) -> usize {
        self.words[word]
    }

    /// Reports all words and phrases of the clauses that occur in the text, as [`Pattern::scan`] does. Returns the
    /// total number of words in the text.
    pub(super) fn scan(&self, text: &str, located: bool, on: impl FnMut(Found, Range<usize>)) -> u32 {
        self.pattern.scan(text, located, on)
    }

    /// The indices, among the distinct words of the clauses, of those words that represent the host of a URL and the
    /// domains above it.
    pub(super) fn sites(&self, url: &str) -> impl Iterator<Item = usize> {
        sites(url).filter_map(|site| self.words.get(&*site).copied())
    }

    /// The clauses. Their words and phrases are given by indices among the distinct words and phrases of all clauses.
    pub(super) fn clauses(&self) -> impl Iterator<Item = Numbered<'_>> {
        self.clauses.iter().zip(&self.phrases).map(|(clause, phrases)| Numbered { clause, phrases, words: &self.words })
    }
}

/// A clause whose words and phrases are given by indices among the distinct words and phrases of all clauses.
pub(super) struct Numbered<'f> {
    pub(super) clause: &'f Clause,
    phrases: &'f [Vec<usize>; 2],
    words: &'f HashMap<&'f str, usize>,
}

impl Numbered<'_> {
    /// True if a record matches the clause. `words` and `phrases` tell, for each distinct word and phrase of all
    /// clauses, if it was found in the record.
    pub(super) fn fits(&self, words: &[bool], phrases: &[bool]) -> bool {
        let [must, without] = self.phrases;
        self.fits_words(|number| words[number])
            && must.iter().all(|&phrase| phrases[phrase])
            && !without.iter().any(|&phrase| phrases[phrase])
    }

    /// True if a record matches the words of the clause, ignoring its phrases. `has` tells if the record contains the
    /// word with an index.
    pub(super) fn fits_words(&self, has: impl Fn(usize) -> bool) -> bool {
        let has = |word: &String| self.words.get(&**word).is_some_and(|&number| has(number));
        self.clause.must.iter().all(has) && !self.clause.without.iter().any(has)
    }

    /// The indices of the clause's required words among the distinct words of all clauses, but for sites.
    pub(super) fn words(&self) -> impl Iterator<Item = usize> {
        self.clause.must.iter().filter(|word| !is_site(word)).map(|word| self.words[&**word])
    }

    /// The indices of the clause's required phrases among the distinct phrases of all clauses.
    pub(super) fn phrases(&self) -> &[usize] {
        &self.phrases[0]
    }
}
