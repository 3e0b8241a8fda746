//! Documents and their words, as an index sees them: for each word, the ids of the documents that contain it.

use std::borrow::Cow;
use std::path::Path;

use furui_search::ContentId;

use super::debian;
use super::zipf::{Law, Zipf};
use crate::keys::Random;
use crate::report::Result;

/// The number that distinguishes the random numbers drawn here from those drawn for other purposes.
const IDS: u64 = 1;

/// Documents in order of publication, and the lists of their words.
pub(crate) struct Corpus {
    pub(crate) name: String,
    ids: Vec<ContentId>,
    lists: Lists,
    /// For each word, the first document that contains it.
    first: Vec<u32>,
    /// For each document, the number of its distinct words.
    words_of: Vec<u32>,
}

enum Lists {
    /// The numbers of each word's documents, ascending.
    Kept(Vec<Vec<u32>>),
    /// Lists that are drawn anew for each use, because all of them together would take a quarter of a gigabyte.
    Drawn(Zipf),
}

impl Corpus {
    /// The corpus of package descriptions in `data`, indexed by WordNet's nouns, verbs and adjectives.
    pub(crate) fn debian(data: &Path, seed: u64) -> Result<Self> {
        let (documents, lists) = debian::read(data, seed)?;
        Ok(Self::new("Debian", documents, lists.len() as u32, Lists::Kept(lists), seed))
    }

    /// A corpus of words that are independent of each other. Their number and frequencies follow from `shape`.
    pub(crate) fn zipf(shape: Law, seed: u64) -> Self {
        Self::new("Zipf", shape.documents, shape.words, Lists::Drawn(Zipf::fit(shape, seed)), seed)
    }

    fn new(name: &str, documents: u32, words: u32, lists: Lists, seed: u64) -> Self {
        let (mut first, mut words_of) = (Vec::with_capacity(words as usize), vec![0; documents as usize]);
        for word in 0..words {
            let list = lists.get(word);
            first.push(list[0]);
            list.iter().for_each(|&number| words_of[number as usize] += 1);
        }
        Self { name: name.to_owned(), ids: ids(documents, seed), lists, first, words_of }
    }

    /// The number of documents.
    pub(crate) fn documents(&self) -> u32 {
        self.ids.len() as u32
    }

    /// The numbers of documents in the figures: the multiples of 10,000 and all documents; or, of a small corpus, half
    /// of the documents and all documents.
    pub(crate) fn steps(&self) -> Vec<u32> {
        let all = self.documents();
        let step = if all >= 50_000 { 10_000 } else { all.div_ceil(2) };
        let mut steps: Vec<u32> = (1..=all / step).map(|i| i * step).collect();
        if steps.last() != Some(&all) {
            steps.push(all);
        }
        steps
    }

    /// True if the documents are made up, and not real text.
    pub(crate) fn is_made_up(&self) -> bool {
        matches!(self.lists, Lists::Drawn(_))
    }

    /// True if the corpus has the numbers of documents and words that Table 1 of the paper on ringed filters states.
    pub(crate) fn has_shape_of_the_paper(&self) -> bool {
        self.is_made_up() && self.documents() == Law::PAPER.documents
    }

    /// The words that occur in the first `documents` documents.
    pub(crate) fn words(&self, documents: u32) -> Vec<u32> {
        (0..self.first.len() as u32).filter(|&word| self.first[word as usize] < documents).collect()
    }

    /// The numbers of the documents that contain `word`, among the first `documents`, ascending.
    pub(crate) fn list(&self, word: u32, documents: u32) -> Vec<u32> {
        let mut list = self.lists.get(word).into_owned();
        list.truncate(list.partition_point(|&number| number < documents));
        list
    }

    /// The number of words of each of the first `documents` documents.
    pub(crate) fn words_of(&self, documents: u32) -> impl Iterator<Item = u32> {
        self.words_of[..documents as usize].iter().copied()
    }

    /// The number of documents that contain `word`, among the first `documents`.
    pub(crate) fn size(&self, word: u32, documents: u32) -> u64 {
        match &self.lists {
            Lists::Drawn(zipf) if documents == self.documents() => u64::from(zipf.size(word)),
            lists => lists.get(word).partition_point(|&number| number < documents) as u64,
        }
    }

    /// The ids of the documents with the numbers in `list`, ascending.
    pub(crate) fn ids(&self, list: &[u32]) -> Vec<ContentId> {
        let mut ids: Vec<_> = list.iter().map(|&number| self.ids[number as usize]).collect();
        ids.sort_unstable();
        ids
    }
}

impl Lists {
    fn get(&self, word: u32) -> Cow<'_, [u32]> {
        match self {
            Self::Kept(lists) => lists[word as usize].as_slice().into(),
            Self::Drawn(zipf) => zipf.list(word).into(),
        }
    }
}

/// One id for each document, drawn from a seed.
pub(crate) fn ids(documents: u32, seed: u64) -> Vec<ContentId> {
    let mut random = Random::new(seed, IDS);
    let mut id = || {
        let mut bytes = [0; ContentId::BYTES];
        bytes.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&random.next().to_le_bytes()[..chunk.len()]));
        ContentId::new(bytes)
    };
    (0..documents).map(|_| id()).collect()
}
