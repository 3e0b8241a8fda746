use std::time::Duration;

use super::super::ranking::rounded;
use super::super::{Peer, Scale, WordSize, limits};
use super::blame::Blame;
use super::weighing::differ;

/// The time after which a node that has not answered the request for the size of a list counts as slow. Then the next
/// node is asked too or, if none is left, the available answers must suffice. Chosen: several round trips.
const HEDGE_AFTER: Duration = Duration::from_millis(300);
/// The time after which a node that has failed recently counts as slow to state the size of a list, if two other nodes
/// state the same size.
const SUSPECT_AFTER: Duration = Duration::from_millis(100);
/// The number of nodes that must report a complete but empty list before the list counts as empty. One report is not
/// enough, because an empty list ends the search.
const EMPTY_WITNESSES: usize = 2;

/// The nodes that were asked for the size of a word's list, and their answers.
///
/// All nodes that keep the list are asked at once. The median of the sizes of complete, non-empty lists is used, so
/// that one node can neither hide a list nor change the scores. If the sizes differ much, they are
/// [checked](super::weighing) first, because two of three nodes may tell the same lie.
#[derive(Debug)]
pub(super) struct Sizing {
    holders: Vec<Peer>,
    /// True if one node with a complete list is believed.
    trusting: bool,
    asked: Vec<Peer>,
    /// The requests for the size of the list that are not answered yet.
    waiting: Vec<Waiting>,
    /// The number of nodes that are asked in addition to the usual number, because others are slow.
    extra: usize,
    /// The time at which the nodes that were asked and have not answered count as slow.
    hedge_at: Duration,
    /// The time limit of the look-up of further nodes; `None` if none was requested.
    looks_until: Option<Duration>,
    answers: Vec<SizeAnswer>,
}

/// A node that was asked for the size of a list and has not answered.
#[derive(Debug)]
struct Waiting {
    peer: Peer,
    /// The time at which the request was sent to the node.
    since: Duration,
    /// True if the node has failed recently.
    is_suspect: bool,
}

impl Waiting {
    fn is_slow(&self, now: Duration) -> bool {
        now >= self.since + HEDGE_AFTER
    }

    /// The time until which this node's answer is awaited although two others state the same size, because these may
    /// tell the same lie.
    fn patience_ends(&self) -> Duration {
        self.since + if self.is_suspect { SUSPECT_AFTER } else { HEDGE_AFTER }
    }
}

/// The answer of one node about the size of its list.
#[derive(Clone, Debug)]
pub(super) struct SizeAnswer {
    pub(super) from: Peer,
    pub(super) ids: u64,
    pub(super) log_length: u8,
    pub(super) whole: bool,
}

impl SizeAnswer {
    fn is_whole(&self) -> bool {
        self.whole && self.ids > 0
    }

    fn is_empty(&self) -> bool {
        self.whole && self.ids == 0
    }
}

impl Sizing {
    /// Makes the state before any of these nodes, which keep the list, was asked for its size.
    /// With `trusting`, one of them is asked first, and the others if it is slow or its list is incomplete.
    pub(super) fn new(mut holders: Vec<Peer>, trusting: bool) -> Self {
        holders.truncate(limits::HOLDERS);
        Self {
            holders,
            trusting,
            asked: Vec::new(),
            waiting: Vec::new(),
            extra: 0,
            hedge_at: Duration::MAX,
            looks_until: None,
            answers: Vec::new(),
        }
    }

    /// Returns the next node to ask, which is the first one with the fewest failures, and marks it as asked. `None` if
    /// no node is to be asked at this time.
    pub(super) fn next(&mut self, blame: &Blame, now: Duration) -> Option<Peer> {
        let has_slow = now >= self.hedge_at && !self.waiting.is_empty();
        if has_slow && !self.is_settled(now) {
            let is_one_left = self.untried().next().is_some();
            self.extra += usize::from(is_one_left);
            self.hedge_at = now + HEDGE_AFTER;
        }
        let at_once = if self.trusting { 1 + self.answers.len() } else { limits::REPLICAS };
        if self.is_settled(now) || self.waiting.len() + self.answers.len() >= at_once + self.extra {
            return None;
        }
        let next = self.untried().min_by_key(|peer| blame.of(peer))?.clone();
        self.asked.push(next.clone());
        self.waiting.push(Waiting { peer: next.clone(), since: now, is_suspect: blame.of(&next) > 0 });
        self.hedge_at = now + HEDGE_AFTER;
        Some(next)
    }

    /// True if the network should look up further nodes, because all known nodes that keep the word's list were asked,
    /// and some are silent.
    pub(super) fn wants_others(&self, now: Duration) -> bool {
        self.may_look(now) && self.hedge_at <= now && self.untried().next().is_none()
    }

    /// Records that the network is looking up further nodes that may keep the list, with the time limit `until`.
    pub(super) fn looks(&mut self, until: Duration) {
        self.looks_until = Some(until);
    }

    /// Adds the nodes that a look-up found. They can be asked at once.
    pub(super) fn on_holders(&mut self, holders: Vec<Peer>, now: Duration) {
        if self.looks_until.is_some_and(|until| until > now) {
            self.looks_until = Some(now);
            self.add(holders);
            self.extra += self.waiting.len();
        }
    }

    pub(super) fn on_size(&mut self, from: Peer, size: WordSize) {
        self.lose(&from);
        self.answers.push(SizeAnswer { from, ids: size.ids, log_length: size.log_length, whole: size.whole });
        // A keeper could name its accomplices, so its statement about the other keepers is used only if the network
        // found too few.
        if self.holders.len() < limits::REPLICAS {
            self.add(size.holders);
        }
    }

    /// Ends the wait for a node's answer about the size of the list, because the request has failed.
    pub(super) fn lose(&mut self, peer: &Peer) {
        self.waiting.retain(|waiting| waiting.peer != *peer);
    }

    /// True if the answers about the size of the list suffice, or nothing is left to wait for: no answer, no untried
    /// node, and no look-up.
    pub(super) fn is_over(&self, now: Duration) -> bool {
        let looks = self.looks_until.is_some_and(|until| until > now);
        self.is_settled(now) || self.waiting.is_empty() && self.untried().next().is_none() && !looks
    }

    /// The time at which something must be done even if no answer arrives and no call fails before: a node becomes
    /// slow, or a look-up times out.
    pub(super) fn deadline(&self) -> Option<Duration> {
        match self.waiting.iter().map(Waiting::patience_ends).max() {
            Some(patience) if self.are_two_alike() => Some(patience.min(self.hedge_at)),
            Some(_) => Some(self.hedge_at),
            None => self.looks_until,
        }
    }

    /// The nodes that have not answered the request for the size of the list, each with the time of the request.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (&Peer, Duration)> {
        self.waiting.iter().map(|waiting| (&waiting.peer, waiting.since))
    }

    /// The nodes that were asked for the size of the list at least [`HEDGE_AFTER`] ago and have not answered.
    pub(super) fn slow(&self, now: Duration) -> Vec<Peer> {
        self.waiting.iter().filter(|waiting| waiting.is_slow(now)).map(|waiting| waiting.peer.clone()).collect()
    }

    /// The nodes with non-empty lists, each with the size of its list. Incomplete lists are included: two nodes may lie
    /// just when the third one's list is incomplete.
    pub(super) fn stated(&self) -> impl Iterator<Item = (&Peer, u64)> + Clone {
        self.answers.iter().filter(|answer| answer.ids > 0).map(|answer| (&answer.from, answer.ids))
    }

    /// The answer of a node about the size of its list; `None` if it has not answered.
    pub(super) fn of(&self, peer: &Peer) -> Option<&SizeAnswer> {
        self.answers.iter().find(|answer| answer.from == *peer)
    }

    /// The answer with the median size among complete, non-empty lists. If there is none, an answer with an empty list
    /// if enough nodes report one; otherwise the answer with the longest list.
    pub(super) fn best(&self) -> Option<&SizeAnswer> {
        let mut whole: Vec<&SizeAnswer> = self.answers.iter().filter(|answer| answer.is_whole()).collect();
        whole.sort_by_key(|answer| answer.ids);
        if let Some(last) = whole.len().checked_sub(1) {
            return whole.get(last / 2).copied();
        }
        let empty = self.answers.iter().filter(|answer| answer.is_empty());
        let are_enough = empty.clone().count() >= EMPTY_WITNESSES;
        let longest = self.answers.iter().rev().max_by_key(|answer| (answer.ids, answer.whole));
        empty.clone().next().filter(|_| are_enough).or(longest)
    }

    /// The median of the mean lengths that those nodes state of which `counts` is true and whose lists are not empty;
    /// those with complete lists, if there are any.
    pub(super) fn log_length(&self, counts: impl Fn(&Peer) -> bool) -> u8 {
        let of = |whole: bool| {
            let counting = self.answers.iter().filter(|answer| answer.ids > 0 && answer.whole == whole);
            let mut lengths: Vec<u8> =
                counting.filter(|answer| counts(&answer.from)).map(|answer| answer.log_length).collect();
            lengths.sort_unstable();
            lengths.get(lengths.len().checked_sub(1)? / 2).copied()
        };
        of(true).or_else(|| of(false)).unwrap_or(Scale::USUAL)
    }

    /// True if some of the asked nodes have not answered.
    pub(super) fn lacks_answers(&self) -> bool {
        self.answers.len() < self.asked.len()
    }

    /// All nodes known to keep the list: first those whose lists are complete and about as long as the list of `best`,
    /// then the others that have answered, and last those that have not.
    pub(super) fn holders(&self, best: &SizeAnswer) -> Vec<Peer> {
        let rank = |holder: &&Peer| match self.answers.iter().find(|answer| answer.from == **holder) {
            Some(answer) if answer.from == best.from => 0,
            Some(answer) if answer.whole && rounded(answer.ids) == rounded(best.ids) => 1,
            Some(answer) if answer.whole => 2,
            Some(_) => 3,
            None => 4,
        };
        let mut holders: Vec<&Peer> = self.holders.iter().collect();
        holders.sort_by_key(rank);
        holders.into_iter().cloned().collect()
    }

    fn add(&mut self, holders: Vec<Peer>) {
        for holder in holders {
            if self.holders.len() < limits::HOLDERS && !self.holders.contains(&holder) {
                self.holders.push(holder);
            }
        }
    }

    fn may_look(&self, now: Duration) -> bool {
        let is_short = self.holders.len() < limits::REPLICAS;
        is_short && self.looks_until.is_none() && !self.waiting.is_empty() && !self.is_settled(now)
    }

    /// The nodes that can still be asked; none if enough nodes were asked or have answered.
    fn untried(&self) -> impl Iterator<Item = &Peer> {
        let enough = self.asked.len() >= 2 * limits::REPLICAS || self.answers.len() >= limits::REPLICAS;
        self.holders.iter().filter(move |&holder| !enough && !self.asked.contains(holder))
    }

    /// True if two complete lists have about the same size.
    fn are_two_alike(&self) -> bool {
        let sizes = || self.answers.iter().filter(|answer| answer.is_whole()).map(|answer| answer.ids);
        sizes().any(|one| sizes().filter(|other| !differ([one, *other].into_iter())).count() > 1)
    }

    /// True if the answers suffice: two lists have about the same size, and no other node is likely to contradict them
    /// soon; or there is one answer, and the other nodes are late.
    fn is_settled(&self, now: Duration) -> bool {
        if self.trusting && self.answers.iter().any(|answer| answer.whole) {
            return true;
        }
        let are_enough = self.answers.iter().any(SizeAnswer::is_whole)
            || self.answers.iter().filter(|answer| answer.is_empty()).count() >= EMPTY_WITNESSES;
        let is_late = now >= self.hedge_at || self.answers.len() >= limits::REPLICAS;
        let may_contradict = |waiting: &Waiting| now < waiting.patience_ends();
        self.are_two_alike() && !self.waiting.iter().any(may_contradict) || are_enough && is_late
    }
}
