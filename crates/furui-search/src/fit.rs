use std::collections::HashMap;

use super::pattern::{Found, Pattern};
use super::site::sites;
use super::{Clause, Record, limits};

/// Decides whether a record fits a query's clauses, phrases included.
///
/// The node that keeps a document uses it to send only records that fit. The node that searches uses it again, because
/// it trusts no other node.
///
/// **Cost.** One pass over title and text, with one step for each different phrase at each word (in scripts without
/// spaces, at each character).
///
/// ```
/// use furui_search::{Fit, Query, Record};
///
/// let query = Query::parse("\"bloom filter\" -coffee")?;
/// let fit = Fit::new(query.clauses()).expect("few phrases");
/// let page = |text: &str| Record { url: "https://example.org/".into(), title: String::new(), text: text.into() };
/// assert!(fit.fits(&page("What is a Bloom filter?")));
/// assert!(!fit.fits(&page("A filter that Bloom described")));
/// # Ok::<(), furui_search::QueryError>(())
/// ```
#[derive(Debug)]
pub struct Fit<'a> {
    clauses: &'a [Clause],
    pattern: Pattern<'a>,
    words: HashMap<&'a str, usize>,
    /// For each clause, the phrases that it requires and those that it excludes, by their numbers in `pattern`.
    phrases: Vec<[Vec<usize>; 2]>,
}

impl<'a> Fit<'a> {
    /// Makes the check for these clauses. `None` if they have more than [`limits::PHRASES`] different phrases.
    pub fn new(clauses: &'a [Clause]) -> Option<Self> {
        let mut fit = Self { clauses, pattern: Pattern::new(), words: HashMap::new(), phrases: Vec::new() };
        for clause in clauses {
            for word in clause.must.iter().chain(&clause.without) {
                let next = fit.words.len();
                fit.pattern.add_word(word, *fit.words.entry(word).or_insert(next));
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

    /// True if the record fits at least one of the clauses.
    pub fn fits(&self, record: &Record) -> bool {
        let mut words = vec![false; self.words.len()];
        let mut phrases = vec![false; self.pattern.phrases()];
        for text in [&record.title, &record.text] {
            self.pattern.scan(text, false, |found, _| match found {
                Found::Word(number) => words[number] = true,
                Found::Phrase(number) => phrases[number] = true,
            });
        }
        for site in sites(&record.url) {
            if let Some(&number) = self.words.get(&*site) {
                words[number] = true;
            }
        }
        let has = |word: &String| self.words.get(&**word).is_some_and(|&number| words[number]);
        self.clauses.iter().zip(&self.phrases).any(|(clause, [must, without])| {
            clause.must.iter().all(has)
                && !clause.without.iter().any(has)
                && must.iter().all(|&phrase| phrases[phrase])
                && !without.iter().any(|&phrase| phrases[phrase])
        })
    }
}
