use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use furui_search::{Asked, ContentId, Scale, Score};

use crate::shelf::Addition;

/// On average, one document in this number is checked of each message. Chosen: checks then cost a few percent of what a
/// message costs.
const ONE_IN: usize = 32;
/// The minimum number of documents of a message that are checked, unless its publisher is known to be reliable. The
/// value is a choice, not a measurement.
const LEAST: usize = 2;
/// For a known publisher, at most one document is checked per this number of postings, because a record takes as many
/// bytes as some hundred postings.
const POSTINGS: usize = 1024;
/// For the half of the sample with high-ranking postings, each document is drawn from this number of documents that
/// rank highest. The value is a choice, not a measurement.
const AMONG: usize = 4;

/// Draws the documents of a message whose postings are checked. No publisher can predict the sample: half of it is
/// drawn from all documents, and half from the documents whose postings rank high, because a false posting does harm
/// only there. In addition, all [strange](Addition::strange) documents are checked.
///
/// `known` is true if many documents of the publisher were checked and all were true. Then a small message may pass
/// unchecked, but the average number of checks per posting is the same.
pub(in crate::node) fn sample(additions: &[Addition], known: bool) -> HashSet<ContentId> {
    let scale = Scale::new(Scale::USUAL);
    // The keys of this hasher are random.
    let dice = RandomState::new();
    let mut drawn: HashSet<ContentId> = additions.iter().filter(|it| it.strange).map(|it| it.id).collect();
    let mut rest: Vec<&Addition> = additions.iter().filter(|it| !it.strange).collect();
    let claims: usize = rest.iter().map(|addition| addition.claims as usize).sum();
    let count = match known {
        // A fractional number of documents is rounded up with the probability of its fraction.
        true => {
            let per = (ONE_IN * claims).max(POSTINGS * rest.len());
            let (whole, part) = ((rest.len() * claims) / per.max(1), (rest.len() * claims) % per.max(1));
            whole + usize::from((dice.hash_one("chance") % per.max(1) as u64) < part as u64)
        }
        false => rest.len().div_ceil(ONE_IN).max(LEAST),
    };
    let high = count / 2;
    rest.sort_by_cached_key(|addition| {
        let (grade, size) = (Asked::of("").grade(addition.best).unwrap_or_default(), addition.best.size_bits());
        let mut score = Score::default();
        score.add(&scale, 1024, grade, size);
        std::cmp::Reverse(score.of(1024, size))
    });
    let highest = &mut rest[..];
    let among = highest.len().min(high * AMONG);
    highest[..among].sort_by_cached_key(|addition| dice.hash_one(addition.id));
    drawn.extend(highest.iter().take(high).map(|addition| addition.id));
    let mut rest = rest.split_off(high.min(rest.len()));
    rest.sort_by_cached_key(|addition| dice.hash_one(addition.id));
    drawn.extend(rest.iter().take(count - high).map(|addition| addition.id));
    drawn
}

#[cfg(test)]
mod tests {
    use furui_search::Weight;

    use super::*;

    fn addition(number: u32, strange: bool, best: Weight) -> Addition {
        let mut id = [0; ContentId::BYTES];
        id[..4].copy_from_slice(&number.to_le_bytes());
        Addition { id: ContentId::new(id), strange, claims: 4, best }
    }

    #[test]
    fn always_some_are_drawn_and_nobody_knows_which() {
        let weak = Weight::new(1, 500);
        for count in [1, 2, 3, 64, 1000] {
            let all: Vec<Addition> = (0..count).map(|number| addition(number, false, weak)).collect();
            let drawn = sample(&all, false);
            assert_eq!(drawn.len(), (count as usize).div_ceil(ONE_IN).max(LEAST).min(count as usize));
            assert!(count < 64 || drawn != sample(&all, false) || drawn != sample(&all, false));
        }
        assert_eq!(sample(&[], false), HashSet::new());
        assert_eq!(sample(&[], true), HashSet::new());
    }

    #[test]
    fn what_ranks_high_and_what_is_strange_is_drawn_more_often() {
        let all: Vec<Addition> = (0..1000)
            .map(|number| match number {
                0..10 => addition(number, true, Weight::new(1, 500)),
                10..20 => addition(number, false, Weight::new(64, 1)),
                _ => addition(number, false, Weight::new(1, 500)),
            })
            .collect();
        let of = |numbers: std::ops::Range<usize>, drawn: &HashSet<ContentId>| {
            all[numbers].iter().filter(|addition| drawn.contains(&addition.id)).count()
        };
        let draws: Vec<HashSet<ContentId>> = (0..200).map(|_| sample(&all, false)).collect();
        assert!(draws.iter().all(|drawn| of(0..10, drawn) == 10 && drawn.len() == 41));
        // Ten of the 64 high-ranking documents are drawn with probability 1/4, the others with about 1/60.
        let (high, low) = (
            draws.iter().map(|it| of(10..20, it)).sum::<usize>(),
            draws.iter().map(|it| of(500..510, it)).sum::<usize>(),
        );
        assert!((300..800).contains(&high) && low < 120, "{high} and {low}");
    }

    #[test]
    fn of_a_known_publisher_as_many_are_drawn_on_average() {
        let weak = Weight::new(1, 500);
        let one = [addition(1, false, weak)];
        let drawn: usize = (0..20_000).map(|_| sample(&one, true).len()).sum();
        // With four postings, one document is checked with probability 4/1024.
        assert!((40..130).contains(&drawn), "{drawn}");
        let many: Vec<Addition> =
            (0..640).map(|number| Addition { claims: 100, ..addition(number, false, weak) }).collect();
        assert_eq!(sample(&many, true).len(), 20);
    }
}
