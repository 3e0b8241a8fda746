//! Fetches records from the nodes that keep them, and answers other nodes' requests for records.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use furui_search::{Clause, ContentId, Fetched, Fit, Index, Peer, Record, Refusal, Request, Response, limits};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::time::{Instant, sleep_until};

use super::{Inner, record_key};
use crate::shelf::Shelf;

/// The time to wait for the nearest nodes before other nodes with a copy are asked for the missing records.
const HEDGE_AFTER: Duration = Duration::from_millis(500);
/// The time to wait for the other nodes with a copy.
const PATIENCE: Duration = Duration::from_secs(4);
/// The maximum number of bytes of records in one answer, and of records examined for one answer.
const FETCHED_BYTES: usize = limits::MESSAGE_BYTES - (16 << 10);

/// Answers a request for these documents with the records that fit the clauses, up to the maximum size of a message.
pub(super) fn answer(shelf: &mut Shelf, ids: &[ContentId], clauses: &[Clause]) -> furui::Result<Response> {
    let Some(fit) = Fit::new(clauses) else { return Ok(Response::Refused(Refusal::Invalid)) };
    let mut room = FETCHED_BYTES;
    let mut fetched = Vec::with_capacity(ids.len());
    for id in ids {
        fetched.push(match shelf.document(*id)? {
            None => Fetched::Unknown,
            // A record counts even if it is not sent, because examining it takes time.
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

/// The result of a request for documents. A document that is in none of the fields is missing: no node that should keep
/// it answered for it.
#[derive(Default)]
pub(super) struct Records {
    pub(super) found: HashMap<ContentId, Record>,
    /// The documents that fit none of the clauses, according to a node that keeps them.
    pub(super) unfit: HashSet<ContentId>,
    /// The documents that a node does not keep although it should, according to the node itself: they were withdrawn,
    /// or have expired. Another node may still have them.
    pub(super) gone: HashSet<ContentId>,
}

impl Records {
    fn add(&mut self, told: Vec<(ContentId, Told)>) {
        for (id, told) in told {
            match told {
                Told::Record(record) => {
                    self.found.insert(id, record);
                }
                Told::Unfit => {
                    self.unfit.insert(id);
                }
                Told::Gone => {
                    self.gone.insert(id);
                }
            }
        }
    }

    /// True if no other node needs to be asked.
    fn knows(&self, id: &ContentId) -> bool {
        self.found.contains_key(id) || self.unfit.contains(id)
    }
}

/// The answer of a node for one document.
enum Told {
    Record(Record),
    Unfit,
    Gone,
}

/// Fetches the records of these documents that fit the clauses. The nodes that keep the records decide whether they
/// fit; this is not checked here.
pub(super) async fn records(inner: &Inner, ids: &[ContentId], clauses: &[Clause]) -> Records {
    let mut records = Records::default();
    let mut tried: HashSet<(ContentId, Peer)> = HashSet::new();
    let mut asked = FuturesUnordered::new();
    let mut waiting: Vec<Peer> = Vec::new();
    // First the nearest node is asked, because a look-up of one node is cheap; then the others with a copy.
    for (replicas, patience) in [(1, HEDGE_AFTER), (limits::REPLICAS, PATIENCE)] {
        let missing: Vec<ContentId> = ids.iter().copied().filter(|id| !records.knows(id)).collect();
        let keys: Vec<_> = missing.iter().map(|&id| record_key(id)).collect();
        let lookups: Vec<_> = keys.iter().map(|key| inner.manners.keepers(key, replicas)).collect();
        let mut loads: HashMap<Peer, Vec<ContentId>> = HashMap::new();
        for (id, holders) in missing.iter().zip(futures::future::join_all(lookups).await) {
            for holder in holders.into_iter().take(replicas) {
                if tried.insert((*id, holder.clone())) {
                    loads.entry(holder).or_default().push(*id);
                }
            }
        }
        for (holder, ids) in loads {
            waiting.push(holder.clone());
            asked.push(records_of(inner, holder, ids, clauses));
        }
        let until = Instant::now() + patience;
        while !ids.iter().all(|id| records.knows(id)) && !asked.is_empty() {
            tokio::select! {
                Some((holder, told)) = asked.next() => {
                    waiting.retain(|waiting| *waiting != holder);
                    records.add(told);
                }
                () = sleep_until(until) => {
                    for holder in &waiting {
                        inner.manners.shun(holder.clone()).await;
                    }
                    break;
                }
            }
        }
    }
    records
}

/// Asks one node for these documents. Returns the node, and its answer for each document.
async fn records_of(
    inner: &Inner,
    holder: Peer,
    mut ids: Vec<ContentId>,
    clauses: &[Clause],
) -> (Peer, Vec<(ContentId, Told)>) {
    let mut records = Vec::with_capacity(ids.len());
    let mut lied = false;
    while !ids.is_empty() {
        let batch: Vec<ContentId> = ids.drain(..ids.len().min(limits::FETCHED)).collect();
        let request = Request::Fetch { ids: batch.clone(), clauses: clauses.to_vec() };
        let Ok(request) = request.encode() else { break };
        let fetched = match inner.manners.ask(&holder, request).await {
            Some(Response::Fetched(fetched)) => fetched,
            Some(Response::Refused(_)) | None => break,
            Some(_) => {
                lied = true;
                break;
            }
        };
        let mut later = Vec::new();
        let before = records.len();
        for (id, fetched) in batch.into_iter().zip(fetched) {
            match fetched {
                Fetched::Record(bytes) if ContentId::of(&bytes) == id => {
                    if let Ok(record) = Record::decode(&bytes) {
                        records.push((id, Told::Record(record)));
                    }
                }
                Fetched::Later => later.push(id),
                // The node judges by clauses that it was not given, or sends another document.
                Fetched::Unfit if clauses.is_empty() => lied = true,
                Fetched::Record(_) => lied = true,
                Fetched::Unfit => records.push((id, Told::Unfit)),
                Fetched::Unknown => records.push((id, Told::Gone)),
            }
        }
        // A node that only says "later" is not asked again.
        if records.len() > before {
            ids.extend(later);
        }
    }
    if lied {
        inner.manners.shun(holder.clone()).await;
    }
    (holder, records)
}
