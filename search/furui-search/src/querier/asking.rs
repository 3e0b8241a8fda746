//! Chooses the next requests and the nodes that receive them, and sends them.

use std::time::Duration;

use super::super::message::{Ranking, Request, Search};
use super::super::{Peer, Place, limits};
use super::branch::slice_at_first;
use super::calls::{Call, Of, Slice};
use super::words::Measure;
use super::{Querier, QueryEvent};

/// The time limit for a node to answer a request for the size of a list.
const SIZE_TIMEOUT: Duration = Duration::from_secs(2);
/// The time limit for the answer to a search of a slice of a list. The node that carries out the search has a slightly
/// shorter limit.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(10);

impl Querier {
    /// Sends look-ups of those words for which no node that keeps the list is known, and requests for the sizes of the
    /// lists.
    pub(super) fn learn(&mut self, now: Duration) {
        for word in 0..self.words.all.len() {
            if self.branches.iter().all(|branch| branch.is_done() || !branch.needs(word)) {
                continue;
            }
            if self.words.all[word].wants_lookup(now) {
                let word = self.words.all[word].name.clone();
                self.report.lookups += 1;
                self.events.push_back(QueryEvent::Lookup { word });
            }
            while let Some(to) = self.words.next_to_ask(word, self.options.salt, now) {
                let request = Request::Size { words: vec![self.words.all[word].name.clone()] };
                self.send(to, &request, now + SIZE_TIMEOUT, Of::Size(word));
            }
            while let Some((to, request)) = self.words.next_to_sample(word) {
                self.send(to, &request, now + SIZE_TIMEOUT, Of::Sample(word));
            }
            if let Some(ids) = self.words.next_to_prove(word, now) {
                let word = self.words.all[word].name.clone();
                self.events.push_back(QueryEvent::Prove { word, ids });
            }
        }
        for branch in &mut self.branches {
            branch.end_if_empty(&self.words);
        }
    }

    /// Blames the nodes that have not answered a request for a slice of a branch (a conjunction of the query) in time,
    /// and continues with the other answers if they suffice.
    pub(super) fn on_late(&mut self, number: usize, now: Duration) {
        for late in self.panels[number].late(now) {
            let branch = &self.branches[number];
            // If the node must wait for the keepers of other words, the delay is not its fault.
            let waits_for_others = branch.must.len() + branch.without.len() > 1;
            let blame = &mut self.words.blame;
            if waits_for_others { blame.excuse(late) } else { blame.shun(late) }
        }
        self.conclude(number, now);
    }

    /// Requests the next slice of ids for a branch, if it may send a request at this time. If the nodes that were asked
    /// are late or contradict each other, other nodes are asked for the same slice too.
    pub(super) fn ask(&mut self, number: usize, now: Duration) {
        if self.panels[number].is_idle() {
            self.begin(number, now);
        }
        while let Some((path, search)) = self.panels[number].next(now) {
            self.report.planned.get_or_insert(now);
            let host = path[0].clone();
            self.send(host, &Request::Search(search), now + SEARCH_TIMEOUT, Of::Slice(number, path));
        }
    }

    /// Chooses the next slice of a branch, and the nodes from which it is requested.
    fn begin(&mut self, number: usize, now: Duration) {
        let branch = &self.branches[number];
        let Some(next) = branch.next else { return };
        if self.measure.is_none() {
            let words = self.branches.iter().filter(|branch| !branch.is_done()).flat_map(|branch| &branch.must);
            self.measure = self.words.measure(&words.copied().collect());
        }
        let branch = &self.branches[number];
        let (Some(measure), Some(plan)) = (&self.measure, self.words.plan(&branch.must, &branch.without)) else {
            return;
        };
        let hosts = plan.must[0].holders.clone();
        let exchanges = plan.must.len() + plan.without.len() - 1;
        let page = self.options.page.min(self.wanted() as usize).saturating_sub(self.ready.len()).max(1);
        let first = slice_at_first(page, plan.must.len(), exchanges, plan.must[0].size);
        let most = branch.slice(first, limits::IDS / self.branches.len());
        let words = branch.must.len();
        let ranking = self.ranking(measure, &plan.order[..words], next);
        let search = Search {
            must: plan.must,
            without: plan.without,
            most,
            wants: self.options.wants,
            salt: self.options.salt,
            ranking,
        };
        let slice = Slice { branch: number, order: plan.order, search };
        self.panels[number].begin(slice, hosts, self.options.hosts, &self.words.blame, now);
        self.branches[number].slices += 1;
    }

    fn send(&mut self, to: Peer, request: &Request, until: Duration, of: Of) {
        // A request that exceeds a limit cannot be encoded. An empty request is sent instead, which the receiver
        // refuses.
        let request = request.encode().unwrap_or_default();
        let sent_bytes = request.len() as u64;
        self.report.messages += 1;
        self.report.sent_bytes += sent_bytes;
        let call = self.calls.add(Call { to: to.clone(), until, of, sent_bytes });
        self.events.push_back(QueryEvent::Send { to, call, request });
    }

    /// Makes the ranking parameters for a slice that begins at `next`. `order` contains the indices of the required
    /// words.
    fn ranking(&self, measure: &Measure, order: &[usize], next: Place) -> Ranking {
        let wanted = self.depth().saturating_sub(self.ready.len()).max(1);
        // The best documents of this conjunction may include documents that another conjunction has already found.
        let found = if self.branches.len() > 1 { self.found as usize + self.ready.len() } else { 0 };
        Ranking {
            log_length: measure.log_length,
            // Every word of a conjunction that is planned has one.
            idfs: order.iter().map(|number| measure.idfs.get(number).copied().unwrap_or_default()).collect(),
            best: (wanted + found).min(limits::PAGE + 1) as u32,
            floor: self.top.floor(wanted),
            after: self.options.after.filter(|_| self.branches.len() == 1),
            from: Some(next).filter(|next| *next != Place::FIRST),
        }
    }

    /// The number of best documents to request: one more than wanted, to detect whether there are more. If a union
    /// continues after a place, the documents before this place are requested too: the score of a document may place it
    /// after the place in one conjunction, but before it in another.
    pub(super) fn depth(&self) -> usize {
        match self.options.after {
            Some(_) if self.branches.len() > 1 => limits::PAGE + 1,
            _ => self.wanted() as usize + 1,
        }
    }
}
