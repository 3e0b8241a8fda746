//! Records from the nodes that keep them: who asks, and who is asked.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use furui::search::{Clause, ContentId, Fetched, Fit, Index, Peer, Record, Refusal, Request, Response, limits};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::time::{Instant, sleep_until};

use super::{Inner, call, record_key};
use crate::shelf::Shelf;

/// How long to wait for the nearest nodes until the others that keep a copy are asked for what is missing.
const HEDGE_AFTER: Duration = Duration::from_millis(500);
/// How long to wait for the others.
const PATIENCE: Duration = Duration::from_secs(4);
/// Bytes of records in one answer, and that are looked through for one.
const FETCHED_BYTES: usize = limits::MESSAGE_BYTES - (16 << 10);

/// The answer for these documents: the records that fit, as many as there is room for in a message.
pub(super) fn answer(shelf: &mut Shelf, ids: &[ContentId], clauses: &[Clause]) -> furui::Result<Response> {
    let Some(fit) = Fit::new(clauses) else { return Ok(Response::Refused(Refusal::Invalid)) };
    let mut room = FETCHED_BYTES;
    let mut fetched = Vec::with_capacity(ids.len());
    for id in ids {
        fetched.push(match shelf.document(*id)? {
            None => Fetched::Unknown,
            // Looking through it takes time, whether it is sent or not.
            Some(record) if record.len() <= room => {
                room -= record.len();
                let fits = clauses.is_empty() || Record::decode(&record).is_ok_and(|record| fit.fits(&record));
                if fits { Fetched::Record(record) } else { Fetched::Unfit }
            }
            Some(_) => Fetched::Later,
        });
    }
    Ok(Response::Fetched(fetched))
}

/// The records of these documents, as far as nodes that keep them answer; `None` where such a node says that the record
/// fits none of the clauses. That those it sends fit is not checked here.
pub(super) async fn records(
    inner: &Inner,
    ids: &[ContentId],
    clauses: &[Clause],
) -> HashMap<ContentId, Option<Record>> {
    let mut records: HashMap<ContentId, Option<Record>> = HashMap::new();
    let mut tried: HashSet<(ContentId, Peer)> = HashSet::new();
    let mut asked = FuturesUnordered::new();
    // First the nearest node, as a look-up is cheap for one; then whoever else keeps a copy.
    for (replicas, patience) in [(1, HEDGE_AFTER), (limits::REPLICAS, PATIENCE)] {
        let missing: Vec<ContentId> = ids.iter().copied().filter(|id| !records.contains_key(id)).collect();
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
        asked.extend(loads.into_iter().map(|(holder, ids)| records_of(inner, holder, ids, clauses)));
        let until = Instant::now() + patience;
        while records.len() < ids.len() && !asked.is_empty() {
            tokio::select! {
                Some(fetched) = asked.next() => {
                    for (id, record) in fetched {
                        // Of keepers that contradict each other, the one that shows something is right.
                        let known = records.entry(id).or_default();
                        *known = record.or(known.take());
                    }
                }
                () = sleep_until(until) => break,
            }
        }
    }
    records
}

/// What one node has of these.
async fn records_of(
    inner: &Inner,
    holder: Peer,
    mut ids: Vec<ContentId>,
    clauses: &[Clause],
) -> Vec<(ContentId, Option<Record>)> {
    let mut records = Vec::with_capacity(ids.len());
    while !ids.is_empty() {
        let batch: Vec<ContentId> = ids.drain(..ids.len().min(limits::FETCHED)).collect();
        let request = Request::Fetch { ids: batch.clone(), clauses: clauses.to_vec() };
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
                // Nobody asked whether it fits anything.
                Fetched::Unfit if clauses.is_empty() => {}
                Fetched::Unfit => records.push((id, None)),
                Fetched::Record(_) | Fetched::Unknown => {}
            }
        }
        // One that only ever says "later" is not asked on.
        if records.len() > before {
            ids.extend(later);
        }
    }
    records
}
