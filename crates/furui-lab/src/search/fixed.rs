//! The size that all fixed Bloom filters of a system have.

use std::collections::BTreeMap;

use furui::filter::sizing;
use furui::search::ContentId;

use super::RATES;
use super::corpus::Corpus;

/// The paper's size, in bits.
pub(super) const PAPER_BITS: u64 = 2164;

/// For each number of probes the bits with the least mean traffic of two words drawn from all that occur in the first
/// `documents`, as the paper chose its size: where the traffic of trials was least.
///
/// The mean is that of all pairs, by eq. 1 and as if words were independent; it is so flat around the least that steps
/// of 2 % will do.
pub(super) fn tuned_bits(corpus: &Corpus, documents: u32) -> Vec<u64> {
    let mut sizes = BTreeMap::new();
    corpus.words(documents).into_iter().for_each(|word| *sizes.entry(corpus.size(word, documents)).or_insert(0u64) += 1);
    let words: u64 = sizes.values().sum();
    let mean = |of: &dyn Fn(u64) -> f64| {
        sizes.iter().map(|(&size, &count)| of(size) * count as f64).sum::<f64>() / words as f64
    };
    let answered = ContentId::BITS as f64 * mean(&|size| size as f64);
    let traffic = |probes: u32, bits: u64| -> f64 {
        let passed = |size: u64| {
            let common = size as f64 / f64::from(documents);
            common + (1.0 - common) * sizing::rate(probes, size, bits)
        };
        bits as f64 + answered * mean(&passed)
    };
    let candidates = (0..).map(|i| (16.0 * 1.02f64.powi(i)) as u64).take_while(|&bits| bits < 1 << 18);
    let candidates: Vec<u64> = candidates.collect();
    RATES
        .map(|probes| {
            let costs = candidates.iter().map(|&bits| (traffic(probes, bits), bits));
            costs.min_by(|a, b| a.0.total_cmp(&b.0)).expect("there are candidates").1
        })
        .collect()
}
