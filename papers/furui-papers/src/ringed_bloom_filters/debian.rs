//! Package descriptions as documents, in which WordNet's nouns, verbs and adjectives are the indexed words.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use crate::keys::Random;
use crate::report::Result;

/// The number that distinguishes the random numbers drawn here from those drawn for other purposes.
const SHUFFLE: u64 = 2;

/// The numbers of each word's documents, ascending.
type Lists = Vec<Vec<u32>>;

/// The endings that WordNet's morphological processor removes, and their replacements.
const ENDINGS: [(&str, &str); 16] = [
    ("s", ""),
    ("ses", "s"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("men", "man"),
    ("ies", "y"),
    ("es", "e"),
    ("es", ""),
    ("ed", "e"),
    ("ed", ""),
    ("ing", "e"),
    ("ing", ""),
    ("er", ""),
    ("est", ""),
];

/// Reads `descriptions.txt`, `lemmas.txt` and the exceptions of `wordnet-base` in `data`. Returns the number of
/// documents, which are shuffled, and for each word the numbers of the documents that contain it.
///
/// Equal descriptions are one document, because they have the same content id.
pub(super) fn read(data: &Path, seed: u64) -> Result<(u32, Lists)> {
    let open = |path: &str| {
        let path = data.join(path);
        std::fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))
    };
    let (descriptions, lemmas) = (open("descriptions.txt")?, open("lemmas.txt")?);
    let mut exceptions = HashMap::new();
    for part in ["noun", "verb", "adj"] {
        for line in open(&format!("wordnet-base/usr/share/wordnet/{part}.exc"))?.lines() {
            let mut words = line.split(' ').map(str::to_owned);
            if let (Some(form), Some(lemma)) = (words.next(), words.next()) {
                exceptions.entry(form).or_insert(lemma);
            }
        }
    }
    let lemmas: HashSet<&str> = lemmas.lines().collect();
    let mut known: HashMap<String, Option<String>> = HashMap::new();

    let mut documents: Vec<&str> = descriptions.lines().collect::<BTreeSet<_>>().into_iter().collect();
    let mut random = Random::new(seed, SHUFFLE);
    for i in (1..documents.len()).rev() {
        documents.swap(i, random.below(i as u64 + 1) as usize);
    }
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut lists: Lists = vec![];
    for (document, text) in (0..).zip(&documents) {
        let text = text.to_ascii_lowercase();
        for form in text.split(|c: char| !c.is_ascii_lowercase()).filter(|form| !form.is_empty()) {
            if !known.contains_key(form) {
                known.insert(form.to_owned(), lemma(form, &lemmas, &exceptions));
            }
            let Some(Some(lemma)) = known.get(form) else { continue };
            let number = match numbers.get(lemma) {
                Some(&number) => number,
                None => {
                    numbers.insert(lemma.clone(), lists.len());
                    lists.push(vec![]);
                    lists.len() - 1
                }
            };
            if lists[number].last() != Some(&document) {
                lists[number].push(document);
            }
        }
    }
    Ok((documents.len() as u32, lists))
}

/// The lemma of a word form: the form itself, its entry in `exceptions`, or the form with another ending or none. A
/// form without any of these in `lemmas` has no lemma (`None`).
fn lemma(form: &str, lemmas: &HashSet<&str>, exceptions: &HashMap<String, String>) -> Option<String> {
    if lemmas.contains(form) {
        return Some(form.to_owned());
    }
    if let Some(lemma) = exceptions.get(form).filter(|lemma| lemmas.contains(lemma.as_str())) {
        return Some(lemma.clone());
    }
    let taken_off =
        ENDINGS.iter().filter_map(|(ending, instead)| Some(form.strip_suffix(ending)?.to_owned() + instead));
    taken_off.into_iter().find(|lemma| lemmas.contains(lemma.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_have_their_lemmas() {
        let lemmas = HashSet::from(["library", "box", "make", "foot", "be"]);
        let exceptions = HashMap::from([("feet".to_owned(), "foot".to_owned()), ("was".to_owned(), "be".to_owned())]);
        let lemma = |form| lemma(form, &lemmas, &exceptions);
        for (form, expected) in
            [("library", "library"), ("libraries", "library"), ("boxes", "box"), ("making", "make"), ("feet", "foot")]
        {
            assert_eq!(lemma(form).as_deref(), Some(expected), "{form}");
        }
        assert_eq!((lemma("the"), lemma("s")), (None, None));
    }
}
