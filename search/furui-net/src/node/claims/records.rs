//! Gets records from the nodes that keep them, for a check.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use furui_search::{ContentId, Fetched, Peer, Request, Response, limits};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::time::{Instant, sleep_until};

use crate::node::manners::Manners;
use crate::node::record_key;

/// The time to wait for the nearest keepers before the others are asked, too.
const HEDGE_AFTER: Duration = Duration::from_millis(400);
/// The time to wait for the others. Whoever waits for the check has a limit of its own.
const PATIENCE: Duration = Duration::from_millis(2500);

/// What the keepers of records answered.
#[derive(Default)]
pub(super) struct Records {
    /// Records, proven by their hashes.
    pub(super) found: HashMap<ContentId, Vec<u8>>,
    /// The documents of which a keeper says that it does not keep the record, and no keeper that answered in time has it.
    pub(super) gone: HashSet<ContentId>,
}

/// Gets the records of these documents. `me` is not asked.
pub(super) async fn records(manners: &Manners, me: &Peer, ids: &[ContentId]) -> Records {
    let mut found: HashMap<ContentId, Vec<u8>> = HashMap::new();
    let mut denied: HashSet<ContentId> = HashSet::new();
    let mut tried: HashSet<(ContentId, Peer)> = HashSet::new();
    let mut asked = FuturesUnordered::new();
    for (replicas, patience) in [(1, HEDGE_AFTER), (limits::REPLICAS, PATIENCE)] {
        let missing: Vec<ContentId> = ids.iter().copied().filter(|id| !found.contains_key(id)).collect();
        let keys: Vec<_> = missing.iter().map(|&id| record_key(id)).collect();
        let lookups: Vec<_> = keys.iter().map(|key| manners.keepers(key, replicas)).collect();
        let mut loads: HashMap<Peer, Vec<ContentId>> = HashMap::new();
        for (id, keepers) in missing.iter().zip(futures::future::join_all(lookups).await) {
            for keeper in keepers.into_iter().filter(|keeper| keeper != me).take(replicas) {
                if tried.insert((*id, keeper.clone())) {
                    loads.entry(keeper).or_default().push(*id);
                }
            }
        }
        asked.extend(loads.into_iter().map(|(keeper, ids)| records_of(manners, keeper, ids)));
        let until = Instant::now() + patience;
        while !asked.is_empty() && found.len() < ids.len() {
            tokio::select! {
                Some((records, without)) = asked.next() => {
                    found.extend(records);
                    denied.extend(without);
                }
                () = sleep_until(until) => break,
            }
        }
    }
    denied.retain(|id| !found.contains_key(id));
    Records { found, gone: denied }
}

/// Asks one keeper for these records. Returns those that it has, and the documents whose records it says it has not.
async fn records_of(
    manners: &Manners,
    keeper: Peer,
    mut ids: Vec<ContentId>,
) -> (Vec<(ContentId, Vec<u8>)>, Vec<ContentId>) {
    let mut records = Vec::with_capacity(ids.len());
    let mut without = Vec::new();
    while !ids.is_empty() {
        let batch: Vec<ContentId> = ids.drain(..ids.len().min(limits::FETCHED)).collect();
        let request = Request::Fetch { ids: batch.clone(), clauses: Vec::new() };
        let Ok(request) = request.encode() else { break };
        let Some(Response::Fetched(fetched)) = manners.ask(&keeper, request).await else { break };
        let before = records.len();
        let mut later = Vec::new();
        for (id, fetched) in batch.into_iter().zip(fetched) {
            match fetched {
                Fetched::Record(record) if ContentId::of(&record) == id => records.push((id, record)),
                Fetched::Later => later.push(id),
                Fetched::Unknown => without.push(id),
                Fetched::Record(_) | Fetched::Unfit => {}
            }
        }
        // A node that only says "later" is not asked again.
        if records.len() > before {
            ids.extend(later);
        }
    }
    (records, without)
}
