//! Handles the answers to requests for slices: parts of the list with which a search begins.

use std::time::Duration;

use super::super::message::{Cost, Refusal, Response};
use super::super::{Peer, limits};
use super::calls::Slice;
use super::honest::{is_honest, is_ranked};
use super::{FAILURES_A_PASS, Querier, Round};

/// What the two kinds of answers to a request for a slice have in common, with the node that answered and the traffic.
struct Told<'a> {
    host: Peer,
    found: u64,
    seen: u64,
    whole: bool,
    costs: &'a [Cost],
    traffic: Traffic,
}

/// The bytes of a request and of its answer.
pub(super) struct Traffic {
    pub(super) sent: u64,
    pub(super) back: u64,
}

impl Querier {
    /// Takes the answer of `host`, a node that was asked for a slice (the next part of a list).
    pub(super) fn on_slice(&mut self, slice: &Slice, host: Peer, response: Response, traffic: Traffic, now: Duration) {
        let Slice { branch, search, .. } = slice;
        match response {
            Response::Found(found) if is_honest(&found, search) => {
                let (count, costs) = (found.ids.len() as u64, &found.costs[..]);
                let told = Told { host, found: count, seen: found.seen, whole: found.whole, costs, traffic };
                if self.accepts(slice, told, now) {
                    self.branches[*branch].on_found(found, search.most, self.options.after.map(|after| after.id));
                }
            }
            Response::Ranked(ranked) if is_ranked(&ranked, search) => {
                let costs = &ranked.costs[..];
                let told = Told { host, found: ranked.found, seen: ranked.seen, whole: ranked.whole, costs, traffic };
                if self.accepts(slice, told, now) {
                    let most = self.depth();
                    self.top.add(ranked.places, most);
                    self.branches[*branch].on_ranked(ranked.next, search.most);
                }
            }
            Response::Refused(why) => {
                self.words.blame.excuse(host);
                // The host (the node that was asked) may be right to refuse: the keepers of the other words may have
                // moved.
                self.slice_failed(slice, why == Refusal::Unreachable, now);
            }
            _ => {
                self.words.blame.shun(host);
                self.slice_failed(slice, false, now);
            }
        }
    }

    /// True if the answer to a request for a slice is good enough. Then the cost of the answer is recorded, and other
    /// requests for the same slice are dropped.
    fn accepts(&mut self, slice: &Slice, told: Told<'_>, now: Duration) -> bool {
        let Told { host, found, seen, whole, costs, traffic } = told;
        if self.options.explain && self.report.rounds.len() < limits::ROUNDS {
            self.report.rounds.push(Round {
                clause: slice.branch,
                words: slice.order.iter().map(|&word| self.words[word].name.clone()).collect(),
                host,
                most: slice.search.most,
                seen,
                found,
                sent_bytes: traffic.sent,
                back_bytes: traffic.back,
                costs: costs.to_vec(),
                at: now,
            });
        }
        costs.iter().for_each(|cost| self.report.add(cost));
        // All lists were whole when their sizes were reported, and now one is not: try other keepers, once.
        let was_whole = slice.order.iter().all(|&word| self.words[word].is_whole());
        if !whole && was_whole && self.branches[slice.branch].insists() {
            // Perhaps no known keeper of one of the words has a whole list, so the words are looked up again.
            self.slice_failed(slice, true, now);
            return false;
        }
        self.whole &= whole;
        // This node was the first to answer for the slice. The requests to other nodes are dropped.
        self.calls.forget(slice.branch);
        true
    }

    /// Asks another node for a slice, after the first one has failed. If the words' keepers may have `moved`, or too
    /// many keepers have failed, the words are looked up first.
    pub(super) fn slice_failed(&mut self, slice: &Slice, moved: bool, now: Duration) {
        let branch = &mut self.branches[slice.branch];
        branch.on_failure();
        if moved || branch.failures().is_multiple_of(FAILURES_A_PASS) {
            slice.order.iter().for_each(|&word| self.words.forget(word, now));
        }
    }
}
