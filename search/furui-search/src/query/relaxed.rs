use std::collections::HashMap;

use super::super::{Clause, list_of};
use super::Query;
use crate::limits::WORD_BYTES;

/// The number of words, the rarest ones of a query, of which documents may have some only. Chosen: all sets of half of
/// them and more are as many conjunctions as a query may have.
const RAREST: usize = 5;

impl Query {
    /// The words of the query if it is a conjunction of words only, none of which is quoted: if no document has all of
    /// them, documents with most of them are what its writer wants. `None` for any other query.
    pub fn plain_words(&self) -> Option<&[String]> {
        let [Clause { must, without, phrases, without_phrases }] = &self.clauses[..] else { return None };
        let is_plain =
            without.is_empty() && without_phrases.is_empty() && must.iter().all(|word| !word.starts_with('='));
        let are_unspaced = phrases.iter().all(|phrase| phrase.is_unspaced());
        (is_plain && are_unspaced).then_some(must)
    }

    /// The query without the quotes of its phrases and words, for a conjunction of quoted and other words, which
    /// excludes nothing: text that somebody has pasted, such as an error message, may have quotes of its own. `None`
    /// for any other query: who quotes all means it.
    pub fn unquoted(&self) -> Option<Self> {
        let [Clause { must, without, phrases, without_phrases }] = &self.clauses[..] else { return None };
        let is_quoted = |word: &&String| word.starts_with('=');
        let are_some = must.iter().any(|word| is_quoted(&word)) && !must.iter().all(|word| is_quoted(&word));
        if !are_some || !without.is_empty() || !without_phrases.is_empty() {
            return None;
        }
        let mut words: Vec<String> = Vec::new();
        for word in must.iter().map(|word| word.trim_start_matches('=')) {
            if !words.iter().any(|other| list_of(other) == list_of(word)) {
                words.push(word.to_owned());
            }
        }
        let phrases = phrases.iter().filter(|phrase| phrase.is_unspaced()).cloned().collect();
        Some(Self { clauses: vec![Clause { must: words, phrases, ..Clause::default() }], names: vec![] })
    }

    /// Queries that find documents with most of the words of this one, for a query of [plain words](Self::plain_words)
    /// that has no result: the first finds those with the most words, and each further one those with fewer. `sizes`
    /// has the numbers of documents with each word. Words that no document has are left out, and only the rarest five
    /// of the others count, but for documents that lack one word of a longer query.
    pub fn relaxed(&self, sizes: &HashMap<String, u64>) -> Vec<Self> {
        let size = |word: &String| sizes.get(word).copied().unwrap_or_default();
        let mut words: Vec<&String> = self.plain_words().unwrap_or_default().iter().filter(|it| size(it) > 0).collect();
        words.sort_by_key(|word| size(word));
        let query = |sets: Vec<Vec<&String>>| Self {
            clauses: sets
                .into_iter()
                .map(|set| Clause { must: set.into_iter().cloned().collect(), ..Clause::default() })
                .collect(),
            names: vec![],
        };
        let mut queries = Vec::new();
        if (RAREST + 1..=crate::limits::CLAUSES).contains(&words.len()) {
            let without =
                |left_out| words.iter().enumerate().filter(move |(place, _)| *place != left_out).map(|(_, it)| *it);
            queries.push(query((0..words.len()).map(|left_out| without(left_out).collect()).collect()));
        }
        words.truncate(RAREST);
        let sets: Vec<Vec<&String>> = (1..1_u32 << words.len())
            .map(|set| (0..words.len()).filter(|place| set >> place & 1 == 1).map(|place| words[place]).collect())
            .collect();
        let half = words.len().div_ceil(2).max(2);
        let (large, small) = sets.into_iter().partition::<Vec<_>, _>(|set| set.len() >= half);
        queries.extend([large, small].into_iter().filter(|sets| !sets.is_empty()).map(query));
        queries
    }

    /// The queries in which two neighbouring words are written as one, as `hashmap` for `hash map`, for a query of
    /// [plain words](Self::plain_words) of ASCII letters and digits; none for others.
    pub fn joined(&self) -> Vec<Self> {
        let words = self.plain_words().unwrap_or_default();
        let is_joined = |pair: &[String]| pair.iter().all(|word| word.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        let places = (0..words.len().saturating_sub(1)).filter(|&place| is_joined(&words[place..place + 2]));
        let joined = places.map(|place| {
            let must = [&words[..place], &[words[place..place + 2].concat()], &words[place + 2..]].concat();
            Self { clauses: vec![Clause { must, ..Clause::default() }], names: vec![] }
        });
        joined.filter(|it| it.clauses[0].must.iter().all(|word| word.len() <= WORD_BYTES)).collect()
    }

    /// The query for documents that have, for some of its words, one of these other forms. Only as many forms count as
    /// a query may have conjunctions, those of the first words first. `None` if it is not a query of [plain
    /// words](Self::plain_words), or no form counts.
    pub fn with_forms(&self, forms: &[(String, Vec<String>)]) -> Option<Self> {
        let mut clauses = vec![self.plain_words()?.to_vec()];
        for (word, forms) in forms {
            let before = clauses.clone();
            for form in forms.iter().take(crate::limits::CLAUSES / before.len() - 1) {
                clauses.extend(before.iter().map(|words| {
                    let changed = |it: &String| if it == word { form.clone() } else { it.clone() };
                    words.iter().map(changed).collect::<Vec<_>>()
                }));
            }
        }
        let phrases = &self.clauses[0].phrases;
        let of = |must: Vec<String>| Clause { must, phrases: phrases.clone(), ..Clause::default() };
        (clauses.len() > 1).then(|| Self { clauses: clauses.into_iter().map(of).collect(), names: vec![] })
    }

    /// The query with other words, separated by spaces, in the places of some, as in a suggestion. `None` if it is not
    /// a query of [plain words](Self::plain_words).
    pub fn corrected(&self, others: &HashMap<String, String>) -> Option<Self> {
        let mut must: Vec<String> = Vec::new();
        for word in self.plain_words()? {
            for word in others.get(word).unwrap_or(word).split(' ') {
                if !must.iter().any(|other| list_of(other) == list_of(word)) {
                    must.push(word.to_owned());
                }
            }
        }
        let clauses = vec![Clause { must, phrases: self.clauses[0].phrases.clone(), ..Clause::default() }];
        Some(Self { clauses, names: vec![] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_with_most_words_come_first_and_rare_words_count() {
        let query_of = |text: &str| Query::parse(text).unwrap();
        let query = query_of("one two three");
        let sets = |query: &Query| query.clauses.iter().map(|it| it.must.join(" ")).collect::<Vec<_>>();
        let all: Vec<_> =
            query.relaxed(&HashMap::from([("one".into(), 9), ("three".into(), 1)])).iter().map(sets).collect();
        assert_eq!(all, [vec!["three one"], vec!["three", "one"]]);
        let words: Vec<String> = (0..9).map(|number| format!("w{number}")).collect();
        let query = Query::parse(&words.join(" ")).unwrap();
        let sizes = words.iter().zip(1..).map(|(word, size)| (word.clone(), size)).collect();
        let relaxed = query.relaxed(&sizes);
        assert_eq!(relaxed.iter().map(|it| it.clauses.len()).collect::<Vec<_>>(), [9, 16, 15]);
        assert!(relaxed.iter().all(|it| it.clauses.len() <= crate::limits::CLAUSES));
        assert!(query.relaxed(&HashMap::new()).is_empty());
        for text in ["\"a b\"", "a OR b", "a -b", "\"a\""] {
            assert_eq!(Query::parse(text).unwrap().plain_words(), None, "{text}");
        }
        let form = |word: &str, forms: &[&str]| (word.to_owned(), forms.iter().map(|it| it.to_string()).collect());
        let with = |forms: &[(String, Vec<String>)]| query_of("run all tests").with_forms(forms).map(|it| sets(&it));
        assert_eq!(with(&[]), None);
        let expected = ["run all tests", "running all tests", "run all testing", "running all testing"];
        let all = with(&[form("run", &["running"]), form("tests", &["testing"])]).unwrap();
        assert_eq!(all, expected);
        let many = ["a", "b", "c"];
        let count = with(&[form("run", &many), form("all", &many), form("tests", &many)]).unwrap().len();
        assert_eq!(count, crate::limits::CLAUSES);
        assert!(query_of("\"run\" tests").with_forms(&[form("tests", &many)]).is_none());
        let unquoted = |text: &str| Query::parse(text).unwrap().unquoted();
        let plain = Query::parse("cannot import name foo from bar").unwrap();
        assert_eq!(unquoted("cannot import name \"foo\" from \"bar\""), Some(plain));
        for text in ["\"a b\"", "\"a\" \"b\"", "a b", "\"a\" b -c", "\"a\" OR b"] {
            assert_eq!(unquoted(text), None, "{text}");
        }
        let joined: Vec<_> = Query::parse("the hash map é").unwrap().joined().iter().map(sets).collect();
        assert_eq!(joined, [vec!["thehash map é"], vec!["the hashmap é"]]);
        assert!(Query::parse("\"hash map\"").unwrap().joined().is_empty());
        let others = HashMap::from([("dictionery".to_owned(), "dictionary".to_owned())]);
        assert_eq!(
            Query::parse("dictionery python").unwrap().corrected(&others),
            Some(Query::parse("dictionary python").unwrap())
        );
    }
}
