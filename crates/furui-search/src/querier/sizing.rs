use std::time::Duration;

use super::super::{Peer, WordSize, limits};
use super::blame::Blame;

/// The delay after which the next node is asked for a size too.
const HEDGE_AFTER: Duration = Duration::from_millis(300);
/// The number of nodes that must report a whole but empty list before the list is taken for empty. One report is not
/// enough, because an empty list ends the search.
const EMPTY_WITNESSES: usize = 2;

/// The nodes that were asked for the size of a list, and their answers.
#[derive(Debug)]
pub(super) struct Sizing {
    holders: Vec<Peer>,
    asked: Vec<Peer>,
    /// The nodes that were asked and have not answered, each with the time of the request.
    waiting: Vec<(Peer, Duration)>,
    /// The time at which the next node is asked, if the nodes asked before have not answered.
    hedge_at: Duration,
    /// The time limit of the look-up of more nodes, if the network was asked for such a look-up.
    looks_until: Option<Duration>,
    answers: Vec<Answer>,
}

/// The answer of one node.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) from: Peer,
    pub(super) ids: u64,
    pub(super) whole: bool,
}

impl Sizing {
    /// Makes the state in which no node has been asked yet.
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

    /// The node to ask now: the first one with the fewest failures. It then counts as asked.
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

    /// True if the network should look for more nodes now, because all known keepers were asked and some of them are
    /// silent.
    pub(super) fn wants_others(&self, now: Duration) -> bool {
        self.may_look() && self.hedge_at <= now && self.untried().next().is_none()
    }

    /// Notes that the network is looking for more nodes, and that it gives up at the time `until`.
    pub(super) fn looks(&mut self, until: Duration) {
        self.looks_until = Some(until);
    }

    /// Adds the nodes that were found; they can be asked at once.
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

    /// Stops waiting for a node.
    pub(super) fn lose(&mut self, peer: &Peer) {
        self.waiting.retain(|(waiting, _)| waiting != peer);
    }

    /// True if the answers suffice, or if nothing is left to wait for: no answer, no untried node, and no look-up of
    /// nodes.
    pub(super) fn is_over(&self, now: Duration) -> bool {
        let looks = self.looks_until.is_some_and(|until| until > now);
        self.is_settled() || self.waiting.is_empty() && self.untried().next().is_none() && !looks
    }

    /// The time at which something must be done, unless an answer arrives or a call fails before.
    pub(super) fn deadline(&self) -> Option<Duration> {
        if self.waiting.is_empty() {
            self.looks_until
        } else {
            (self.untried().next().is_some() || self.may_look()).then_some(self.hedge_at)
        }
    }

    /// The nodes that were asked at least [`HEDGE_AFTER`] ago and have not answered.
    pub(super) fn slow(&self, now: Duration) -> Vec<Peer> {
        let slow = self.waiting.iter().filter(|(_, since)| now >= *since + HEDGE_AFTER);
        slow.map(|(peer, _)| peer.clone()).collect()
    }

    /// The answer with the longest whole list or, if no list is whole, with the longest list.
    pub(super) fn best(&self) -> Option<&Answer> {
        self.answers.iter().rev().max_by_key(|answer| (answer.whole, answer.ids))
    }

    /// True if some nodes have not answered.
    pub(super) fn lacks_answers(&self) -> bool {
        self.answers.len() < self.asked.len()
    }

    /// All nodes that are known to keep the list, beginning with `first`.
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

    /// The nodes that can still be asked; none if enough nodes were asked or have answered.
    fn untried(&self) -> impl Iterator<Item = &Peer> {
        let enough = self.asked.len() >= 2 * limits::REPLICAS || self.answers.len() >= limits::REPLICAS;
        self.holders.iter().filter(move |&holder| !enough && !self.asked.contains(holder))
    }

    /// True if the answers suffice.
    fn is_settled(&self) -> bool {
        let whole = || self.answers.iter().filter(|answer| answer.whole);
        whole().any(|answer| answer.ids > 0) || whole().count() >= EMPTY_WITNESSES
    }
}
