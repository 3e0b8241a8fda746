//! Merges the documents found by the conjunctions of a query, and divides them into pages.

use super::super::Place;
use super::{Querier, QueryEvent};

impl Querier {
    /// The number of ids that may still be returned, including those in `ready`.
    pub(super) fn wanted(&self) -> u64 {
        self.options.limit.saturating_sub(self.found)
    }

    /// Moves found documents to `ready` once no branch (conjunction of the query) can find a better document.
    pub(super) fn merge(&mut self) {
        let ahead = self.branches.iter().filter_map(|branch| branch.next).min();
        while let Some(place) = self.take_before(ahead) {
            if self.options.after.is_none_or(|after| place > after) {
                self.ready.push_back(place);
            }
        }
    }

    /// Removes and returns the best document, disputed or not, if it comes before `ahead`, the best place that may
    /// still be found. A document for which the hosts state different scores is returned once with each score.
    fn take_before(&mut self, ahead: Option<Place>) -> Option<Place> {
        let (agreed, disputed) = (self.top.first(), self.disputes.first());
        let first = agreed.into_iter().chain(disputed).min()?;
        if ahead.is_some_and(|ahead| first >= ahead) {
            return None;
        }
        if agreed == Some(first) {
            self.top.take();
        }
        self.disputes.remove(&first);
        Some(first)
    }

    /// Emits a page if enough ids are ready. If `last` is true, the page may have fewer ids. Returns true if a page was
    /// emitted.
    pub(super) fn hand_out_page(&mut self, last: bool) -> bool {
        let page = (self.options.page as u64).min(self.wanted()) as usize;
        let count = page.min(self.ready.len());
        if count == 0 || count < page && !last {
            return false;
        }
        let places: Vec<Place> = self.ready.drain(..count).collect();
        self.found += count as u64;
        self.last = places.last().copied().or(self.last);
        self.events.push_back(QueryEvent::Page { places });
        true
    }
}
