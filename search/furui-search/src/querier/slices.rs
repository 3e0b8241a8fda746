//! Handles the answers to requests for slices: parts of the list with which a search begins.

use std::collections::BTreeSet;
use std::time::Duration;

use super::super::message::{Ranked, Refusal, Response};
use super::super::{Peer, Place, limits};
use super::calls::{Path, Slice};
use super::honest::is_honest;
use super::panel::{SliceAnswer, Verdict};
use super::{FAILURES_A_PASS, Querier, Round};

/// The number of slices of a conjunction with differing answers that are read to the last document that any host has
/// named. After that, a slice ends where most hosts say that it ends: otherwise one host could make a search endless.
const DISPUTED_SLICES: u64 = 16;

/// The number of bytes of a request, and of the answer to it.
pub(super) struct Traffic {
    pub(super) sent: u64,
    pub(super) back: u64,
}

impl Querier {
    /// Handles the answer of the host, which is the first node of `path`, to a request for a slice of the conjunction
    /// with the index `branch`.
    pub(super) fn on_slice(&mut self, branch: usize, path: Path, response: Response, traffic: Traffic, now: Duration) {
        let Some(slice) = &self.panels[branch].slice else { return };
        let host = path[0].clone();
        let told = match response {
            Response::Ranked(ranked) if is_honest(&ranked, &slice.search) => ranked,
            Response::Refused(why) => {
                self.words.blame.excuse(host.clone());
                // The refusal may not be the fault of the host: the keepers of the other words may have changed.
                return self.host_failed(branch, &host, why == Refusal::Unreachable, now);
            }
            _ => {
                self.words.blame.shun(host.clone());
                return self.host_failed(branch, &host, false, now);
            }
        };
        self.note_round(branch, &host, &told, traffic, now);
        self.panels[branch].on_answer(SliceAnswer { path, told }, &self.words.blame, now);
        self.conclude(branch, now);
    }

    /// Processes the answers for the requested slice of a conjunction if they suffice.
    pub(super) fn conclude(&mut self, branch: usize, now: Duration) {
        match self.panels[branch].verdict() {
            Verdict::Wait => {}
            Verdict::Fail => {
                self.panels[branch].take();
            }
            Verdict::Accept => {
                // The remaining requests to other nodes for the same slice are dropped.
                self.calls.forget(branch);
                if let Some((slice, answers)) = self.panels[branch].take() {
                    self.accept(&slice, answers, now);
                }
            }
        }
    }

    /// Asks another node for a slice of the list after `host` has failed. If other nodes may keep the words by now
    /// (`moved`), or too many hosts have failed, the nodes that keep the words are looked up again.
    pub(super) fn host_failed(&mut self, branch: usize, host: &Peer, moved: bool, now: Duration) {
        // A host that was asked twice counts as failed only once.
        if !self.panels[branch].on_failure(host) {
            return self.conclude(branch, now);
        }
        self.branches[branch].failures += 1;
        if moved || self.branches[branch].failures.is_multiple_of(FAILURES_A_PASS) {
            self.look_up_again(branch, now);
        }
        self.conclude(branch, now);
    }

    fn look_up_again(&mut self, branch: usize, now: Duration) {
        let branch = &self.branches[branch];
        branch.must.iter().chain(&branch.without).for_each(|&word| self.words.all[word].forget(now));
    }

    fn accept(&mut self, slice: &Slice, answers: Vec<SliceAnswer>, now: Duration) {
        let branch = slice.branch;
        // Two complete answers suffice, so that one host cannot make the result look incomplete.
        let whole_answers = answers.iter().filter(|answer| answer.told.whole).count();
        let whole = whole_answers == answers.len() || whole_answers > 1;
        // If a list is incomplete although all were complete when their sizes were reported, other keepers are tried
        // once.
        let was_whole = slice.order.iter().all(|&word| self.words.all[word].is_whole());
        if !whole && was_whole && self.branches[branch].insists() {
            // Possibly no known keeper of one of the words has a complete list, so the words are looked up again.
            self.branches[branch].failures += 1;
            return self.look_up_again(branch, now);
        }
        self.whole &= whole;
        let is_disputed = answers.iter().any(|answer| !answer.is_same(&answers[0]));
        self.report.disputed += u64::from(is_disputed);
        self.branches[branch].disputes += u64::from(is_disputed);
        self.take_over(slice, &answers);
    }

    /// Processes the documents that the hosts have found. Reading continues at the first place at which one of the
    /// hosts would continue.
    fn take_over(&mut self, slice: &Slice, answers: &[SliceAnswer]) {
        let most = self.depth();
        let all: BTreeSet<Place> = answers.iter().flat_map(|answer| &answer.told.places).copied().collect();
        let names = |ranked: &Ranked, place: &Place| ranked.places.binary_search(place).is_ok();
        let mut agreed = Vec::new();
        for place in all {
            let (named, others): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| names(&answer.told, &place));
            if others.is_empty() {
                agreed.push(place);
                continue;
            }
            // A host has examined a document if its slice ends at a bound below the document's score, because a score
            // is at most the document's bound.
            let best = slice.search.ranking.best as usize;
            let has_examined = |ranked: &Ranked| {
                let is_full = ranked.places.len() >= best && ranked.places.last().is_some_and(|last| *last < place);
                !is_full && ranked.next.is_none_or(|next| next.score < place.score)
            };
            // A host whose list is incomplete may lack what the others rightly name.
            let contradicts = |answer: &&&SliceAnswer| answer.told.whole && has_examined(&answer.told);
            let lacked: Vec<&Path> = others.iter().filter(contradicts).map(|answer| &answer.path).collect();
            let named: Vec<&Path> = named.iter().map(|answer| &answer.path).collect();
            if !self.top.has(place) {
                self.disputes.add(place, &named, &lacked, most);
            }
        }
        for place in &agreed {
            self.disputes.remove(place);
        }
        self.top.add(agreed, most);
        // The end of the list is greater than all places.
        let next = answers.iter().map(|answer| (answer.told.next.is_none(), answer.told.next));
        let Some((_, next)) = self.common_end(slice.branch, next.collect()) else { return };
        self.branches[slice.branch].on_slice(next, slice.search.most);
    }

    /// Of the ends of a slice that its hosts state, the first one or, after [`DISPUTED_SLICES`] disputed slices, the
    /// middle one; `None` if there are none. An end is a place, with false, or true and `None` for the end of the list.
    fn common_end(&self, branch: usize, mut ends: Vec<(bool, Option<Place>)>) -> Option<(bool, Option<Place>)> {
        ends.sort_unstable();
        let first = if self.branches[branch].disputes <= DISPUTED_SLICES { 0 } else { (ends.len() - 1) / 2 };
        ends.get(first).copied()
    }

    /// Adds the cost of a host's answer to the report.
    fn note_round(&mut self, branch: usize, host: &Peer, told: &Ranked, traffic: Traffic, now: Duration) {
        let Some(slice) = &self.panels[branch].slice else { return };
        let Ranked { found, seen, costs, .. } = told;
        if self.options.explain && self.report.rounds.len() < limits::ROUNDS {
            self.report.rounds.push(Round {
                clause: branch,
                words: slice.order.iter().map(|&word| self.words.all[word].name.clone()).collect(),
                host: host.clone(),
                most: slice.search.most,
                seen: *seen,
                found: *found,
                sent_bytes: traffic.sent,
                back_bytes: traffic.back,
                costs: costs.clone(),
                at: now,
            });
        }
        costs.iter().for_each(|cost| self.report.add(cost));
    }
}
