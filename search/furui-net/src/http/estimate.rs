use std::collections::BTreeSet;

use furui_search::Report;

/// Estimates how many documents there are: of each list that was read, the part in which documents were found. `None`
/// if nothing shows it.
pub(super) fn estimate(report: &Report) -> Option<u64> {
    let clauses: BTreeSet<usize> = report.rounds.iter().map(|round| round.clause).collect();
    let about = clauses.into_iter().map(|clause| {
        let rounds = || report.rounds.iter().filter(|round| round.clause == clause);
        let first = rounds().next().and_then(|round| round.words.first());
        let size = report.words.iter().find(|word| Some(&word.word) == first).map_or(0, |word| word.size);
        let (seen, found) = rounds().fold((0.0, 0.0), |(seen, found), round| {
            (seen + round.seen as f64, found + round.found.min(round.seen) as f64)
        });
        if seen > 0.0 { size as f64 * found / seen } else { 0.0 }
    });
    let about: f64 = about.sum();
    if about < 1.0 {
        return None;
    }
    // Two digits say enough.
    let unit = 10f64.powi((about.log10().floor() as i32 - 1).max(0));
    Some(((about / unit).round() * unit) as u64)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use furui_search::{Peer, Round, WordReport};

    use super::*;

    #[test]
    fn a_total_is_estimated_from_the_part_of_the_list_that_was_read() {
        let round = |clause, word: &str, seen, found| Round {
            clause,
            words: vec![word.to_owned()],
            host: Peer::new(&[], &[]),
            most: 0,
            seen,
            found,
            sent_bytes: 0,
            back_bytes: 0,
            costs: vec![],
            at: Duration::ZERO,
        };
        let word = |word: &str, size| WordReport { word: word.to_owned(), size, whole: true };
        let about = |rounds| {
            let words = vec![word("rare", 1234), word("usual", u64::MAX)];
            estimate(&Report { words, rounds, ..Report::default() })
        };
        assert_eq!(about(vec![]), None);
        assert_eq!(about(vec![round(0, "rare", 100, 50), round(0, "rare", 100, 50)]), Some(620));
        assert_eq!(about(vec![round(0, "rare", 10, 10), round(1, "rare", 10, 1)]), Some(1400));
        assert_eq!(about(vec![round(0, "rare", 0, 5)]), None);
        assert_eq!(about(vec![round(0, "rare", 1, 900)]), Some(1200), "others may state anything");
        assert_eq!(about(vec![round(0, "usual", 1, 1)]), Some(18_000_000_000_000_000_000));
        assert_eq!(about(vec![round(0, "none", 1, 1)]), None);
    }
}
