use super::{Place, limits};

/// The fixed-point representation of an idf of 1.
const ONE: f64 = Place::ONE as f64;

/// A node's estimate of all documents of the network, from the records that it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Surveyed {
    /// The estimated number of documents in the whole network.
    pub documents: u64,
    /// The mean number of words in a document; 0 if the node holds no documents.
    pub mean_length: u32,
    /// True if the node has been given everything that it should hold.
    pub whole: bool,
}

/// An estimate of the number of all documents and of their mean length. Both are rounded to powers of two, so that
/// small changes do not alter the order of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Survey {
    /// The approximate number of documents.
    pub documents: u64,
    /// The approximate mean number of words in a document.
    pub mean_length: u32,
}

impl Default for Survey {
    /// Returns the survey (number and mean length of documents) that is used if nothing is known about the documents.
    fn default() -> Self {
        Self { documents: 0, mean_length: 128 }
    }
}

impl Survey {
    /// Combines the estimates of several nodes: takes the median of the numbers of documents and the median of the
    /// lengths, so that a minority of the nodes can change neither. Nodes that do not hold everything that they should
    /// count only if less than a third of the nodes with documents state that they do: these few might be liars. `None`
    /// if there are no estimates.
    pub fn median(estimates: &[Surveyed]) -> Option<Self> {
        let hold_something = estimates.iter().filter(|estimate| estimate.whole || estimate.documents > 0).count();
        let whole = estimates.iter().filter(|estimate| estimate.whole).count();
        let counts = |estimate: &&Surveyed| match (3 * whole >= hold_something, whole) {
            (_, 0) => true,
            (true, _) => estimate.whole,
            (false, _) => estimate.whole || estimate.documents > 0,
        };
        let counting = || estimates.iter().filter(counts);
        let documents = median(counting().map(|estimate| estimate.documents).collect())?;
        if documents == 0 {
            return Some(Self::default());
        }
        let lengths = counting().map(|estimate| u64::from(estimate.mean_length)).filter(|&length| length > 0);
        let mean_length = median(lengths.collect()).unwrap_or(1);
        Some(Self {
            documents: steady(documents, None),
            mean_length: u32::try_from(steady(mean_length, None)).unwrap_or(u32::MAX),
        })
    }

    /// BM25's inverse document frequency of a word whose list has `size` ids, in units of 1/1024; at least 1.
    pub fn idf(&self, size: u64) -> u32 {
        let size = rounded(size);
        let (documents, size) = (self.documents.max(size) as f64, size as f64);
        let idf = (1.0 + (documents - size + 0.5).max(0.5) / (size + 0.5)).ln();
        (idf * ONE).round().clamp(1.0, limits::IDF.into()) as u32
    }
}

impl Surveyed {
    /// Rounds the estimate for an answer to another node: to powers of two, except that a number keeps its value in the
    /// previous answer `last` while it is less than twice and more than half as much. Otherwise an estimate near the
    /// middle between two powers of two could change the ranking from one query to the next. The answering nodes, not
    /// the asking ones, remember their last answer, because all asking nodes are to get the same survey, even those
    /// that have just joined.
    pub fn steadied(self, last: Option<Self>) -> Self {
        let last = last.filter(|last| last.whole == self.whole);
        let mean_length = steady(self.mean_length.into(), last.map(|last| last.mean_length.into()));
        Self {
            documents: if self.documents == 0 { 0 } else { steady(self.documents, last.map(|last| last.documents)) },
            mean_length: if self.mean_length == 0 { 0 } else { u32::try_from(mean_length).unwrap_or(u32::MAX) },
            whole: self.whole,
        }
    }
}

/// The median; of an even number of values, the smaller of the two in the middle. `None` if there are no values.
fn median(mut numbers: Vec<u64>) -> Option<u64> {
    numbers.sort_unstable();
    numbers.get(numbers.len().checked_sub(1)? / 2).copied()
}

/// Returns `last` if it is less than twice and more than half of the number, and otherwise the power of two with the
/// ratio to the number that is nearest to 1.
fn steady(number: u64, last: Option<u64>) -> u64 {
    if let Some(last) = last.filter(|&last| number > last / 2 && number / 2 < last) {
        return last;
    }
    let below = 1 << number.max(1).ilog2();
    let is_near = u128::from(number).pow(2) <= 2 * u128::from(below).pow(2);
    if is_near { below } else { below.saturating_mul(2) }
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
    fn one_liar_in_five_does_not_change_a_survey() {
        // Estimates differ by some percent, because nodes hold different documents.
        let honest =
            |number: u64| Surveyed { documents: 9_600 + 50 * number, mean_length: 290 + number as u32, whole: true };
        let all: Vec<Surveyed> = (0..20).map(honest).collect();
        let truth = Survey { documents: 8192, mean_length: 256 };
        assert_eq!(Survey::median(&all), Some(truth));
        for (documents, mean_length) in [(0, 0), (1, 1), (u64::MAX, u32::MAX), (u64::MAX, 1)] {
            let mut told = all.clone();
            told.iter_mut().step_by(5).for_each(|lie| *lie = Surveyed { documents, mean_length, whole: true });
            assert_eq!(Survey::median(&told), Some(truth));
        }
        // Nodes that have just joined and hold nothing yet are ignored if there are others.
        let new = Surveyed::default();
        assert_eq!(Survey::median(&[&[new; 30], &all[..]].concat()), Some(truth));
        assert_eq!(Survey::median(&[new]), Some(Survey::default()));
        // All established nodes may be incomplete for a moment, apart from those that lie.
        let mut lacking = all.clone();
        lacking.iter_mut().enumerate().for_each(|(number, told)| match number % 5 {
            0 => *told = Surveyed { documents: u64::MAX, mean_length: 1, whole: true },
            _ => told.whole = false,
        });
        assert_eq!(Survey::median(&lacking), Some(truth));
        assert_eq!(Survey::median(&[]), None);
    }

    #[test]
    fn what_a_node_tells_stays_until_it_is_wrong_by_half() {
        let of = |documents, last: Option<u64>| {
            let told = |documents| Surveyed { documents, mean_length: 7, whole: true };
            told(documents).steadied(last.map(told)).documents
        };
        let near = [(0, 0), (1, 1), (2, 2), (3, 4), (5, 4), (6, 8), (90, 64), (91, 128), (u64::MAX, u64::MAX)];
        near.iter().for_each(|&(documents, rounded)| assert_eq!(of(documents, None), rounded));
        assert_eq!([33, 90, 127].map(|documents| of(documents, Some(64))), [64; 3]);
        assert_eq!([32, 128].map(|documents| of(documents, Some(64))), [32, 128]);
        assert_eq!(of(90, Some(0)), 64);
        let part = Surveyed { documents: 90, mean_length: 0, whole: false };
        assert_eq!(part.steadied(Some(Surveyed { whole: true, documents: 128, mean_length: 8 })).documents, 64);
        assert_eq!(part.steadied(None).mean_length, 0);
    }
}
