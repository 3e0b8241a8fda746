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

/// What became of asking for documents; those that are nowhere in it nobody who should keep them answered for.
#[derive(Default)]
pub(super) struct Records {
    pub(super) found: HashMap<ContentId, Record>,
    /// Those of which a node that keeps them says that they fit none of the clauses.
    pub(super) unfit: HashSet<ContentId>,
    /// Those of which a node that should keep them says that it does not: withdrawn, or expired. They may be found
    /// elsewhere all the same.
    pub(super) gone: HashSet<ContentId>,
}

impl Records {
    /// Whether nobody else need be asked.
    fn knows(&self, id: &ContentId) -> bool {
        self.found.contains_key(id) || self.unfit.contains(id)
    }
}

/// What a node says of a document.
enum Told {
    Record(Record),
    Unfit,
    Gone,
}

/// The records of these documents, as far as nodes that keep them answer and they fit. That those sent fit is not checked
/// here.
pub(super) async fn records(inner: &Inner, ids: &[ContentId], clauses: &[Clause]) -> Records {
    let mut records = Records::default();
    let mut tried: HashSet<(ContentId, Peer)> = HashSet::new();
    let mut asked = FuturesUnordered::new();
    // First the nearest node, as a look-up is cheap for one; then whoever else keeps a copy.
    for (replicas, patience) in [(1, HEDGE_AFTER), (limits::REPLICAS, PATIENCE)] {
        let missing: Vec<ContentId> = ids.iter().copied().filter(|id| !records.knows(id)).collect();
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
        while !ids.iter().all(|id| records.knows(id)) && !asked.is_empty() {
            tokio::select! {
                Some(told) = asked.next() => for (id, told) in told {
                    match told {
                        Told::Record(record) => {
                            records.found.insert(id, record);
                        }
                        Told::Unfit => {
                            records.unfit.insert(id);
                        }
                        Told::Gone => {
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

/// What one node has of these.
async fn records_of(
    inner: &Inner,
    holder: Peer,
    mut ids: Vec<ContentId>,
    clauses: &[Clause],
) -> Vec<(ContentId, Told)> {
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
                        records.push((id, Told::Record(record)));
                    }
                }
                Fetched::Later => later.push(id),
                // Nobody asked whether it fits anything.
                Fetched::Unfit if clauses.is_empty() => {}
                Fetched::Unfit => records.push((id, Told::Unfit)),
                Fetched::Unknown => records.push((id, Told::Gone)),
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
