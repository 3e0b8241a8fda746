use std::time::Duration;

use super::super::{Peer, Term};
use super::sizing::{SizeAnswer, Sizing};
use super::weighing::{Weighing, differ};
use super::{PASSES, WordReport};

/// The time limit for the network to look up the nodes that keep the list of a word.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(20);
/// The delay before the nodes that keep a word's list are looked up again.
const RETRY: Duration = Duration::from_millis(500);

/// A word whose list is known from a query, for later queries with this word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownWord {
    /// The word, the size of its list, and the nodes that keep it.
    pub term: Term,
    /// The mean length of the list's documents, as [`Listing::log_length`](super::super::Listing::log_length).
    pub log_length: u8,
}

/// A word of a query, with the size of its list and the nodes known to keep it.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) name: String,
    stage: Stage,
    /// The number of times that the nodes which keep the word's list were looked up so far.
    passes: u32,
}

#[derive(Debug)]
enum Stage {
    Unknown {
        not_before: Duration,
    },
    LookingUp {
        until: Duration,
    },
    Sizing(Sizing),
    /// The nodes that keep the list state different sizes, which are being checked.
    Weighing(Sizing, Box<Weighing>),
    Known {
        word: KnownWord,
        whole: bool,
    },
    Lost,
}

impl Word {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), stage: Stage::Unknown { not_before: Duration::ZERO }, passes: 0 }
    }

    /// Sets the size of the word's list, and the nodes that keep it, from an earlier query. A term without such nodes
    /// is ignored; so is an empty list, because it may have grown since.
    pub(super) fn know(&mut self, word: KnownWord) {
        if word.term.size > 0 && !word.term.holders.is_empty() {
            self.stage = Stage::Known { word, whole: true };
        }
    }

    /// True if the nodes that keep the word's list must be looked up at this time. The look-up then counts as started.
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

    pub(super) fn on_holders(&mut self, holders: Vec<Peer>, trusting: bool, now: Duration) {
        match &mut self.stage {
            Stage::LookingUp { .. } if holders.is_empty() => self.fail(now),
            Stage::LookingUp { .. } => self.stage = Stage::Sizing(Sizing::new(holders, trusting)),
            Stage::Sizing(sizing) => sizing.on_holders(holders, now),
            Stage::Unknown { .. } | Stage::Weighing(..) | Stage::Known { .. } | Stage::Lost => {}
        }
    }

    /// The state of the requests for the size of the list; `None` if there are none.
    pub(super) fn sizing(&mut self) -> Option<&mut Sizing> {
        match &mut self.stage {
            Stage::Sizing(sizing) => Some(sizing),
            _ => None,
        }
    }

    /// The state of the requests for samples of the list; `None` if there are none.
    pub(super) fn weighing(&mut self) -> Option<&mut Weighing> {
        match &mut self.stage {
            Stage::Weighing(_, weighing) => Some(weighing),
            _ => None,
        }
    }

    /// Causes another look-up of the nodes that keep the word's list, unless the maximum number of look-ups is reached.
    pub(super) fn forget(&mut self, now: Duration) {
        if matches!(self.stage, Stage::Known { .. }) && self.passes < PASSES {
            self.fail(now);
        }
    }

    /// The time at which the next step for the word is due even if no answer arrives before; `None` if there is no such
    /// time.
    pub(super) fn deadline(&self) -> Option<Duration> {
        match &self.stage {
            Stage::Unknown { not_before: time } | Stage::LookingUp { until: time } => Some(*time),
            Stage::Sizing(sizing) => sizing.deadline(),
            Stage::Weighing(_, weighing) => Some(weighing.deadline()),
            Stage::Known { .. } | Stage::Lost => None,
        }
    }

    /// The word with the size of its list and the nodes that keep it; `None` if they are not known.
    pub(super) fn known(&self) -> Option<&KnownWord> {
        match &self.stage {
            Stage::Known { word, .. } => Some(word),
            _ => None,
        }
    }

    pub(super) fn report(&self) -> Option<WordReport> {
        match &self.stage {
            Stage::Known { word: KnownWord { term, .. }, whole } => {
                Some(WordReport { word: term.word.clone(), size: term.size, whole: *whole })
            }
            _ => None,
        }
    }

    /// True if no document contains the word.
    pub(super) fn is_empty(&self) -> bool {
        self.known().is_some_and(|word| word.term.size == 0)
    }

    /// False if the list is incomplete: the node that reported its size has not been given everything that it should
    /// hold.
    pub(super) fn is_whole(&self) -> bool {
        !matches!(self.stage, Stage::Known { whole: false, .. })
    }

    /// True if the size of the list is known, or will not become known.
    pub(super) fn is_settled(&self) -> bool {
        matches!(self.stage, Stage::Known { .. } | Stage::Lost)
    }

    pub(super) fn is_lost(&self) -> bool {
        matches!(self.stage, Stage::Lost)
    }

    /// Adopts the best answer about the size of the list or, if the answers differ too much, starts to check them.
    pub(super) fn conclude(&mut self, salt: u64, now: Duration) {
        let Stage::Sizing(sizing) = &mut self.stage else { return };
        if differ(sizing.stated().map(|(_, size)| size)) {
            let stated = sizing.stated().map(|(peer, size)| (peer.clone(), size)).collect();
            let sizing = std::mem::replace(sizing, Sizing::new(vec![], false));
            self.stage = Stage::Weighing(sizing, Box::new(Weighing::new(stated, salt, now)));
            return;
        }
        let Some(best) = sizing.best() else { return self.fail(now) };
        let SizeAnswer { ids, whole, .. } = *best;
        // The list may be known only to nodes that have not answered.
        let doubtful = ids == 0 && !whole && sizing.lacks_answers();
        if doubtful && self.passes < PASSES {
            return self.fail(now);
        }
        let term = Term { word: self.name.clone(), size: ids, holders: sizing.holders(best) };
        let word = KnownWord { term, log_length: sizing.log_length(|_| true) };
        self.stage = Stage::Known { word, whole };
    }

    /// Ends the check of the sizes. Among the nodes that are not contradicted, the median size of complete lists is
    /// adopted or, if there is none, the size of the longest list. If all are contradicted, the best unchecked answer
    /// is adopted. Returns the contradicted nodes.
    pub(super) fn weigh(&mut self) -> Vec<Peer> {
        let Stage::Weighing(sizing, weighing) = &self.stage else { return vec![] };
        let mut credible = weighing.credible();
        credible.sort_by_key(|(_, size)| *size);
        let sized = |(peer, size): &(Peer, u64)| Some((sizing.of(peer)?, *size));
        let whole: Vec<_> = credible.iter().filter_map(sized).filter(|(answer, _)| answer.whole).collect();
        let chosen = match whole.len() {
            0 => credible.last().and_then(sized),
            count => whole.get((count - 1) / 2).copied(),
        };
        let Some((best, size)) = chosen.or_else(|| sizing.best().map(|best| (best, best.ids))) else { return vec![] };
        let is_contradicted = |peer: &Peer| !credible.is_empty() && credible.iter().all(|(other, _)| other != peer);
        let contradicted = sizing.stated().map(|(peer, _)| peer.clone()).filter(is_contradicted).collect();
        let term = Term { word: self.name.clone(), size, holders: sizing.holders(best) };
        let word = KnownWord { term, log_length: sizing.log_length(|peer| !is_contradicted(peer)) };
        self.stage = Stage::Known { word, whole: best.whole };
        contradicted
    }

    /// Schedules another look-up of the nodes that keep the word's list. After the maximum number of look-ups, the word
    /// counts as failed.
    fn fail(&mut self, now: Duration) {
        self.stage = if self.passes < PASSES { Stage::Unknown { not_before: now + RETRY } } else { Stage::Lost };
    }
}
