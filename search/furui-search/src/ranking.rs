use std::cmp::Reverse;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::OnceLock;

use super::{ContentId, NoContentId, Weight, limits};

/// BM25's parameter k₁: the larger it is, the more repeated occurrences of a word increase the score.
const K1: f64 = 1.2;
/// BM25's parameter b: the influence of a document's length on the score.
const B: f64 = 0.3;
/// The length of a shorter document in its scores, in words. Otherwise a text that says nothing but the words of a
/// query would come before all others.
const SHORTEST: u32 = 256;
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
/// f (k₁ + 1) / (f + k₁ (1 - b + b length / mean)), in units of 1/1024, where a length below 256 counts as 256.
///
/// The factor is computed with +, × and ÷ only, so that it is equal on all machines. Cost: a table of 4,096 numbers for
/// each mean length, which is made once.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    factors: &'static [u32],
}

/// The scales for all mean lengths.
static SCALES: [OnceLock<Vec<u32>>; 7] = [const { OnceLock::new() }; 7];

impl Scale {
    /// The possible mean lengths of documents, as exponents of two: 64 to 4096 words.
    pub const LENGTHS: RangeInclusive<u8> = 6..=12;
    /// The mean length, as an exponent of two, if no word of a query is scored.
    pub const USUAL: u8 = 8;

    /// Makes the scale for documents of 2 to the power of `log_length` words on average. An exponent outside of
    /// [`LENGTHS`](Self::LENGTHS) is taken as the nearest one.
    pub fn new(log_length: u8) -> Self {
        let log_length = log_length.clamp(*Self::LENGTHS.start(), *Self::LENGTHS.end());
        let scale = &SCALES[usize::from(log_length - Self::LENGTHS.start())];
        Self { factors: scale.get_or_init(|| Self::factors(f64::from(1u32 << log_length))) }
    }

    fn factors(mean: f64) -> Vec<u32> {
        let mut factors = Vec::with_capacity(usize::from(Weight::STEPS) * Weight::LENGTHS);
        for step in 0..Weight::STEPS {
            for length in 0..=255 {
                let weight = Weight::of_steps(step, length);
                let often = f64::from(weight.occurrences());
                let norm = K1 * (1.0 - B + B * f64::from(weight.length().max(SHORTEST)) / mean);
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

/// The inverse document frequency (idf) of a word whose list has `size` ids, in a query whose longest list has
/// `longest`: 1 + ln(longest / size), in units of 1/1024.
///
/// Both numbers are those that the keepers of the query's own words state, so no other node can change an order. They
/// are rounded to five bits, so that small changes do not.
pub fn idf(longest: u64, size: u64) -> u32 {
    let ratio = rounded(longest.max(size)).max(1) as f64 / rounded(size).max(1) as f64;
    ((1.0 + ratio.ln()) * ONE).round().clamp(ONE, limits::IDF.into()) as u32
}

/// The number, rounded to its five most significant bits.
pub(super) fn rounded(number: u64) -> u64 {
    let dropped = (64 - number.leading_zeros()).saturating_sub(5);
    // Halves are rounded up.
    let half = if dropped == 0 { 0 } else { 1 << (dropped - 1) };
    number.saturating_add(half) >> dropped << dropped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_bm25() {
        let scale = Scale::new(10);
        for (size, often, length) in [(1, 1, 10), (500, 3, 32), (20_000, 8, 1280), (64_000, 1, 8192)] {
            let exact = 1.0 + (64_000.0 / size as f64).ln();
            let (f, l) = (f64::from(often), f64::from(length).max(256.0));
            let bm25 = exact * f * 2.2 / (f + 1.2 * (0.7 + 0.3 * l / 1024.0));
            let score = f64::from(scale.score(idf(64_000, size), Weight::new(often, length))) / 1024.0;
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
        assert_eq!([idf(0, 0), idf(7, 7), idf(1, u64::MAX)], [1024; 3]);
        assert_eq!(idf(u64::MAX, 0), limits::IDF);
        let all = limits::IDF * limits::WORDS as u32;
        assert!(u64::from(all) * 3 < u64::from(u32::MAX));
        assert_eq!(Scale::new(0).score(all, Weight::of_steps(15, 0)), Scale::new(6).most(all, Weight::default()));
        assert_eq!(Scale::new(99).factors, Scale::new(12).factors);
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
