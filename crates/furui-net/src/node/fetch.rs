//! Documents by their ids.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use furui::search::{ContentId, Fetched, Peer, Record, Request, Response, limits};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::time::{Instant, sleep_until};

use super::{Inner, call, record_key};

/// How long to wait for the nearest nodes until the others that keep a copy are asked for what is missing.
const HEDGE_AFTER: Duration = Duration::from_millis(500);
/// How long to wait for the others.
const PATIENCE: Duration = Duration::from_secs(4);

/// What became of asking for documents; those that are nowhere in it nobody who should keep them answered for.
#[derive(Default)]
pub(super) struct Records {
    pub(super) found: HashMap<ContentId, Record>,
    /// Those of which a node that should keep them says that it does not: withdrawn, or expired. They may be found
    /// elsewhere all the same.
    pub(super) gone: HashSet<ContentId>,
}

/// The records of these documents, as far as nodes that keep them answer.
pub(super) async fn records(inner: &Inner, ids: &[ContentId]) -> Records {
    let mut records = Records::default();
    let mut tried: HashSet<(ContentId, Peer)> = HashSet::new();
    let mut asked = FuturesUnordered::new();
    // First the nearest node, as a look-up is cheap for one; then whoever else keeps a copy.
    for (replicas, patience) in [(1, HEDGE_AFTER), (limits::REPLICAS, PATIENCE)] {
        let missing: Vec<ContentId> = ids.iter().copied().filter(|id| !records.found.contains_key(id)).collect();
        let keys: Vec<_> = missing.iter().map(|&id| record_key(id)).collect();
        let lookups: Vec<_> = keys.iter().map(|key| inner.net.closest(key, replicas)).collect();
        let mut loads: HashMap<Peer, Vec<ContentId>> = HashMap::new();
        for (id, holders) in missing.iter().zip(futures::future::join_all(lookups).await) {
            for holder in holders {
                if tried.insert((*id, holder.clone())) {
                    loads.entry(holder).or_default().push(*id);
                }
            }
        }
        asked.extend(loads.into_iter().map(|(holder, ids)| fetch_from(inner, holder, ids)));
        let until = Instant::now() + patience;
        while records.found.len() < ids.len() && !asked.is_empty() {
            tokio::select! {
                Some(fetched) = asked.next() => for (id, record) in fetched {
                    match record {
                        Some(record) => {
                            records.found.insert(id, record);
                        }
                        None => {
                            records.gone.insert(id);
                        }
                    }
                },
                () = sleep_until(until) => break,
            }
        }
    }
    records
}

/// What one node has of these: none where it has nothing.
async fn fetch_from(inner: &Inner, holder: Peer, mut ids: Vec<ContentId>) -> Vec<(ContentId, Option<Record>)> {
    let mut records = Vec::with_capacity(ids.len());
    while !ids.is_empty() {
        let batch: Vec<ContentId> = ids.drain(..ids.len().min(limits::FETCHED)).collect();
        let request = Request::Fetch { ids: batch.clone() };
        let Some(Response::Fetched(fetched)) = call(&inner.net, &holder, &request).await else { break };
        let mut later = Vec::new();
        let before = records.len();
        for (id, fetched) in batch.into_iter().zip(fetched) {
            match fetched {
                Fetched::Record(bytes) if ContentId::of(&bytes) == id => {
                    if let Ok(record) = Record::decode(&bytes) {
                        records.push((id, Some(record)));
                    }
                }
                Fetched::Later => later.push(id),
                Fetched::Unknown => records.push((id, None)),
                Fetched::Record(_) => {}
            }
        }
        // One that only ever says "later" is not asked on.
        if records.len() > before {
            ids.extend(later);
        }
    }
    records
}
