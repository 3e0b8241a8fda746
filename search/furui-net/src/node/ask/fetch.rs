//! Fetches records from the nodes that keep them.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use furui_search::{Act, ContentId, Part, Peer, Publication, Request, Response, Shown, limits};

use crate::net::is_signed;
use crate::node::asking::{Asking, HEDGE_AFTER, KeeperEvent};
use crate::node::reputation::Reputation;
use crate::shelf::packed;

/// The time to wait for the remaining nodes that keep records after [`HEDGE_AFTER`]. Chosen: the sum of both is less
/// than the time that a publisher waits while the receiving node checks postings.
const RECORDS_PATIENCE: Duration = Duration::from_secs(2);

/// A record that a node has sent.
pub(in crate::node) struct Found {
    /// The encoded record.
    pub(in crate::node) record: Vec<u8>,
    /// The publication as the node states it; the signature is not checked.
    pub(in crate::node) publication: Publication,
}

/// The answers of the nodes that were asked for the records of documents.
#[derive(Default)]
pub(in crate::node) struct Records {
    /// The encoded records, verified against the hashes that are their ids.
    pub(in crate::node) found: HashMap<ContentId, Found>,
    /// The documents without a record: some node that was asked says that it does not keep the record, and no node that
    /// answered in time sent it.
    pub(in crate::node) gone: HashSet<ContentId>,
    /// For each document without a record, the number of nodes that have shown a withdrawal of it.
    pub(in crate::node) withdrawn: HashMap<ContentId, usize>,
    /// The documents whose records exceeded the size limit of an answer and must be requested again.
    pub(in crate::node) later: Vec<ContentId>,
}

impl Records {
    /// Verifies an answer to a [`request`] for the records of these documents; `None` if the answer violates the
    /// protocol, for example because a record does not match its hash.
    pub(in crate::node) fn of(ids: &[ContentId], response: Response) -> Option<Self> {
        let Response::Shown { documents, .. } = response else { return None };
        if documents.len() != ids.len() {
            return None;
        }
        // The unpacked records of one answer may have at most this size together.
        let (mut records, mut room) = (Self::default(), limits::MESSAGE_BYTES);
        for (&id, shown) in ids.iter().zip(documents) {
            match shown {
                Shown::Record { publication, record: packed } => {
                    let record = packed::unpack(&packed, room).filter(|record| ContentId::of(record) == id)?;
                    room -= record.len();
                    records.found.insert(id, Found { record, publication });
                }
                Shown::Unknown => drop(records.gone.insert(id)),
                Shown::Withdrawn { publisher, signature } => {
                    if !is_signed(&publisher, Act::Withdraw, id, &signature) {
                        return None;
                    }
                    records.gone.insert(id);
                    records.withdrawn.insert(id, 1);
                }
                Shown::Later => records.later.push(id),
                Shown::Document(_)
                | Shown::Version { .. }
                | Shown::Publisher { .. }
                | Shown::Kept { .. }
                | Shown::Unfit => return None,
            }
        }
        Some(records)
    }
}

/// Makes a request for the records of these documents, at most [`limits::FETCHED`].
pub(in crate::node) fn request(ids: &[ContentId]) -> Request {
    Request::Show { documents: ids.iter().map(|id| (*id, Part::Record)).collect(), clauses: vec![] }
}

/// Fetches the records of these documents from the nodes that keep them, other than `except`. Later requests ask a node
/// that is late or breaks the protocol after all others.
pub(in crate::node) async fn records(reputation: &Reputation, except: Option<&Peer>, ids: &[ContentId]) -> Records {
    let mut records = Records::default();
    let mut tried: HashSet<(ContentId, Peer)> = HashSet::new();
    let mut asking = Asking::new(reputation, HEDGE_AFTER + RECORDS_PATIENCE);
    // Each request to a keeper has at most `limits::FETCHED` documents; the next request follows its answer.
    let ask = |asking: &mut Asking<Vec<ContentId>>, keeper, load: Vec<ContentId>| {
        let request = request(&load[..load.len().min(limits::FETCHED)]);
        asking.ask(keeper, &request, load);
    };
    // First only the nearest keeper of each record is asked, because looking up one node is cheap; then the other
    // replicas.
    for replicas in [1, limits::REPLICAS] {
        let missing: Vec<ContentId> = ids.iter().copied().filter(|id| !records.found.contains_key(id)).collect();
        for (keeper, mut load) in reputation.loads(&missing, replicas, except).await {
            load.retain(|id| tried.insert((*id, keeper.clone())));
            if !load.is_empty() {
                ask(&mut asking, keeper, load);
            }
        }
        while records.found.len() < ids.len()
            && let Some(event) = asking.next().await
        {
            let (keeper, mut load, response) = match event {
                KeeperEvent::Answer { from, about, response } => (from, about, response),
                KeeperEvent::Slow(_) if replicas == 1 => break,
                KeeperEvent::Slow(_) => continue,
            };
            let rest = load.split_off(load.len().min(limits::FETCHED));
            let Some(response) = response.filter(|it| !matches!(it, Response::Refused(_))) else { continue };
            let Some(mut told) = Records::of(&load, response) else {
                reputation.shun(keeper).await;
                continue;
            };
            // A node that postpones all records of a request is not asked again.
            let left = if told.found.is_empty() { rest } else { [rest, std::mem::take(&mut told.later)].concat() };
            records.found.extend(told.found);
            records.gone.extend(told.gone);
            told.withdrawn.into_keys().for_each(|id| *records.withdrawn.entry(id).or_default() += 1);
            if !left.is_empty() {
                ask(&mut asking, keeper, left);
            }
        }
    }
    let Records { found, gone, withdrawn, .. } = &mut records;
    gone.retain(|id| !found.contains_key(id));
    withdrawn.retain(|id, _| !found.contains_key(id));
    records
}
