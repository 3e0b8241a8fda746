use furui_search::PublisherKey;

use crate::node::{Crowd, Crowds, Hit, PassedOver, SearchOptions};

/// The results of one answer for programs in the order in which they are sent: those that have a place, as on the page,
/// then the others, as far as the limit leaves room for them, and of these last those whose publishers have their
/// places: else they would take the room of honest results that are on one host.
pub(super) struct Arranged {
    /// The maximum number of results.
    limit: u64,
    /// The number of results that were sent.
    sent: u64,
    /// `None` if all results have a place.
    crowds: Option<Crowds>,
    /// The results that have no place; each with the publisher because of whom it has none.
    others: Vec<(Hit, Option<PublisherKey>)>,
}

impl Arranged {
    /// Begins with no results of a search with these options.
    pub(super) fn of(options: &SearchOptions) -> Self {
        let crowds = options.shared.then(|| Crowds::of(options.limit));
        Self { limit: options.limit, sent: 0, crowds, others: vec![] }
    }

    /// Takes results, which follow the earlier ones in rank, and returns those that are sent now.
    pub(super) fn add(&mut self, hits: Vec<Hit>) -> Vec<Hit> {
        let mut placed = vec![];
        for hit in hits {
            match self.crowds.as_mut().and_then(|crowds| crowds.add(&hit)) {
                None => placed.push(hit),
                Some(Crowd::Publisher(publisher)) => self.others.push((hit, Some(publisher))),
                Some(Crowd::Text | Crowd::Host(_)) => self.others.push((hit, None)),
            }
        }
        self.sent += placed.len() as u64;
        placed
    }

    /// The number of results that were sent.
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    /// Returns the results that are sent at the end of the search. Those that are not sent are counted with those that
    /// the search has passed over.
    pub(super) fn end(&mut self, passed_over: &mut Vec<PassedOver>) -> Vec<Hit> {
        self.others.sort_by_key(|(_, publisher)| publisher.is_some());
        let room = self.limit.saturating_sub(self.sent).min(self.others.len() as u64);
        let unsent = self.others.split_off(room as usize);
        self.sent += room;
        for publisher in unsent.into_iter().filter_map(|(_, publisher)| publisher) {
            match passed_over.iter_mut().find(|it| it.publisher == publisher) {
                Some(its) => its.documents += 1,
                None => passed_over.push(PassedOver { publisher, documents: 1 }),
            }
        }
        self.others.drain(..).map(|(hit, _)| hit).collect()
    }
}
