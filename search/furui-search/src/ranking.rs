use std::cmp::Reverse;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::OnceLock;

use super::weight::{length_of, occurrences_of};
use super::{ContentId, Grade, NoContentId, Weight, limits};

/// BM25's parameter k₁: the larger it is, the more repeated occurrences of a word increase the score.
const K1: f64 = 1.2;
/// BM25's parameter b: the influence of a document's length on the score.
const B: f64 = 0.3;
/// The length of a shorter document in its scores, in words. Otherwise a text that says nothing but the words of a
/// query would come before all others.
const SHORTEST: u32 = 256;
/// The share of a word's score that remains if a document has the word with other accents, and if it has another form.
/// Measured on manuals: .8 and .5.
const CLASSES: [u32; 3] = [Place::ONE, Place::ONE * 4 / 5, Place::ONE / 2];
/// The largest bonus of a title, and the weights of its three parts. Measured on manuals.
const BONUS: [f64; 4] = [0.7, 0.6, 0.4, 0.5];
/// The share of the bonus for the very title if the query has its words in other forms. Measured on manuals.
const OTHER_FORMS: f64 = 0.7;
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
                let often = f64::from(occurrences_of(step));
                let norm = K1 * (1.0 - B + B * f64::from(length_of(length).max(SHORTEST)) / mean);
                factors.push((often * (K1 + 1.0) / (often + norm) * ONE).round() as u32);
            }
        }
        factors
    }

    /// The score that a word with this inverse document frequency (idf) adds to a document of this [length
    /// step](Weight::length_step), whose posting answers the word so well.
    #[inline]
    pub fn score(&self, idf: u32, grade: Grade, length_step: u8) -> u32 {
        let factor = self.factors[usize::from(grade.step()) * Weight::LENGTHS + usize::from(length_step)];
        let class = CLASSES[usize::from(grade.class())];
        (u64::from(idf) * u64::from(factor) * u64::from(class) / (u64::from(Place::ONE) * u64::from(Place::ONE))) as u32
    }
}

/// The score of a document for the words of a conjunction, which are added one by one.
///
/// It is the sum of the words' scores, times 1 + .7 (.6 s² + .4 c s^¼ + .5 e), where s is the share in the title of the
/// sum of the words' idfs, c is the share of the title's own words (those about the document, not about its site) that
/// the query has. If both are 1, e is 1, or .7 if the title has a word of the query in another form only; else e is 0.
/// The factor is computed with +, ×, ÷ and √ only, so that it is equal on all machines. It multiplies the
/// score of the text, so that a title alone gains nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    sum: u32,
    title_idf: u32,
    title_words: u8,
    has_other_forms: bool,
}

impl Score {
    /// Adds a word with this idf, for which the document has a posting with these [bits of its
    /// size](Weight::size_bits).
    #[inline]
    pub fn add(&mut self, scale: &Scale, idf: u32, grade: Grade, size_bits: u16) {
        self.sum = self.sum.saturating_add(scale.score(idf, grade, size_bits as u8));
        // Words that do not count, such as those for sites, are in no title.
        if grade.is_in_title() && idf > 0 {
            self.title_idf = self.title_idf.saturating_add(idf);
            self.title_words = self.title_words.saturating_add(grade.is_in_own_title().into());
            self.has_other_forms |= !grade.is_title();
        }
    }

    /// The score of the document, if the idfs of the conjunction's words add up to `idfs`.
    pub fn of(self, idfs: u32, size_bits: u16) -> u32 {
        let title_words = f64::from(size_bits >> 8);
        if self.title_idf == 0 || title_words == 0.0 {
            return self.sum;
        }
        let share = (f64::from(self.title_idf) / f64::from(idfs.max(1))).min(1.0);
        let covered = (f64::from(self.title_words) / title_words).min(1.0);
        let equals = match share == 1.0 && covered == 1.0 {
            true if self.has_other_forms => OTHER_FORMS,
            true => 1.0,
            false => 0.0,
        };
        let [bonus, in_title, of_title, equal] = BONUS;
        let title = in_title * share * share + of_title * covered * share.sqrt().sqrt() + equal * equals;
        (f64::from(self.sum) * (1.0 + bonus * title)) as u32
    }

    /// The largest score that the document may have, if `words` further words with these idfs in total may be added.
    pub fn most(mut self, scale: &Scale, idfs: u32, others: u32, words: usize, size_bits: u16) -> u32 {
        self.sum = self.sum.saturating_add(scale.score(others, Grade::BEST, size_bits as u8));
        self.title_idf = self.title_idf.saturating_add(others);
        self.title_words = self.title_words.saturating_add(u8::try_from(words).unwrap_or(u8::MAX));
        self.of(idfs, size_bits)
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
    use super::super::Asked;
    use super::*;

    #[test]
    fn scores_are_bm25() {
        let scale = Scale::new(10);
        for (size, often, length) in [(1, 1, 10), (500, 3, 32), (20_000, 8, 1280), (64_000, 1, 8192)] {
            let exact = 1.0 + (64_000.0 / size as f64).ln();
            let (f, l) = (f64::from(often), f64::from(length).max(256.0));
            let bm25 = exact * f * 2.2 / (f + 1.2 * (0.7 + 0.3 * l / 1024.0));
            let weight = Weight::new(often, length);
            let grade = Asked::of("a").grade(weight).unwrap();
            let score = f64::from(scale.score(idf(64_000, size), grade, weight.length_step())) / 1024.0;
            assert!((score - bm25).abs() < 0.02 * bm25 + 0.01, "{score} {bm25}");
        }
        // More occurrences never decrease the score, nor does a form that is nearer to what was asked for.
        let grades = |class: u8| (0..Weight::STEPS).filter_map(move |step| Grade::of_bits(step << 4 | class << 2));
        for length in 0..=255 {
            let scores = |class| grades(class).map(|grade| scale.score(5000, grade, length)).collect::<Vec<_>>();
            let [exact, folded, weak] = [0, 1, 2].map(scores);
            assert!(exact.is_sorted() && exact.iter().zip(&folded).all(|(a, b)| a > b));
            assert!(folded.iter().zip(&weak).all(|(a, b)| a > b));
        }
    }

    #[test]
    fn titles_multiply_and_no_score_exceeds_its_bound() {
        let (scale, idfs) = (Scale::new(8), [1024, 3000, 2000]);
        let total = idfs.iter().sum();
        let score = |grades: &[u8], title_words: usize| {
            let size = Weight::size_of(300, title_words);
            let mut score = Score::default();
            for (number, &grade) in grades.iter().enumerate() {
                let others: u32 = idfs[number..].iter().sum();
                let bound = score.most(&scale, total, others, idfs.len() - number, size);
                score.add(&scale, idfs[number], Grade::of_bits(grade).unwrap(), size);
                assert!(score.most(&scale, total, others - idfs[number], idfs.len() - number - 1, size) <= bound);
            }
            f64::from(score.of(total, size))
        };
        let text = score(&[0, 0, 0], 3);
        assert_eq!(score(&[0, 0, 0], 0), text);
        for (grades, title_words, bonus) in [
            ([3, 3, 3], 3, 0.6 + 0.4 + 0.5),
            ([3, 2, 3], 3, 0.6 + 0.4 + 0.5 * 0.7),
            ([3, 1, 3], 2, 0.6 + 0.4 + 0.5 * 0.7),
            ([3, 1, 3], 3, 0.6 + 0.4 * 2.0 / 3.0),
            ([3, 3, 3], 6, 0.6 + 0.4 * 0.5),
            ([0, 3, 0], 1, 0.6 * (3000f64 / 6024.0).powi(2) + 0.4 * (3000f64 / 6024.0).powf(0.25)),
        ] {
            let ratio = score(&grades, title_words) / text;
            assert!((ratio - (1.0 + 0.7 * bonus)).abs() < 0.001, "{ratio} {bonus}");
        }
    }

    #[test]
    fn no_number_is_too_much() {
        assert_eq!([idf(0, 0), idf(7, 7), idf(1, u64::MAX)], [1024; 3]);
        assert_eq!(idf(u64::MAX, 0), limits::IDF);
        let all = limits::IDF * limits::WORDS as u32;
        assert!(u64::from(all) * 6 < u64::from(u32::MAX));
        assert_eq!(Scale::new(0).score(all, Grade::BEST, 0), Scale::new(6).score(all, Grade::BEST, 0));
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
