use std::collections::{BTreeSet, HashMap};

use super::super::{ContentId, Place};

/// The best documents of a ranked query, until it is known that no others come before them.
#[derive(Debug, Default)]
pub(super) struct Top {
    waiting: BTreeSet<Place>,
    /// The score of each document that was ever among the best.
    scores: HashMap<ContentId, u32>,
}

impl Top {
    /// Takes in what was found; only the best `most` are of use. A document that several conjunctions find counts as the one
    /// in which it scores most.
    pub(super) fn add(&mut self, places: impl IntoIterator<Item = Place>, most: usize) {
        for place in places {
            let before = self.scores.get(&place.id).copied();
            if before.is_some_and(|before| before >= place.score) {
                continue;
            }
            if let Some(score) = before
                && !self.waiting.remove(&Place { score, id: place.id })
            {
                // It was handed out: so no honest node could have told that it scores more.
                continue;
            }
            self.scores.insert(place.id, place.score);
            self.waiting.insert(place);
            if self.waiting.len() > most
                && let Some(last) = self.waiting.pop_last()
            {
                self.scores.remove(&last.id);
            }
        }
    }

    /// The next one, if it comes before `ahead`, which nothing that may still be found does.
    pub(super) fn take_before(&mut self, ahead: Option<Place>) -> Option<Place> {
        let first = self.waiting.first()?;
        if ahead.is_some_and(|ahead| *first >= ahead) { None } else { self.waiting.pop_first() }
    }

    /// The score of the last one of so many, the least that is of use; 0 if there are fewer.
    pub(super) fn floor(&self, wanted: usize) -> u32 {
        wanted.checked_sub(1).and_then(|last| self.waiting.iter().nth(last)).map_or(0, |place| place.score)
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }
}
