use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use furui_search::Record;
use serde_json::json;

use super::{Done, Options};

/// Documents, and an index of their words built by brute force.
pub(super) struct Corpus {
    records: Vec<Record>,
    words: Vec<BTreeSet<String>>,
    lists: BTreeMap<String, BTreeSet<usize>>,
}

/// A pseudorandom number generator; equal seeds give equal sequences.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

impl Corpus {
    /// Reads the first lines of a file or makes texts up, depending on `options`.
    pub(super) fn new(options: &Options) -> Done<Self> {
        let texts: Vec<String> = match &options.texts {
            Some(file) => std::fs::read_to_string(file)?.lines().take(options.documents).map(str::to_owned).collect(),
            None => {
                let mut dice = Dice::new(options.seed);
                (0..options.documents).map(|_| made_up(&mut dice)).collect()
            }
        };
        let records = texts.into_iter().enumerate().map(|(number, text)| {
            let (url, title) = (format!("http://site.example/{number}"), format!("number {number}"));
            Record { url, title, text, publisher: None }
        });
        let mut corpus = Self { records: records.collect(), words: Vec::new(), lists: BTreeMap::new() };
        for (number, record) in corpus.records.iter().enumerate() {
            let words = record.words();
            for word in &words {
                corpus.lists.entry(word.clone()).or_default().insert(number);
            }
            corpus.words.push(words);
        }
        Ok(corpus)
    }

    pub(super) fn write(&self, file: &Path) -> Done {
        let mut text = String::new();
        for Record { url, title, text: body, .. } in &self.records {
            writeln!(text, "{}", json!({ "url": url, "title": title, "text": body }))?;
        }
        Ok(std::fs::write(file, text)?)
    }

    pub(super) fn records(&self) -> &[Record] {
        &self.records
    }

    pub(super) fn describe(&self) -> String {
        let postings: usize = self.lists.values().map(BTreeSet::len).sum();
        format!("{} documents, {} words, {postings} postings", self.records.len(), self.lists.len())
    }

    /// The `most` words that occur in the largest numbers of documents.
    pub(super) fn frequent(&self, most: usize) -> Vec<String> {
        let mut words: Vec<(usize, &String)> = self.lists.iter().map(|(word, list)| (list.len(), word)).collect();
        words.sort_by_key(|&(count, _)| std::cmp::Reverse(count));
        words.into_iter().take(most).map(|(_, word)| word.clone()).collect()
    }

    /// A query of one to three words of a random document, so that it has an answer.
    pub(super) fn query(&self, dice: &mut Dice) -> String {
        let words = loop {
            let words = &self.words[dice.below(self.words.len())];
            // Skip words with characters that have a special meaning in a query.
            let plain: Vec<&String> =
                words.iter().filter(|word| word.bytes().all(|byte| byte.is_ascii_alphanumeric())).collect();
            if plain.len() >= 3 {
                break plain;
            }
        };
        let count = 1 + dice.below(3);
        let chosen: BTreeSet<&String> = (0..count).map(|_| words[dice.below(words.len())]).collect();
        chosen.into_iter().map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// A query of two words of a random document.
    pub(super) fn pair(&self, dice: &mut Dice) -> String {
        loop {
            let query = self.query(dice);
            if query.split(' ').count() == 2 {
                return query;
            }
        }
    }

    /// The URLs of the documents that contain all words of a query.
    pub(super) fn answer(&self, query: &str) -> BTreeSet<&str> {
        let lists = query.split(' ').filter_map(|word| self.lists.get(word));
        let both = lists.map(Clone::clone).reduce(|a, b| a.intersection(&b).copied().collect());
        both.unwrap_or_default().into_iter().map(|number| &*self.records[number].url).collect()
    }
}

/// A random text of 25 words that follow Zipf's law: the k-th most frequent word is drawn with a probability of about
/// 1 / (10.8 k).
fn made_up(dice: &mut Dice) -> String {
    let words = (0..25).map(|_| {
        let rank = 50_000f64.powf(dice.next() as f64 / u64::MAX as f64) as u64;
        format!("w{rank}")
    });
    words.collect::<Vec<_>>().join(" ")
}
