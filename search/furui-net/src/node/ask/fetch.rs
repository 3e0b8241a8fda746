//! Fetches records from the nodes that keep them, and answers other nodes' requests for records.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use furui_search::{ContentId, Fetched, Index, Peer, Request, Response, limits};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::time::{Instant, sleep_until};

use crate::node::HEDGE_AFTER;
use crate::node::reputation::Reputation;
use crate::shelf::Shelf;

/// The time to wait for the other keepers of records. Chosen: with [`HEDGE_AFTER`], it is less than a node that stores
/// postings waits for their check.
const RECORDS_PATIENCE: Duration = Duration::from_secs(2);
/// The maximum number of bytes of records in one answer.
const FETCHED_BYTES: usize = limits::MESSAGE_BYTES - (16 << 10);

/// Answers a request for the records of these documents, up to the maximum size of a message.
pub(in crate::node) fn answer(shelf: &mut Shelf, ids: &[ContentId]) -> furui::Result<Response> {
    let mut room = FETCHED_BYTES;
    let mut fetched = Vec::with_capacity(ids.len());
    for id in ids {
        fetched.push(match shelf.document(*id)? {
            None => Fetched::Unknown,
            Some(record) if record.len() <= room => {
                room -= record.len();
                Fetched::Record(record)
            }
            Some(_) => Fetched::Later,
        });
    }
    Ok(Response::Fetched(fetched))
}

/// What the keepers of records have answered.
#[derive(Default)]
pub(in crate::node) struct Records {
    /// Records, proven by their hashes.
    pub(in crate::node) found: HashMap<ContentId, Vec<u8>>,
    /// The documents of which a keeper says that it does not keep the record, and no keeper that answered in time has
    /// it.
    pub(in crate::node) gone: HashSet<ContentId>,
}

/// Fetches the records of these documents from their keepers, but not from `except`. A keeper that is late or breaks
/// the protocol is asked last from then on.
pub(in crate::node) async fn records(reputation: &Reputation, except: Option<&Peer>, ids: &[ContentId]) -> Records {
    let mut records = Records::default();
    let mut tried: HashSet<(ContentId, Peer)> = HashSet::new();
    let mut asked = FuturesUnordered::new();
    let mut waiting: Vec<Peer> = Vec::new();
    // First the nearest node is asked, because a look-up of one node is cheap; then the others with a copy.
    for (replicas, patience) in [(1, HEDGE_AFTER), (limits::REPLICAS, RECORDS_PATIENCE)] {
        let missing: Vec<ContentId> = ids.iter().copied().filter(|id| !records.found.contains_key(id)).collect();
        let mut loads: HashMap<Peer, Vec<ContentId>> = HashMap::new();
        let keepers = reputation.keepers_of(missing.iter().copied(), replicas).await;
        for (id, keepers) in missing.iter().zip(keepers) {
            for keeper in keepers.into_iter().filter(|keeper| Some(keeper) != except).take(replicas) {
                if tried.insert((*id, keeper.clone())) {
                    loads.entry(keeper).or_default().push(*id);
                }
            }
        }
        waiting.extend(loads.keys().cloned());
        asked.extend(loads.into_iter().map(|(keeper, ids)| records_of(reputation, keeper, ids)));
        let until = Instant::now() + patience;
        while !asked.is_empty() && records.found.len() < ids.len() {
            tokio::select! {
                Some((keeper, told)) = asked.next() => {
                    waiting.retain(|waiting| *waiting != keeper);
                    records.found.extend(told.found);
                    records.gone.extend(told.gone);
                }
                () = sleep_until(until) => {
                    for keeper in waiting.drain(..) {
                        reputation.shun(keeper).await;
                    }
                    break;
                }
            }
        }
    }
    let Records { found, gone } = &mut records;
    gone.retain(|id| !found.contains_key(id));
    records
}

/// Asks one keeper for these records. Returns the keeper, and what it has answered.
async fn records_of(reputation: &Reputation, keeper: Peer, mut ids: Vec<ContentId>) -> (Peer, Records) {
    let mut records = Records::default();
    let mut lied = false;
    while !ids.is_empty() {
        let batch: Vec<ContentId> = ids.drain(..ids.len().min(limits::FETCHED)).collect();
        let Ok(request) = (Request::Fetch { ids: batch.clone() }).encode() else { break };
        let fetched = match reputation.ask(&keeper, request).await {
            Some(Response::Fetched(fetched)) => fetched,
            Some(Response::Refused(_)) | None => break,
            Some(_) => {
                lied = true;
                break;
            }
        };
        let mut later = Vec::new();
        let before = records.found.len();
        for (id, fetched) in batch.into_iter().zip(fetched) {
            match fetched {
                Fetched::Record(record) if ContentId::of(&record) == id => {
                    records.found.insert(id, record);
                }
                Fetched::Record(_) => lied = true,
                Fetched::Later => later.push(id),
                Fetched::Unknown => {
                    records.gone.insert(id);
                }
            }
        }
        // A node that only says "later" is not asked again.
        if records.found.len() > before {
            ids.extend(later);
        }
    }
    if lied {
        reputation.shun(keeper.clone()).await;
    }
    (keeper, records)
}
