use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use furui_search::{ContentId, Lock, Peer, PublisherKey, Request, Response, limits};
use tokio::task::spawn_blocking;

use crate::net::is_signed;
use crate::node::asking::{Asking, KeeperEvent};
use crate::node::spent::Spent;
use crate::node::{Inner, PATIENCE};

/// The verified publishers of documents, and the traffic of the requests.
pub(in crate::node) struct Publishers {
    pub(in crate::node) of: HashMap<ContentId, BTreeSet<PublisherKey>>,
    pub(in crate::node) spent: Spent,
}

/// Requests the signatures of these documents from all nodes that keep them, and returns the publishers by document. A
/// publisher is returned if at least one node has a valid signature of it.
pub(in crate::node) async fn publishers(inner: &Inner, ids: &[ContentId]) -> Publishers {
    let mut asking = Asking::new(&inner.reputation, PATIENCE);
    for (keeper, load) in inner.reputation.loads(ids, limits::REPLICAS, None).await {
        for ids in load.chunks(limits::FETCHED) {
            asking.ask(keeper.clone(), &Request::Locks { ids: ids.to_vec() }, ids.to_vec());
        }
    }
    let (mut locks, mut heard) = (BTreeMap::new(), HashSet::new());
    // Requests to nodes that recently did not answer are sent too, but their answers are not awaited.
    let silent: HashSet<Peer> = inner.reputation.to_ask_last().into_iter().collect();
    while asking.waits_for(|peer| !silent.contains(peer)) || heard.len() < ids.len() {
        let Some(event) = asking.next().await else { break };
        let KeeperEvent::Answer { from, about: ids, response } = event else { continue };
        match response {
            Some(Response::Locks(all)) if all.len() == ids.len() => {
                heard.extend(ids.iter().copied());
                note(&mut locks, &ids, all);
            }
            None | Some(Response::Refused(_)) => {}
            Some(_) => inner.reputation.distrust(from).await,
        }
    }
    // Verifying many signatures would block other tasks, so it runs on a blocking thread. It fails only if the runtime
    // is shut down.
    let of = spawn_blocking(move || proven(locks)).await.unwrap_or_default();
    Publishers { of, spent: asking.spent }
}

/// The distinct locks of documents (the publishers' signatures), grouped by document and by the publisher that the lock
/// claims.
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

/// Returns for each document the publishers with at least one valid signature.
fn proven(stated: Stated) -> HashMap<ContentId, BTreeSet<PublisherKey>> {
    let mut proven: HashMap<ContentId, BTreeSet<PublisherKey>> = HashMap::new();
    for ((id, publisher), locks) in stated {
        if locks.iter().any(|lock| is_signed(lock, id)) {
            proven.entry(id).or_default().insert(publisher);
        }
    }
    proven
}
