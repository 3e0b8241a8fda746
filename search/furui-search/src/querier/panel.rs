use std::collections::HashSet;
use std::time::Duration;

use super::super::message::{Ranked, Search};
use super::super::{Peer, limits};
use super::blame::Blame;
use super::calls::{Path, Slice};

/// The time without an answer after which one more host (a node that runs the search) is asked. It is longer than the
/// time for which a host waits for a silent node, because that delay is not the fault of the host.
const HEDGE_AFTER: Duration = Duration::from_millis(2500);
/// The time to wait for further hosts' answers after the first one. The time for which a host waits for one silent node
/// is shorter.
const WITNESS_AFTER: Duration = Duration::from_millis(600);
/// The time to wait for further answers if all nodes that were asked have failed recently. If they have not answered an
/// earlier request yet, it is measured from that request. It is not shorter, because hostile nodes may be the first to
/// answer.
const SUSPECT_AFTER: Duration = Duration::from_millis(300);

/// The hosts (nodes that run a search) that were asked for one slice of a list, and their answers.
///
/// ```text
///             keepers of the other words, in the order in which the host asks them
///   turn  0            1            2
///  host A x y z        y z x        z x y
///  host B y z x        z x y        x y z
///  host C z x y        x y z        y z x
/// ```
///
/// First, `quorum` of these searches are requested at once, turn by turn. If answers from complete lists differ, all
/// searches of the table are requested, turn by turn; otherwise nodes that tell the same lie would confirm each other.
/// Thus some answer is correct if one host and one keeper of each other word are honest, unless all that were asked at
/// first leave out the same documents. All searches are also requested if the answers are empty, because a hidden
/// document matters most then. If answers differ only from those of incomplete lists, two hosts with the same answer
/// suffice. A host that keeps the lists of other words itself asks no other keeper about them, so some of its turns are
/// the same search, which is requested once.
#[derive(Debug, Default)]
pub(super) struct Panel {
    /// The requested slice; `None` between two slices.
    pub(super) slice: Option<Slice>,
    hosts: Vec<Peer>,
    /// The number of equal answers about a slice that suffice.
    quorum: usize,
    /// The pairs of a turn and an index of a host that may be asked, in the order of asking. In each turn, the hosts
    /// ask other nodes that keep the other words' lists.
    pairs: Vec<(usize, usize)>,
    /// The number of elements of `pairs` that were asked or skipped.
    asked: usize,
    /// The hosts (nodes that run the search) that were asked and have not answered.
    waiting: Vec<Peer>,
    failed: HashSet<Peer>,
    /// The nodes that keep the other words' lists and have failed recently.
    suspects: Vec<Peer>,
    answers: Vec<SliceAnswer>,
    /// The number of hosts that are asked in addition to the quorum, because others are late.
    extra: usize,
    /// The time from which on hosts that have not answered count as late.
    late_at: Duration,
    /// True if the available answers must suffice, and no others are awaited.
    gave_up: bool,
}

/// The answer of a host, which is the first node of the path.
#[derive(Debug)]
pub(super) struct SliceAnswer {
    pub(super) path: Path,
    pub(super) told: Ranked,
}

/// The decision about a requested slice of a list after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Wait,
    /// The answers suffice, and can be [taken](Panel::take).
    Accept,
    /// No host has answered, and none is left to ask.
    Fail,
}

impl SliceAnswer {
    /// True if the two answers have the same documents and the same end of the slice, and both or neither come from
    /// complete lists.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let (one, other) = (&self.told, &other.told);
        (&one.places, one.next, one.whole) == (&other.places, other.next, other.whole)
    }

    /// True if the answer names no documents and says that the list ends.
    fn is_empty(&self) -> bool {
        self.told.next.is_none() && self.told.places.is_empty()
    }
}

impl Panel {
    /// Starts a new slice for which `hosts` may be asked, in this order. `quorum` equal answers suffice.
    pub(super) fn begin(&mut self, slice: Slice, hosts: Vec<Peer>, quorum: usize, blame: &Blame, now: Duration) {
        let keepers = slice.search.must.iter().chain(&slice.search.without).flat_map(|term| &term.holders);
        *self = Self {
            suspects: keepers.filter(|keeper| blame.of(keeper) > 0).cloned().collect(),
            slice: Some(slice),
            hosts,
            late_at: now + HEDGE_AFTER,
            ..Self::default()
        };
        let (mut paths, mut all) = (HashSet::new(), 0);
        for turn in 0..limits::REPLICAS {
            for at in 0..self.hosts.len() {
                if self.search(turn, at).is_some_and(|(_, path)| paths.insert(path)) {
                    self.pairs.push((turn, at));
                }
                all += 1;
                if all <= quorum {
                    self.quorum = self.pairs.len();
                }
            }
        }
        self.quorum = self.quorum.max(1);
    }

    pub(super) fn is_idle(&self) -> bool {
        self.slice.is_none()
    }

    /// Returns the next path to ask, with the search that its host is to run, and marks it as asked. `None` if no host
    /// is to be asked at this time.
    pub(super) fn next(&mut self, now: Duration) -> Option<(Path, Search)> {
        while self.asked < self.candidates() && self.may_ask() {
            let (turn, at) = self.pairs[self.asked];
            self.asked += 1;
            if self.failed.contains(&self.hosts[at]) {
                continue;
            }
            self.waiting.push(self.hosts[at].clone());
            if !self.answers.is_empty() {
                self.late_at = now + WITNESS_AFTER;
            }
            let (search, path) = self.search(turn, at)?;
            return Some((path, search));
        }
        None
    }

    /// Records an answer. The caller passes only answers of hosts that were asked.
    pub(super) fn on_answer(&mut self, answer: SliceAnswer, blame: &Blame, now: Duration) {
        self.lose(&answer.path[0]);
        self.answers.push(answer);
        let late_at = |host| match blame.unheard_since(host) {
            Some(since) => since + SUSPECT_AFTER,
            None if blame.of(host) > 0 => now + SUSPECT_AFTER,
            None => now + WITNESS_AFTER,
        };
        self.late_at = self.waiting.iter().map(late_at).max().unwrap_or_default().max(now);
    }

    /// Records that a host has failed. Returns false if it has failed before.
    pub(super) fn on_failure(&mut self, host: &Peer) -> bool {
        self.lose(host);
        self.failed.insert(host.clone())
    }

    /// Returns the hosts (nodes that run the search) that are late at this time. If there are any, one more host is
    /// asked or, if none is left, the available answers must suffice.
    pub(super) fn late(&mut self, now: Duration) -> Vec<Peer> {
        // If no answer is awaited, the next turn begins.
        let is_between_turns = self.waiting.is_empty() && self.asked < self.candidates();
        if self.is_idle() || now < self.late_at || is_between_turns {
            return Vec::new();
        }
        if self.asked < self.at_least() {
            self.extra += 1;
        } else if !self.answers.is_empty() {
            self.gave_up = true;
        }
        let is_last = self.answers.is_empty() && self.asked >= self.candidates();
        self.late_at = if is_last { Duration::MAX } else { now + WITNESS_AFTER };
        self.waiting.clone()
    }

    pub(super) fn verdict(&self) -> Verdict {
        let is_over = self.waiting.is_empty() && self.asked >= self.candidates();
        match self.answers.len() {
            _ if self.is_idle() => Verdict::Wait,
            0 if is_over => Verdict::Fail,
            0 => Verdict::Wait,
            _ if is_over || self.gave_up => Verdict::Accept,
            count if count >= self.quorum && !self.is_disputed() && !self.is_empty() => Verdict::Accept,
            _ => Verdict::Wait,
        }
    }

    /// The time at which [`late`](Self::late) must be called, unless an answer arrives or a call fails before; `None`
    /// if there is no such time.
    pub(super) fn deadline(&self) -> Option<Duration> {
        (!self.is_idle() && self.late_at < Duration::MAX).then_some(self.late_at)
    }

    /// Ends the requested slice, and returns it with all answers; `None` if no slice is requested.
    pub(super) fn take(&mut self) -> Option<(Slice, Vec<SliceAnswer>)> {
        let Self { slice, answers, .. } = std::mem::take(self);
        slice.map(|slice| (slice, answers))
    }

    /// True if at least two answers about the slice differ.
    fn is_disputed(&self) -> bool {
        self.answers.iter().any(|answer| !answer.is_same(&self.answers[0]))
    }

    /// True if at least two answers about the slice that come from complete lists differ.
    fn is_contradicted(&self) -> bool {
        let mut whole = self.answers.iter().filter(|answer| answer.told.whole);
        whole.next().is_some_and(|first| whole.any(|other| !other.is_same(first)))
    }

    /// True if nothing was found: the slice begins at the start of the list, the answers of the quorum have arrived,
    /// and each of them names no documents and says that the list ends.
    fn is_empty(&self) -> bool {
        let Some(slice) = &self.slice else { return false };
        let is_first = slice.search.ranking.from.is_none();
        let are_empty = || self.answers.iter().all(SliceAnswer::is_empty);
        is_first && self.answers.len() >= self.quorum && self.quorum >= self.hosts.len() && are_empty()
    }

    /// True if two hosts (nodes that run the search) have given equal answers about the slice.
    fn is_confirmed(&self) -> bool {
        let confirms = |one: &SliceAnswer, other: &SliceAnswer| one.path[0] != other.path[0] && one.is_same(other);
        self.answers.iter().any(|one| self.answers.iter().any(|other| confirms(one, other)))
    }

    /// The number of pairs of a turn and a host that may be asked for the slice.
    fn candidates(&self) -> usize {
        let is_open = self.is_contradicted() || self.is_disputed() && !self.is_confirmed() || self.is_empty();
        if is_open { self.pairs.len() } else { self.at_least() }
    }

    /// The number of pairs of a turn and a host that may be asked if there is no dispute.
    fn at_least(&self) -> usize {
        self.quorum.max(self.hosts.len()).min(self.pairs.len())
    }

    /// True if another host may be asked at this time, because the answers that have arrived or are in flight are not
    /// enough.
    fn may_ask(&self) -> bool {
        if self.is_disputed() {
            // A turn begins when all answers of the previous turn have arrived.
            let turn = |place: usize| self.pairs.get(place).map(|(turn, _)| *turn);
            return self.waiting.is_empty() || self.asked > 0 && turn(self.asked) == turn(self.asked - 1);
        }
        self.is_empty() || self.answers.len() + self.waiting.len() < self.quorum + self.extra
    }

    fn lose(&mut self, host: &Peer) {
        if let Some(place) = self.waiting.iter().position(|waiting| waiting == host) {
            self.waiting.swap_remove(place);
        }
    }

    /// Makes the search for the host at the index `at` in this turn, and the path of its answer. In the first turn,
    /// nodes that have failed recently are asked after the others.
    fn search(&self, turn: usize, at: usize) -> Option<(Search, Path)> {
        let mut search = self.slice.as_ref()?.search.clone();
        let mut path = vec![self.hosts[at].clone()];
        for term in search.must.iter_mut().skip(1).chain(&mut search.without) {
            let count = term.holders.len();
            let good = term.holders.iter().filter(|holder| !self.suspects.contains(holder)).count();
            let moved = if turn == 0 { good.max(2).min(count) } else { count };
            if moved > 0 {
                term.holders[..moved].rotate_left((turn + at) % moved);
            }
            // If the host keeps the list itself, no other node takes part.
            if !term.holders.contains(&path[0]) {
                path.extend(term.holders.first().cloned());
            }
        }
        // The host keeps the list of the first word, so it needs no keepers of it.
        search.must[0].holders.clear();
        Some((search, path))
    }
}
