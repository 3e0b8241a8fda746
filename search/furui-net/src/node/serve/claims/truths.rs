use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use furui_search::{ContentId, Record};

use super::truth::Truth;

/// The maximum number of words of all cached documents: 16 MiB at 16 bytes per word. The value is a choice, not a
/// measurement.
const MOST_WORDS: usize = 1 << 20;

/// Caches the true postings of recently checked documents, because many messages concern the same document.
pub(super) struct Truths {
    /// The secret key of the word hash. It is secret because strangers choose the words.
    secret: RandomState,
    generations: Mutex<Generations>,
}

/// A cache with two generations of documents. When the younger one is full, the older one is dropped.
#[derive(Default)]
struct Generations {
    young: HashMap<ContentId, Arc<Truth>>,
    old: HashMap<ContentId, Arc<Truth>>,
    /// The number of words of all documents in the younger generation of the cache.
    words: usize,
}

impl Generations {
    fn insert(&mut self, id: ContentId, truth: Arc<Truth>) {
        let words = truth.len() + 8;
        if self.words + words > MOST_WORDS / 2 {
            self.old = std::mem::take(&mut self.young);
            self.words = 0;
        }
        if self.young.insert(id, truth).is_none() {
            self.words += words;
        }
    }
}

impl Truths {
    pub(super) fn new() -> Self {
        Self { secret: RandomState::new(), generations: Mutex::default() }
    }

    /// The hash of a word under a secret key, by which [`Truth`] refers to it.
    pub(super) fn word(&self, word: &str) -> u64 {
        self.secret.hash_one(word)
    }

    /// The true postings of a document; `None` if they are not cached.
    pub(super) fn get(&self, id: ContentId) -> Option<Arc<Truth>> {
        let mut generations = self.generations();
        if let Some(truth) = generations.young.get(&id) {
            return Some(Arc::clone(truth));
        }
        let truth = generations.old.remove(&id)?;
        generations.insert(id, Arc::clone(&truth));
        Some(truth)
    }

    /// Drops these documents from the cache.
    pub(super) fn forget(&self, ids: &HashSet<ContentId>) {
        let Generations { young, old, words } = &mut *self.generations();
        for id in ids {
            *words -= young.remove(id).map_or(0, |truth| truth.len() + 8);
            old.remove(id);
        }
    }

    /// Counts the words of a record, and caches the result. `None` if the bytes are not a valid record.
    pub(super) fn learn(&self, id: ContentId, record: &[u8]) -> Option<Arc<Truth>> {
        let record = Record::decode(record).ok()?;
        let truth = Arc::new(Truth::of(&record, |word| self.word(word)));
        self.generations().insert(id, Arc::clone(&truth));
        Some(truth)
    }

    fn generations(&self) -> MutexGuard<'_, Generations> {
        self.generations.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use furui_search::Weight;

    use super::*;

    fn record(number: usize, words: usize) -> Vec<u8> {
        let text = (0..words).map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ");
        let record = Record {
            url: format!("http://a.example/{number}"),
            title: "w0".into(),
            text,
            publisher: furui_search::PublisherKey::new([7; 32]),
        };
        record.encode().expect("a short record")
    }

    #[test]
    fn what_is_remembered_is_true_and_bounded() {
        let truths = Truths::new();
        let records: Vec<Vec<u8>> = (0..40).map(|number| record(number, 50_000)).collect();
        for record in &records {
            let id = ContentId::of(record);
            assert!(truths.get(id).is_none());
            let truth = truths.learn(id, record).expect("it is a record");
            let weight = truth.weight(truths.word("w0")).expect("it has the word");
            assert!(weight.occurrences() == 3 && weight.is_in_title());
            assert_eq!(truth.weight(truths.word("w49999")).map(Weight::occurrences), Some(1));
            assert_eq!(truth.weight(truths.word("w50000")), None);
        }
        let known = records.iter().filter(|record| truths.get(ContentId::of(record)).is_some()).count();
        assert!((5..=MOST_WORDS / 50_000).contains(&known), "{known}");
        assert!(truths.get(ContentId::of(&records[39])).is_some());
        assert!(truths.learn(ContentId::of(b"no record"), b"no record").is_none());
    }
}
