use std::cmp::Reverse;

use frostem::{Algorithm, Stemmer};
use furui_search::{Request, list_of};
use whatlang::Lang;

use super::languages::Languages;
use crate::node::Node;

/// The maximum number of words of a query whose other forms are asked for, the rarest first, and of the forms of each.
/// Chosen: a query then has nine conjunctions at most. With three of each, the answer to a question as people type it
/// took 31 kB, and 19 kB without forms, and no more was found of what they mean (measured on manuals).
const WORDS: usize = 2;
const FORMS: usize = 2;
/// The minimum length of a word with other forms, and of what the forms begin with, in letters. The values are choices,
/// not measurements.
const LONG: usize = 4;
const COMMON: usize = 3;

impl Node {
    /// For the rarest of these words, which are in the order of their documents, the other words with the same stem
    /// that this node and some others have lists of, those of the most documents first: `running` and `runner` for
    /// `run`. Plurals are no other words: they are in one list. Stems are those of Snowball, in the languages of
    /// whoever searches, or else in English. Words without other forms are left out.
    pub(in crate::node) async fn forms(&self, words: &[String], languages: &Languages) -> Vec<(String, Vec<String>)> {
        let stemmers = stemmers(languages);
        let mut all = Vec::new();
        for word in words.iter().filter(|word| is_word(word)).take(WORDS) {
            let list = list_of(word).into_owned();
            let stems: Vec<String> = stemmers.iter().map(|stemmer| stemmer.stem(&list).into_owned()).collect();
            let Some(beginning) = stems.iter().map(|stem| common(stem, &list)).min_by_key(|it| it.len()) else {
                continue;
            };
            if beginning.chars().count() < COMMON {
                continue;
            }
            let (own, request) = (beginning.to_owned(), Request::Beginning { word: beginning.to_owned() });
            let known = self.ask_around(move |shelf| shelf.words_beginning(&own), &request).await;
            let is_form = |other: &str| {
                let mut pairs = stemmers.iter().zip(&stems);
                other != list && is_word(other) && pairs.any(|(stemmer, stem)| stemmer.stem(other) == *stem)
            };
            let mut forms: Vec<(String, u64)> = known.into_iter().filter(|(other, _)| is_form(other)).collect();
            forms.sort_by_key(|(other, documents)| (Reverse(*documents), other.clone()));
            forms.truncate(FORMS);
            if !forms.is_empty() {
                all.push((word.clone(), forms.into_iter().map(|(form, _)| form).collect()));
            }
        }
        all
    }
}

/// True if the word may have other forms.
fn is_word(word: &str) -> bool {
    word.chars().count() >= LONG && word.chars().all(char::is_alphabetic)
}

/// What two words begin with.
fn common<'a>(one: &'a str, other: &str) -> &'a str {
    let alike = one.chars().zip(other.chars()).take_while(|(one, other)| one == other);
    &one[..alike.map(|(letter, _)| letter.len_utf8()).sum()]
}

/// The stemmers of these languages, or else of English.
fn stemmers(languages: &Languages) -> Vec<Stemmer> {
    let mut algorithms: Vec<Algorithm> = languages.iter().filter_map(algorithm).collect();
    if algorithms.is_empty() {
        algorithms.push(Algorithm::English);
    }
    algorithms.into_iter().map(Stemmer::new).collect()
}

fn algorithm(language: Lang) -> Option<Algorithm> {
    Some(match language {
        Lang::Ces => Algorithm::Czech,
        Lang::Dan => Algorithm::Danish,
        Lang::Deu => Algorithm::German,
        Lang::Ell => Algorithm::Greek,
        Lang::Eng => Algorithm::English,
        Lang::Fin => Algorithm::Finnish,
        Lang::Fra => Algorithm::French,
        Lang::Hun => Algorithm::Hungarian,
        Lang::Ita => Algorithm::Italian,
        Lang::Nld => Algorithm::Dutch,
        Lang::Nob => Algorithm::Norwegian,
        Lang::Pol => Algorithm::Polish,
        Lang::Por => Algorithm::Portuguese,
        Lang::Ron => Algorithm::Romanian,
        Lang::Rus => Algorithm::Russian,
        Lang::Spa => Algorithm::Spanish,
        Lang::Swe => Algorithm::Swedish,
        Lang::Tur => Algorithm::Turkish,
        Lang::Ukr => Algorithm::Ukrainian,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_one_stem_are_forms_in_the_languages_of_whoever_searches() {
        let are_forms = |languages: &str, one: &str, other: &str| {
            stemmers(&Languages::accepted(languages)).iter().any(|stemmer| stemmer.stem(one) == stemmer.stem(other))
        };
        for (languages, one, other, expected) in [
            ("", "running", "run", true),
            ("en-GB", "running", "run", true),
            ("", "universal", "unix", false),
            ("de", "abhangigkeiten", "abhangigkeit", true),
            ("", "abhangigkeiten", "abhangigkeit", false),
            ("ja", "install", "installing", true),
            ("ru,en;q=.5", "книгами", "книга", true),
        ] {
            assert_eq!(are_forms(languages, one, other), expected, "{languages} {one} {other}");
        }
        assert_eq!((common("queri", "query"), common("запуск", "запустить"), common("", "a")), ("quer", "запус", ""));
    }
}
