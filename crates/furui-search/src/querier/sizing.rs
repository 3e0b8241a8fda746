use std::time::Duration;

use super::super::{Peer, WordSize, limits};
use super::blame::Blame;

/// How long until the next node is asked for a size beside one that is silent.
const HEDGE_AFTER: Duration = Duration::from_millis(300);
/// Nodes that must say that a list is empty before that is believed: it would end the search.
const EMPTY_WITNESSES: usize = 2;

/// Who was asked for the size of a list, and what they said.
#[derive(Debug)]
pub(super) struct Sizing {
    holders: Vec<Peer>,
    asked: Vec<Peer>,
    /// Asked and silent, and since when.
    waiting: Vec<(Peer, Duration)>,
    /// When the next is asked, if they still are.
    hedge_at: Duration,
    /// Until when the network may look for others, once it does.
    looks_until: Option<Duration>,
    answers: Vec<Answer>,
}

/// What one of them said.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) from: Peer,
    pub(super) ids: u64,
    pub(super) whole: bool,
}

impl Sizing {
    /// Nobody was asked yet; these can be.
    pub(super) fn new(mut holders: Vec<Peer>) -> Self {
        holders.truncate(limits::HOLDERS);
        Self {
            holders,
            asked: Vec::new(),
            waiting: Vec::new(),
            hedge_at: Duration::ZERO,
            looks_until: None,
            answers: Vec::new(),
        }
    }

    /// The node to ask now, the first of those that failed least; then it counts as asked.
    pub(super) fn next(&mut self, blame: &Blame, now: Duration) -> Option<Peer> {
        if self.is_settled() || !self.waiting.is_empty() && now < self.hedge_at {
            return None;
        }
        let next = self.untried().min_by_key(|peer| blame.of(peer))?.clone();
        self.asked.push(next.clone());
        self.waiting.push((next.clone(), now));
        self.hedge_at = now + HEDGE_AFTER;
        Some(next)
    }

    /// Whether the network is to look for others now: there are too few for one to be asked beside those that are
    /// silent.
    pub(super) fn wants_others(&self, now: Duration) -> bool {
        self.may_look() && self.hedge_at <= now && self.untried().next().is_none()
    }

    /// The network looks for others.
    pub(super) fn looks(&mut self, until: Duration) {
        self.looks_until = Some(until);
    }

    /// These were found; they can be asked at once.
    pub(super) fn on_holders(&mut self, holders: Vec<Peer>, now: Duration) {
        if self.looks_until.is_some_and(|until| until > now) {
            self.looks_until = Some(now);
            self.hedge_at = now;
            self.add(holders);
        }
    }

    pub(super) fn on_size(&mut self, from: Peer, size: WordSize) {
        self.lose(&from);
        self.answers.push(Answer { from, ids: size.ids, whole: size.whole });
        self.add(size.holders);
    }

    /// Waits no more for a node.
    pub(super) fn lose(&mut self, peer: &Peer) {
        self.waiting.retain(|(waiting, _)| waiting != peer);
    }

    /// Whether there is nothing more to be learnt.
    pub(super) fn is_over(&self, now: Duration) -> bool {
        let looks = self.looks_until.is_some_and(|until| until > now);
        self.is_settled() || self.waiting.is_empty() && self.untried().next().is_none() && !looks
    }

    /// When it wants attention, besides when an answer comes, or one that was waited for does not.
    pub(super) fn deadline(&self) -> Option<Duration> {
        if self.waiting.is_empty() {
            self.looks_until
        } else {
            (self.untried().next().is_some() || self.may_look()).then_some(self.hedge_at)
        }
    }

    /// Those that had as long as others are given, and are still silent.
    pub(super) fn slow(&self, now: Duration) -> Vec<Peer> {
        let slow = self.waiting.iter().filter(|(_, since)| now >= *since + HEDGE_AFTER);
        slow.map(|(peer, _)| peer.clone()).collect()
    }

    /// The longest of the whole lists, or else of the others.
    pub(super) fn best(&self) -> Option<&Answer> {
        self.answers.iter().rev().max_by_key(|answer| (answer.whole, answer.ids))
    }

    /// Whether some have not answered.
    pub(super) fn lacks_answers(&self) -> bool {
        self.answers.len() < self.asked.len()
    }

    /// All that are known to keep the list, `first` first.
    pub(super) fn holders(&self, first: &Peer) -> Vec<Peer> {
        let others = self.holders.iter().filter(|holder| *holder != first);
        std::iter::once(first).chain(others).cloned().collect()
    }

    fn add(&mut self, holders: Vec<Peer>) {
        for holder in holders {
            if self.holders.len() < limits::HOLDERS && !self.holders.contains(&holder) {
                self.holders.push(holder);
            }
        }
    }

    fn may_look(&self) -> bool {
        let is_short = self.holders.len() < limits::REPLICAS;
        is_short && self.looks_until.is_none() && !self.waiting.is_empty() && !self.is_settled()
    }

    /// Nodes to ask yet; none if enough were.
    fn untried(&self) -> impl Iterator<Item = &Peer> {
        let enough = self.asked.len() >= 2 * limits::REPLICAS || self.answers.len() >= limits::REPLICAS;
        self.holders.iter().filter(move |&holder| !enough && !self.asked.contains(holder))
    }

    /// Whether the answers say all that is needed.
    fn is_settled(&self) -> bool {
        let whole = || self.answers.iter().filter(|answer| answer.whole);
        whole().any(|answer| answer.ids > 0) || whole().count() >= EMPTY_WITNESSES
    }
}
