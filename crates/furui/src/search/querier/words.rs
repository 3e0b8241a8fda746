use std::ops::Index;
use std::time::Duration;

use super::super::{Peer, Response, Term, WordSize, limits};
use super::blame::Blame;
use super::branch::Branch;
use super::{LOOKUP_TIMEOUT, PASSES, WordReport};

/// How long to wait before a word is looked up again.
const RETRY: Duration = Duration::from_millis(500);
/// How long until the next node is asked for a size beside one that is silent.
const HEDGE_AFTER: Duration = Duration::from_millis(300);
/// Nodes that must say that a list is empty before that is believed: it would end the search.
const EMPTY_WITNESSES: usize = 2;

/// The words of a query, and which nodes have failed in it.
#[derive(Debug, Default)]
pub(super) struct Words {
    words: Vec<Word>,
    pub(super) blame: Blame,
}

/// A word, on the way from its name to the size and the keepers of its list.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) name: String,
    stage: Stage,
    /// How often it was looked up.
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

/// Who was asked for the size of a list, and what they said.
#[derive(Debug, Default)]
struct Sizing {
    holders: Vec<Peer>,
    asked: Vec<Peer>,
    /// Asked and silent, and since when.
    waiting: Vec<(Peer, Duration)>,
    /// When the next is asked, if they still are.
    hedge_at: Duration,
    answers: Vec<(Peer, u64, bool)>,
}

/// A conjunction in the order in which its lists are to meet.
pub(super) struct Plan {
    pub(super) order: Vec<usize>,
    pub(super) must: Vec<Term>,
    pub(super) without: Vec<Term>,
}

impl Words {
    /// The number of a word; a new one gets the next.
    pub(super) fn number(&mut self, name: &str) -> usize {
        self.words.iter().position(|word| word.name == name).unwrap_or_else(|| {
            let stage = Stage::Unknown { not_before: Duration::ZERO };
            self.words.push(Word { name: name.to_owned(), stage, passes: 0 });
            self.words.len() - 1
        })
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// Those that are known, and their keepers in the order in which they are to be asked.
    pub(super) fn terms(&self) -> impl Iterator<Item = Term> {
        self.words.iter().filter_map(Word::term).map(|term| self.in_order(term))
    }

    /// The term with those of its keepers last that failed most.
    fn in_order(&self, term: &Term) -> Term {
        let mut term = term.clone();
        term.holders.sort_by_key(|holder| self.blame.of(holder));
        term
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, Word> {
        self.words.iter()
    }

    /// Takes over what is known from an earlier query; an empty list may have grown since.
    pub(super) fn know(&mut self, term: Term) {
        if let Some(word) = self.words.iter_mut().find(|word| word.name == term.word)
            && term.size > 0
            && !term.holders.is_empty()
        {
            word.stage = Stage::Known { term, whole: true };
        }
    }

    /// Whether the word is to be looked up now; then that has begun.
    pub(super) fn wants_lookup(&mut self, word: usize, now: Duration) -> bool {
        let word = &mut self.words[word];
        if matches!(word.stage, Stage::LookingUp { until } if until <= now) {
            word.fail(now);
        }
        let wanted = matches!(word.stage, Stage::Unknown { not_before } if not_before <= now);
        if wanted {
            word.passes += 1;
            word.stage = Stage::LookingUp { until: now + LOOKUP_TIMEOUT };
        }
        wanted
    }

    pub(super) fn on_holders(&mut self, name: &str, mut holders: Vec<Peer>, now: Duration) {
        let Some(word) = self.words.iter_mut().find(|word| word.name == name) else { return };
        if !matches!(word.stage, Stage::LookingUp { .. }) {
            return;
        }
        if holders.is_empty() {
            word.fail(now);
        } else {
            holders.truncate(limits::HOLDERS);
            word.stage = Stage::Sizing(Sizing { holders, ..Sizing::default() });
        }
    }

    /// The node to ask for the size of the word's list now; then it counts as asked.
    pub(super) fn next_to_ask(&mut self, word: usize, now: Duration) -> Option<Peer> {
        let word = &mut self.words[word];
        let Stage::Sizing(sizing) = &mut word.stage else { return None };
        if !sizing.is_settled() {
            if !sizing.waiting.is_empty() && now < sizing.hedge_at {
                return None;
            }
            // The first of those that failed least.
            if let Some(next) = sizing.untried().min_by_key(|peer| self.blame.of(peer)).cloned() {
                sizing.asked.push(next.clone());
                sizing.waiting.push((next.clone(), now));
                sizing.hedge_at = now + HEDGE_AFTER;
                return Some(next);
            }
            if !sizing.waiting.is_empty() {
                sizing.hedge_at = Duration::MAX;
                return None;
            }
        }
        // Those that had as long as others are given, and are still silent.
        let waiting = std::mem::take(&mut sizing.waiting);
        word.settle(now);
        let slow = waiting.into_iter().filter(|&(_, since)| now >= since + HEDGE_AFTER);
        slow.for_each(|(peer, _)| self.blame.shun(peer));
        None
    }

    pub(super) fn on_response(&mut self, word: usize, from: Peer, response: Response) {
        match response {
            Response::Sizes(sizes) => match <[_; 1]>::try_from(sizes) {
                Ok([size]) => self.on_size(word, from, size),
                Err(_) => self.on_failure(word, from),
            },
            Response::Refused(_) => {
                if self.has_lost(word, &from) {
                    self.blame.excuse(from);
                }
            }
            _ => self.on_failure(word, from),
        }
    }

    fn on_size(&mut self, word: usize, from: Peer, size: WordSize) {
        let Stage::Sizing(sizing) = &mut self.words[word].stage else { return };
        sizing.waiting.retain(|(waiting, _)| *waiting != from);
        sizing.answers.push((from, size.ids, size.whole));
        for holder in size.holders {
            if sizing.holders.len() < limits::HOLDERS && !sizing.holders.contains(&holder) {
                sizing.holders.push(holder);
            }
        }
    }

    pub(super) fn on_failure(&mut self, word: usize, from: Peer) {
        if self.has_lost(word, &from) {
            self.blame.shun(from);
        }
    }

    /// Waits no more for a node to say how long the word's list is. Returns whether it still did: if that is known by now, the
    /// node was overtaken, and is blamed for it already.
    fn has_lost(&mut self, word: usize, from: &Peer) -> bool {
        let Stage::Sizing(sizing) = &mut self.words[word].stage else { return false };
        sizing.waiting.retain(|(waiting, _)| waiting != from);
        true
    }

    /// Has a word looked up anew, if that was not done too often yet.
    pub(super) fn forget(&mut self, word: usize, now: Duration) {
        let word = &mut self.words[word];
        if matches!(word.stage, Stage::Known { .. }) && word.passes < PASSES {
            word.fail(now);
        }
    }

    /// When a word that is still needed wants attention.
    pub(super) fn deadline(&self, is_needed: impl Fn(usize) -> bool) -> Option<Duration> {
        let needed = self.words.iter().enumerate().filter(|&(number, _)| is_needed(number));
        let times = needed.filter_map(|(_, word)| match word.stage {
            Stage::Unknown { not_before: time } | Stage::LookingUp { until: time } => Some(time),
            Stage::Sizing(Sizing { hedge_at: time, .. }) => Some(time),
            Stage::Known { .. } | Stage::Lost => None,
        });
        times.min()
    }

    /// The terms of a conjunction whose words are all known: the shortest list first, for then the fewest bits are sent;
    /// of those to be left out the longest, for it leaves the fewest.
    pub(super) fn plan(&self, branch: &Branch) -> Option<Plan> {
        let terms = |numbers: &[usize]| -> Option<Vec<(usize, Term)>> {
            let terms = numbers.iter().map(|&number| {
                let mut term = self.in_order(self.words[number].term()?);
                term.holders.truncate(limits::REPLICAS);
                Some((number, term))
            });
            terms.collect()
        };
        let (mut must, mut without) = (terms(branch.must())?, terms(branch.without())?);
        must.sort_by_key(|(_, term)| term.size);
        without.retain(|(_, term)| term.size > 0);
        without.sort_by_key(|(_, term)| std::cmp::Reverse(term.size));
        let order = must.iter().chain(&without).map(|&(number, _)| number).collect();
        let terms = |terms: Vec<(usize, Term)>| terms.into_iter().map(|(_, term)| term).collect();
        Some(Plan { order, must: terms(must), without: terms(without) })
    }
}

impl Index<usize> for Words {
    type Output = Word;

    fn index(&self, number: usize) -> &Word {
        &self.words[number]
    }
}

impl Word {
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

    /// Whether its list comes from a node that should have all of it; nothing else is known of a word that was not needed.
    pub(super) fn is_whole(&self) -> bool {
        !matches!(self.stage, Stage::Known { whole: false, .. })
    }

    pub(super) fn is_lost(&self) -> bool {
        matches!(self.stage, Stage::Lost)
    }

    /// Goes back to the start, if there is another try.
    fn fail(&mut self, now: Duration) {
        self.stage = if self.passes < PASSES { Stage::Unknown { not_before: now + RETRY } } else { Stage::Lost };
    }

    /// Makes the best of the answers.
    fn settle(&mut self, now: Duration) {
        let Stage::Sizing(sizing) = &mut self.stage else { return };
        // The longest of the whole lists, or else of the others.
        let best = sizing.answers.iter().rev().max_by_key(|(_, ids, whole)| (*whole, *ids));
        let Some((first, size, whole)) = best.cloned() else { return self.fail(now) };
        // Those that know were perhaps the silent ones.
        let doubtful = size == 0 && !whole && sizing.answers.len() < sizing.asked.len();
        if doubtful && self.passes < PASSES {
            return self.fail(now);
        }
        let others = std::mem::take(&mut sizing.holders).into_iter().filter(|holder| *holder != first);
        let holders = std::iter::once(first.clone()).chain(others).collect();
        self.stage = Stage::Known { term: Term { word: self.name.clone(), size, holders }, whole };
    }
}

impl Sizing {
    /// Nodes to ask yet; none if enough were.
    fn untried(&self) -> impl Iterator<Item = &Peer> {
        let enough = self.asked.len() >= 2 * limits::REPLICAS || self.answers.len() >= limits::REPLICAS;
        self.holders.iter().filter(move |&holder| !enough && !self.asked.contains(holder))
    }

    /// Whether the answers say all that is needed.
    fn is_settled(&self) -> bool {
        let whole = || self.answers.iter().filter(|(_, _, whole)| *whole);
        whole().any(|&(_, ids, _)| ids > 0) || whole().count() >= EMPTY_WITNESSES
    }
}
