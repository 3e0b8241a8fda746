//! A corpus that follows the Zipf-Mandelbrot law.

use crate::keys::Random;

/// The parameters of the law; [`Law::PAPER`] has those of the paper of Sei et al.
#[derive(Clone, Copy)]
pub(crate) struct Law {
    pub(crate) documents: u32,
    /// The number of words that occur.
    pub(crate) words: u32,
    /// The mean number of words of a document.
    pub(crate) words_each: f64,
    /// The number of documents of the most frequent word. This is the only parameter that the paper of Sei et al. does
    /// not give.
    pub(crate) top: u32,
}

impl Law {
    /// The parameters of Table 1 of Sei et al. With `top` at 68,000, the largest list among 5000 pairs is near the one
    /// in their Fig. 7.
    pub(crate) const PAPER: Self = Self { documents: 100_000, words: 47_086, words_each: 632.7, top: 68_000 };
    /// Small parameters of about the same proportions, for tests.
    pub(crate) const QUICK: Self = Self { documents: 2000, words: 1000, words_each: 16.0, top: 1300 };
}

/// A law by which the r-th most frequent word is in C / (r + q)ˢ documents and the last word in one document. The
/// documents of each word are drawn at random.
pub(crate) struct Zipf {
    documents: u32,
    sizes: Vec<u32>,
    seed: u64,
}

impl Zipf {
    /// Fits the law to three numbers that follow from `shape`: the sizes of the first and the last word's list, and the
    /// sum of all sizes.
    pub(crate) fn fit(shape: Law, seed: u64) -> Self {
        let total = shape.words_each * f64::from(shape.documents);
        let (mut low, mut high) = (1.0, 20.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            let sum: u64 = sizes(shape, middle).map(u64::from).sum();
            *(if sum as f64 > total { &mut high } else { &mut low }) = middle;
        }
        Self { documents: shape.documents, sizes: sizes(shape, low).collect(), seed }
    }

    pub(crate) fn size(&self, word: u32) -> u32 {
        self.sizes[word as usize]
    }

    /// The documents of a word, ascending, drawn by Floyd's sampling: every set of the word's size is equally likely.
    pub(crate) fn list(&self, word: u32) -> Vec<u32> {
        let mut random = Random::new(self.seed, 1 << 32 | u64::from(word));
        let mut chosen = vec![0u64; self.documents.div_ceil(64) as usize];
        let size = self.size(word);
        for last in self.documents - size..self.documents {
            let drawn = random.below(u64::from(last) + 1) as u32;
            let taken = chosen[drawn as usize / 64] >> (drawn % 64) & 1 == 1;
            let number = if taken { last } else { drawn };
            chosen[number as usize / 64] |= 1 << (number % 64);
        }
        let mut list = Vec::with_capacity(size as usize);
        for (i, mut bits) in chosen.into_iter().enumerate() {
            while bits != 0 {
                list.push(64 * i as u32 + bits.trailing_zeros());
                bits &= bits - 1;
            }
        }
        list
    }
}

/// The sizes of the lists for the exponent s. The law's q (`offset`) follows from the first and the last size.
fn sizes(shape: Law, exponent: f64) -> impl Iterator<Item = u32> {
    let (words, top) = (f64::from(shape.words), f64::from(shape.top));
    let ratio = top.powf(1.0 / exponent);
    let offset = (words - ratio) / (ratio - 1.0);
    (1..=shape.words).map(move |rank| {
        let size = top * ((1.0 + offset) / (f64::from(rank) + offset)).powf(exponent);
        (size.round() as u32).max(1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_law_has_the_figures_of_its_shape() {
        let shape = Law::QUICK;
        let zipf = Zipf::fit(shape, 1);
        let total: u64 = (0..shape.words).map(|word| zipf.list(word).len() as u64).sum();
        let each = total as f64 / f64::from(shape.documents);
        assert!((each / shape.words_each - 1.0).abs() < 0.02, "{each} words a document");
        assert_eq!((zipf.size(0), zipf.size(shape.words - 1)), (shape.top, 1));
        for word in [0, 10, 999] {
            let list = zipf.list(word);
            assert!(list.is_sorted_by(|a, b| a < b) && list.iter().all(|&number| number < shape.documents));
            assert_eq!(list.len() as u32, zipf.size(word));
        }
    }
}
