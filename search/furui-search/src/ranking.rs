use std::cmp::Reverse;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use super::{ContentId, NoContentId, Weight};

/// BM25's parameter k₁: the larger it is, the more repeated occurrences of a word increase the score.
const K1: f64 = 1.2;
/// BM25's parameter b: the influence of a document's length on the score.
const B: f64 = 0.75;
/// The fixed-point representation of 1 for an idf or a factor.
const ONE: f64 = Place::ONE as f64;

/// The place of a document in the ranking: higher scores come first, and smaller ids come first among equal scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The sum of the words' scores; see [`Scale::score`].
    pub score: u32,
    /// The id of the document.
    pub id: ContentId,
}

impl Place {
    /// The fixed-point representation of a BM25 score of 1.
    pub const ONE: u32 = 1024;
    /// The place before all others: no document has a higher score or, with this score, a smaller id.
    pub const FIRST: Self = Self { score: u32::MAX, id: ContentId::new([0; ContentId::BYTES]) };
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (Reverse(self.score), self.id).cmp(&(Reverse(other.score), other.id))
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Place {
    /// Writes the score and the id in hexadecimal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}{}", self.score, self.id)
    }
}

impl FromStr for Place {
    type Err = NoContentId;

    /// Parses a place in hexadecimal, as [`Display`](fmt::Display) writes it.
    fn from_str(text: &str) -> Result<Self, NoContentId> {
        let (score, id) = text.split_at_checked(8).ok_or(NoContentId)?;
        if !score.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(NoContentId);
        }
        Ok(Self { score: u32::from_str_radix(score, 16).map_err(|_| NoContentId)?, id: id.parse()? })
    }
}

/// The score of postings, for documents of a given mean length: BM25's factor for f occurrences of a word,
///
/// f (k₁ + 1) / (f + k₁ (1 - b + b length / mean)), in units of 1/1024.
///
/// The factor is computed with +, × and ÷ only, so that it is equal on all machines. Cost: a table of 4,096 numbers.
/// The last table is cached, because nodes agree about the mean length.
#[derive(Clone, Debug)]
pub struct Scale {
    factors: Arc<[u32]>,
}

/// The last scale that was made, with the mean length of documents for which it was made.
static LAST: Mutex<Option<(u32, Scale)>> = Mutex::new(None);

impl Scale {
    /// Makes the scale for documents of `mean_length` words on average.
    pub fn new(mean_length: u32) -> Self {
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, scale)) = last.as_ref().filter(|(mean, _)| *mean == mean_length) {
            return scale.clone();
        }
        let scale = Self { factors: Self::factors(f64::from(mean_length.max(1))).into() };
        *last = Some((mean_length, scale.clone()));
        scale
    }

    fn factors(mean: f64) -> Vec<u32> {
        let mut factors = Vec::with_capacity(usize::from(Weight::STEPS) * Weight::LENGTHS);
        for step in 0..Weight::STEPS {
            for length in 0..=255 {
                let weight = Weight::of_steps(step, length);
                let often = f64::from(weight.occurrences());
                let norm = K1 * (1.0 - B + B * f64::from(weight.length()) / mean);
                factors.push((often * (K1 + 1.0) / (often + norm) * ONE).round() as u32);
            }
        }
        factors
    }

    /// The score that a word with this inverse document frequency (idf) adds to a document with a posting of this
    /// weight.
    #[inline]
    pub fn score(&self, idf: u32, weight: Weight) -> u32 {
        let factor = self.factors[usize::from(weight.step()) * Weight::LENGTHS + usize::from(weight.length_step())];
        (u64::from(idf) * u64::from(factor) / ONE as u64) as u32
    }

    /// The maximum score of a document with the length in `weight`, for words whose inverse document frequencies (idfs)
    /// add up to `idfs`.
    #[inline]
    pub fn most(&self, idfs: u32, weight: Weight) -> u32 {
        self.score(idfs, Weight::of_steps(Weight::STEPS - 1, weight.length_step()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Survey, Surveyed, limits};
    use super::*;

    #[test]
    fn scores_are_bm25() {
        let survey = Survey { documents: 64_000, mean_length: 32 };
        let scale = Scale::new(survey.mean_length);
        for (size, often, length) in [(1, 1, 10), (500, 3, 32), (20_000, 8, 128), (64_000, 1, 15)] {
            let idf = (1.0 + (64_000.0 - size as f64 + 0.5) / (size as f64 + 0.5)).ln();
            let (f, l) = (f64::from(often), f64::from(length));
            let bm25 = idf * f * 2.2 / (f + 1.2 * (0.25 + 0.75 * l / 32.0));
            let score = f64::from(scale.score(survey.idf(size), Weight::new(often, length))) / 1024.0;
            assert!((score - bm25).abs() < 0.02 * bm25 + 0.01, "{score} {bm25}");
        }
        // More occurrences never decrease the score, and no score exceeds its bound.
        for length in 0..=255 {
            let of = |step| scale.score(5000, Weight::of_steps(step, length));
            assert!((1..16).all(|step| of(step) >= of(step - 1)));
            assert_eq!(scale.most(5000, Weight::of_steps(0, length)), of(15));
        }
    }

    #[test]
    fn no_number_is_too_much() {
        assert!(Survey { documents: u64::MAX, mean_length: u32::MAX }.idf(0) <= limits::IDF);
        assert_eq!(Survey::default().idf(u64::MAX), 1);
        let most = Surveyed { documents: u64::MAX, mean_length: u32::MAX, whole: true };
        assert!(Survey::median(&[most]).unwrap().documents > u64::MAX / 2);
        assert_eq!(Survey::median(&[Surveyed { documents: 0, ..most }]), Some(Survey::default()));
        let all = limits::IDF * limits::WORDS as u32;
        assert!(u64::from(all) * 3 < u64::from(u32::MAX));
        assert_eq!(Scale::new(1).score(all, Weight::of_steps(15, 0)), Scale::new(1).most(all, Weight::default()));
    }

    #[test]
    fn places_are_in_the_order_of_an_answer() {
        let place = |score, id| Place { score, id: ContentId::new([id; 20]) };
        let mut places = [place(1, 1), place(7, 9), place(7, 2), place(0, 0)];
        places.sort();
        assert_eq!(places, [place(7, 2), place(7, 9), place(1, 1), place(0, 0)]);
        for place in places {
            assert_eq!(place.to_string().parse(), Ok(place));
        }
        for bad in ["", "00000007", "+0000001", &"g".repeat(48), &"é".repeat(24)] {
            assert_eq!(bad.parse::<Place>(), Err(NoContentId));
        }
    }
}
