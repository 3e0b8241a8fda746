use std::collections::{BTreeSet, HashMap};

use super::super::{ContentId, Place};

/// The best documents of a ranked query so far, kept until no better document can be found.
#[derive(Debug, Default)]
pub(super) struct Top {
    waiting: BTreeSet<Place>,
    /// For each document that has been among the best, the highest of its scores found so far.
    scores: HashMap<ContentId, u32>,
}

impl Top {
    /// Adds found documents, and keeps the best `most`. If several conjunctions find a document, the highest of its
    /// scores is kept.
    pub(super) fn add(&mut self, places: impl IntoIterator<Item = Place>, most: usize) {
        for place in places {
            let before = self.scores.get(&place.id).copied();
            if before.is_some_and(|before| before >= place.score) {
                continue;
            }
            if let Some(score) = before
                && !self.waiting.remove(&Place { score, id: place.id })
            {
                // The document was already returned, and no honest node can report a higher score.
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

    /// True if this document has been among the best with this score or a higher one.
    pub(super) fn has(&self, place: Place) -> bool {
        self.scores.get(&place.id).is_some_and(|&score| score >= place.score)
    }

    /// The best document; `None` if there is none.
    pub(super) fn first(&self) -> Option<Place> {
        self.waiting.first().copied()
    }

    /// Removes and returns the best document.
    pub(super) fn take(&mut self) -> Option<Place> {
        self.waiting.pop_first()
    }

    /// The score of the document at rank `wanted`, below which further documents are useless; 0 if there are fewer
    /// documents.
    pub(super) fn floor(&self, wanted: usize) -> u32 {
        wanted.checked_sub(1).and_then(|last| self.waiting.iter().nth(last)).map_or(0, |place| place.score)
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }
}
