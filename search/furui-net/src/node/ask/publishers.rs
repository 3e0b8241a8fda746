use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use furui_search::{ContentId, Lock, Peer, PublisherKey, Request, Response, limits};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until};

use crate::net::is_signed;
use crate::node::spent::Spent;
use crate::node::{HEDGE_AFTER, Inner, PATIENCE};

/// Who has published documents, and what it took to find out.
#[derive(Default)]
pub(in crate::node) struct Publishers {
    pub(in crate::node) of: HashMap<ContentId, BTreeSet<PublisherKey>>,
    pub(in crate::node) spent: Spent,
}

/// Finds out who has published these documents, from all nodes that keep them. A publisher counts if any of the nodes
/// has its signature.
pub(in crate::node) async fn publishers(inner: &Inner, ids: &[ContentId]) -> Publishers {
    let me = inner.net.me();
    let keepers = inner.reputation.keepers_of(ids.iter().copied(), limits::REPLICAS).await;
    let mut loads: HashMap<Peer, Vec<ContentId>> = HashMap::new();
    for (&id, keepers) in ids.iter().zip(keepers) {
        keepers.into_iter().for_each(|keeper| loads.entry(keeper).or_default().push(id));
    }
    let mut result = Publishers::default();
    let mut in_flight = FuturesUnordered::new();
    let mut awaited: HashSet<Peer> = HashSet::new();
    for (keeper, load) in &loads {
        for ids in load.chunks(limits::FETCHED) {
            let Ok(request) = (Request::Locks { ids: ids.to_vec() }).encode() else { continue };
            if *keeper != me {
                result.spent.sent += request.len() as u64;
                result.spent.messages += 1;
            }
            awaited.insert(keeper.clone());
            in_flight.push(async move { (keeper, ids, inner.reputation.ask_counted(keeper, request).await) });
        }
    }
    let (mut locks, mut heard) = (BTreeMap::new(), HashSet::new());
    let (started, mut is_late) = (Instant::now(), false);
    // Nodes that were silent lately are asked, but not waited for.
    let silent: HashSet<Peer> = inner.reputation.to_ask_last().into_iter().collect();
    loop {
        let is_patient = !is_late && !awaited.is_subset(&silent);
        if !is_patient && heard.len() == ids.len() {
            break;
        }
        let deadline = started + if is_late { PATIENCE } else { HEDGE_AFTER };
        tokio::select! {
            answer = in_flight.next() => {
                let Some((keeper, ids, answer)) = answer else { break };
                awaited.remove(keeper);
                if *keeper != me {
                    result.spent.received += answer.as_ref().map_or(0, |(_, bytes)| *bytes);
                }
                match answer {
                    Some((Response::Locks(all), _)) if all.len() == ids.len() => {
                        heard.extend(ids.iter().copied());
                        note(&mut locks, ids, all);
                    }
                    None | Some((Response::Refused(_), _)) => {}
                    Some(_) => inner.reputation.distrust(keeper.clone()).await,
                }
            }
            () = sleep_until(deadline) => {
                if std::mem::replace(&mut is_late, true) {
                    break;
                }
                for keeper in awaited.drain() {
                    inner.reputation.shun(keeper).await;
                }
            }
        }
    }
    drop(in_flight);
    // Checking the signatures of many documents would block other tasks. It fails if the node is shut down.
    result.of = spawn_blocking(move || proven(locks)).await.unwrap_or_default();
    result
}

/// The different locks of documents, by the documents and the publishers that they state.
type Stated = BTreeMap<(ContentId, PublisherKey), Vec<Lock>>;

fn note(stated: &mut Stated, ids: &[ContentId], all: Vec<Vec<(Lock, u8)>>) {
    for (id, locks) in ids.iter().zip(all) {
        for (lock, _) in locks.into_iter().filter(|(lock, _)| *lock != Lock::NOBODY) {
            let others = stated.entry((*id, lock.publisher())).or_default();
            if !others.contains(&lock) {
                others.push(lock);
            }
        }
    }
}

/// The publishers of whom a signature is true.
fn proven(stated: Stated) -> HashMap<ContentId, BTreeSet<PublisherKey>> {
    let mut proven: HashMap<ContentId, BTreeSet<PublisherKey>> = HashMap::new();
    for ((id, publisher), locks) in stated {
        if locks.iter().any(|lock| is_signed(lock, id)) {
            proven.entry(id).or_default().insert(publisher);
        }
    }
    proven
}
