use std::time::Duration;

use super::super::{Peer, Term};
use super::sizing::{Answer, Sizing};
use super::{PASSES, WordReport};

/// How long the network may look for the keepers of a word.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(20);
/// How long to wait before a word is looked up again.
const RETRY: Duration = Duration::from_millis(500);

/// A word, on the way from its name to the size and the keepers of its list.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) name: String,
    stage: Stage,
    /// How often it was looked up from the start.
    passes: u32,
}

#[derive(Debug)]
enum Stage {
    Unknown { not_before: Duration },
    LookingUp { until: Duration },
    Sizing(Sizing),
    Known { term: Term, whole: bool },
    Lost,
}

impl Word {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), stage: Stage::Unknown { not_before: Duration::ZERO }, passes: 0 }
    }

    /// Takes over what is known from an earlier query; an empty list may have grown since.
    pub(super) fn know(&mut self, term: Term) {
        if term.size > 0 && !term.holders.is_empty() {
            self.stage = Stage::Known { term, whole: true };
        }
    }

    /// Whether it is to be looked up now; then that has begun.
    pub(super) fn wants_lookup(&mut self, now: Duration) -> bool {
        if matches!(self.stage, Stage::LookingUp { until } if until <= now) {
            self.fail(now);
        }
        let until = now + LOOKUP_TIMEOUT;
        match &mut self.stage {
            Stage::Unknown { not_before } if *not_before <= now => {
                self.passes += 1;
                self.stage = Stage::LookingUp { until };
                true
            }
            Stage::Sizing(sizing) if sizing.wants_others(now) => {
                sizing.looks(until);
                true
            }
            _ => false,
        }
    }

    pub(super) fn on_holders(&mut self, holders: Vec<Peer>, now: Duration) {
        match &mut self.stage {
            Stage::LookingUp { .. } if holders.is_empty() => self.fail(now),
            Stage::LookingUp { .. } => self.stage = Stage::Sizing(Sizing::new(holders)),
            Stage::Sizing(sizing) => sizing.on_holders(holders, now),
            Stage::Unknown { .. } | Stage::Known { .. } | Stage::Lost => {}
        }
    }

    /// If nodes are being asked how long its list is: who was.
    pub(super) fn sizing(&mut self) -> Option<&mut Sizing> {
        match &mut self.stage {
            Stage::Sizing(sizing) => Some(sizing),
            _ => None,
        }
    }

    /// Has it looked up anew, if that was not done too often yet.
    pub(super) fn forget(&mut self, now: Duration) {
        if matches!(self.stage, Stage::Known { .. }) && self.passes < PASSES {
            self.fail(now);
        }
    }

    /// When it wants attention.
    pub(super) fn deadline(&self) -> Option<Duration> {
        match &self.stage {
            Stage::Unknown { not_before: time } | Stage::LookingUp { until: time } => Some(*time),
            Stage::Sizing(sizing) => sizing.deadline(),
            Stage::Known { .. } | Stage::Lost => None,
        }
    }

    pub(super) fn term(&self) -> Option<&Term> {
        match &self.stage {
            Stage::Known { term, .. } => Some(term),
            _ => None,
        }
    }

    pub(super) fn report(&self) -> Option<WordReport> {
        match &self.stage {
            Stage::Known { term, whole } => {
                Some(WordReport { word: term.word.clone(), size: term.size, whole: *whole })
            }
            _ => None,
        }
    }

    /// Whether no document has it.
    pub(super) fn is_empty(&self) -> bool {
        matches!(&self.stage, Stage::Known { term, .. } if term.size == 0)
    }

    /// Whether its list comes from a node that should have all of it; nothing else is known of a word that was not
    /// needed.
    pub(super) fn is_whole(&self) -> bool {
        !matches!(self.stage, Stage::Known { whole: false, .. })
    }

    pub(super) fn is_lost(&self) -> bool {
        matches!(self.stage, Stage::Lost)
    }

    /// Makes the best of the answers.
    pub(super) fn settle(&mut self, now: Duration) {
        let Stage::Sizing(sizing) = &self.stage else { return };
        let Some(Answer { from, ids, whole }) = sizing.best() else { return self.fail(now) };
        // Those that know were perhaps the silent ones.
        let doubtful = *ids == 0 && !whole && sizing.lacks_answers();
        if doubtful && self.passes < PASSES {
            return self.fail(now);
        }
        let term = Term { word: self.name.clone(), size: *ids, holders: sizing.holders(from) };
        self.stage = Stage::Known { term, whole: *whole };
    }

    /// Goes back to the start, if there is another try.
    fn fail(&mut self, now: Duration) {
        self.stage = if self.passes < PASSES { Stage::Unknown { not_before: now + RETRY } } else { Stage::Lost };
    }
}
