//! How several publishers share the limit of a search.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use furui_search::{ContentId, Part, Place, PublisherKey, Request, Response, Shown, limits};
use serde::{Deserialize, Serialize};

use crate::node::asking::{Asking, KeeperEvent};
use crate::node::spent::Spent;
use crate::node::{Crowd, Crowds, Hit, Inner, PATIENCE};

/// The maximum number of documents that one [`shared`](crate::node::SearchOptions::shared) search passes over or finds
/// beyond those that count for its limit, if that is not larger. The search then ends with a cursor. Chosen: whoever
/// publishes fewer keeps nobody off the page.
pub const FURTHER: u64 = 50;
/// The number of nodes that are asked who has published a document. Chosen: one alone could lie, and the keepers of a
/// document have different address prefixes.
const ASKED: usize = 2;
/// The maximum number of documents whose publishers are remembered. Chosen: they take a megabyte.
const KNOWN: usize = 1 << 14;

/// Documents that an answer leaves out because their publisher has all his places. Most of them were not read, so of a
/// query with phrases, not all of them need have the phrase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedOver {
    /// The publisher, whom the owner of the node does not trust.
    pub publisher: PublisherKey,
    /// The number of documents.
    pub documents: u64,
}

/// The publishers of documents. The id of a document determines them, so what is remembered stays true.
#[derive(Default)]
pub(in crate::node) struct KnownPublishers(Mutex<HashMap<ContentId, PublisherKey>>);

impl KnownPublishers {
    fn of(&self, ids: impl Iterator<Item = ContentId>) -> HashMap<ContentId, PublisherKey> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ids.filter_map(|id| Some((id, *known.get(&id)?))).collect()
    }

    pub(in crate::node) fn learn(&self, learnt: impl Iterator<Item = (ContentId, PublisherKey)>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, publisher) in learnt {
            if known.len() >= KNOWN {
                known.clear();
            }
            known.insert(id, publisher);
        }
    }
}

/// The documents of one search as their publishers share its limit: of one whom the owner does not trust, no more are
/// read than have a place, because reading costs most.
pub(in crate::node) struct Sharing {
    limit: u64,
    crowds: Crowds,
    /// The number of documents that were found and do not count for the limit, because of their publishers or texts.
    found: u64,
    /// The candidates that were passed over, in their order.
    passed: Vec<(Place, PublisherKey)>,
}

impl Sharing {
    /// The documents of a search for `limit` documents, of which there is none so far.
    pub(in crate::node) fn of(limit: u64) -> Self {
        Self { limit, crowds: Crowds::of(limit), found: 0, passed: vec![] }
    }

    /// The number of documents found so far that do not count for the limit.
    pub(in crate::node) fn found(&self) -> u64 {
        self.found
    }

    /// The number of further documents, apart from those that count for the limit, that the search may pass over or
    /// find.
    pub(in crate::node) fn left(&self) -> u64 {
        FURTHER.max(self.limit).saturating_sub(self.found + self.passed.len() as u64)
    }

    /// True if some publisher has all his places.
    pub(in crate::node) fn have_full(&self) -> bool {
        self.crowds.have_full()
    }

    /// Counts a result.
    pub(in crate::node) fn count(&mut self, hit: &Hit) {
        // If hosts counted, a search of one site would read five pages for each.
        self.found += u64::from(matches!(self.crowds.add(hit), Some(Crowd::Publisher(_) | Crowd::Text)));
    }

    /// Removes at most `most` candidates from the front of `candidates` and returns those to be read. Removes and
    /// passes over those between them whose publishers have all their places, as nodes say that keep the documents.
    pub(in crate::node) async fn choose(
        &mut self,
        inner: &Inner,
        spent: &mut Spent,
        candidates: &mut &[Place],
        most: usize,
    ) -> Vec<Place> {
        let most = most.min(candidates.len());
        if !self.crowds.have_full() {
            let (chosen, rest) = candidates.split_at(most);
            *candidates = rest;
            return chosen.to_vec();
        }
        let looked_at = candidates[..candidates.len().min(most + self.left() as usize)].iter().map(|place| place.id);
        let publishers = publishers(inner, spent, looked_at.collect()).await;
        let mut chosen = vec![];
        while let Some((first, rest)) = candidates.split_first()
            && chosen.len() < most
            && self.left() > 0
        {
            match publishers.get(&first.id).filter(|publisher| self.crowds.is_full(publisher)) {
                Some(publisher) => self.passed.push((*first, *publisher)),
                None => chosen.push(*first),
            }
            *candidates = rest;
        }
        chosen
    }

    /// Forgets the candidates that were passed over if there are some, all after `last`: the next search finds them.
    /// Returns true if it has.
    pub(in crate::node) fn forget_after(&mut self, last: &Place) -> bool {
        let are_after = self.passed.first().is_some_and(|(first, _)| last < first);
        if are_after {
            self.passed.clear();
        }
        are_after
    }

    /// How many documents were passed over, by their publishers.
    pub(in crate::node) fn passed_over(&self) -> Vec<PassedOver> {
        let mut counts: BTreeMap<PublisherKey, u64> = BTreeMap::new();
        self.passed.iter().for_each(|(_, publisher)| *counts.entry(*publisher).or_default() += 1);
        counts.into_iter().map(|(publisher, documents)| PassedOver { publisher, documents }).collect()
    }
}

/// The publishers of those documents of which this node knows them, or of which nodes that keep them say the same. One
/// node could say of a document that somebody else has published it, and so keep it off a page.
async fn publishers(inner: &Inner, spent: &mut Spent, ids: Vec<ContentId>) -> HashMap<ContentId, PublisherKey> {
    let mut publishers = inner.publishers.of(ids.iter().copied());
    let unknown: Vec<ContentId> = ids.into_iter().filter(|id| !publishers.contains_key(id)).collect();
    let mut asking = Asking::new(&inner.reputation, PATIENCE);
    for (keeper, load) in inner.reputation.loads(&unknown, ASKED, None).await {
        for ids in load.chunks(limits::FETCHED) {
            let documents = ids.iter().map(|id| (*id, Part::Publisher)).collect();
            asking.ask(keeper.clone(), &Request::Show { documents, clauses: vec![] }, ids.to_vec());
        }
    }
    let mut said: HashMap<ContentId, Vec<PublisherKey>> = HashMap::new();
    // The documents of a slow node are read like others.
    while asking.waits_for(|_| true)
        && let Some(event) = asking.next().await
    {
        let KeeperEvent::Answer { about, response: Some(Response::Shown { documents, .. }), .. } = event else {
            continue;
        };
        for (id, shown) in about.into_iter().zip(documents) {
            if let Shown::Publisher { publisher } = shown {
                said.entry(id).or_default().push(publisher);
            }
        }
    }
    spent.add(asking.spent);
    said.retain(|_, said| said.iter().all(|publisher| *publisher == said[0]));
    publishers.extend(said.into_iter().map(|(id, said)| (id, said[0])));
    publishers
}
