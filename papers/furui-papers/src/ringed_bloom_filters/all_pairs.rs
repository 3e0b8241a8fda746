//! The mean traffic over all pairs of words, by formula. The mean over many queries converges to it.

use std::collections::BTreeMap;

use furui::filter::sizing;
use furui_search::ContentId;

use super::RATES;
use super::corpus::Corpus;

const ZETA: f64 = ContentId::BITS as f64;

/// For each number of probes, the size in bits of the fixed filter that is best for half of the documents of the
/// corpus. Sei et al. chose their size for 50,000 of 100,000 documents.
pub(crate) fn tuned_for(corpus: &Corpus) -> Vec<u64> {
    AllPairs::new(corpus, corpus.documents() / 2).tuned_bits()
}

/// The sizes of the words' lists among the first documents of a corpus.
pub(crate) struct AllPairs {
    /// The number of words' lists of each size.
    sizes: BTreeMap<u64, u64>,
    words: f64,
    documents: f64,
    /// The mean size of a list.
    size: f64,
    /// The mean number of documents that two different lists have in common.
    common: f64,
}

impl AllPairs {
    pub(crate) fn new(corpus: &Corpus, documents: u32) -> Self {
        let words = corpus.words(documents);
        let mut sizes = BTreeMap::new();
        words.iter().for_each(|&word| *sizes.entry(corpus.size(word, documents)).or_insert(0) += 1);
        let words = words.len() as f64;
        // A document with w words is common to w (w - 1) ordered pairs of words.
        let pairs = corpus.words_of(documents).map(|words| f64::from(words) * (f64::from(words) - 1.0));
        let size = sizes.iter().map(|(&size, &count)| size as f64 * count as f64).sum::<f64>() / words;
        let common = pairs.sum::<f64>() / (words * (words - 1.0));
        Self { sizes, words, documents: documents.into(), size, common }
    }

    fn mean(&self, of: impl Fn(f64) -> f64) -> f64 {
        self.sizes.iter().map(|(&size, &count)| of(size as f64) * count as f64).sum::<f64>() / self.words
    }

    /// The mean traffic, in bits, of the algorithm (TFA) of Sei et al. with Bloom filters of `bits` bits (eq. 1).
    pub(crate) fn fixed(&self, probes: u32, bits: u64) -> f64 {
        // The number of documents in common with a list is taken to be proportional to the list's size.
        let similarity = self.common * self.documents / (self.size * self.size);
        let wrong = |size: f64| (1.0 - similarity * size / self.documents) * sizing::rate(probes, size as u64, bits);
        bits as f64 + ZETA * (self.common + self.size * self.mean(wrong))
    }

    /// The mean traffic, in bits, of the algorithm (TFA) of Sei et al. with ringed filters of γ bits a key (eq. 15).
    pub(crate) fn ringed(&self, probes: u32, gamma: f64) -> f64 {
        let rate = (-(-f64::from(probes) / gamma).exp_m1()).powi(probes as i32);
        self.mean(|size| (size * gamma).ceil()) + ZETA * (self.common + (self.size - self.common) * rate)
    }

    /// For each number of probes, the size in bits of the fixed filter that has the least mean traffic. Sei et al.
    /// chose their size in this way. Sizes are tried in steps of 2 %, which is enough, because the minimum is flat.
    pub(crate) fn tuned_bits(&self) -> Vec<u64> {
        let candidates = (0..).map(|i| (16.0 * 1.02f64.powi(i)) as u64).take_while(|&bits| bits < 1 << 18);
        let candidates: Vec<u64> = candidates.collect();
        RATES
            .map(|probes| {
                let costs = candidates.iter().map(|&bits| (self.fixed(probes, bits), bits));
                costs.min_by(|a, b| a.0.total_cmp(&b.0)).expect("there are candidates").1
            })
            .collect()
    }
}
