use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use furui_search::{ContentId, Lock, Peer, PublisherKey, Request, Response, limits};
use tokio::task::spawn_blocking;

use crate::net::is_signed;
use crate::node::asking::{Asking, Came};
use crate::node::spent::Spent;
use crate::node::{Inner, PATIENCE};

/// Who has published documents, and what it took to find out.
pub(in crate::node) struct Publishers {
    pub(in crate::node) of: HashMap<ContentId, BTreeSet<PublisherKey>>,
    pub(in crate::node) spent: Spent,
}

/// Finds out who has published these documents, from all nodes that keep them. A publisher counts if any of the nodes
/// has its signature.
pub(in crate::node) async fn publishers(inner: &Inner, ids: &[ContentId]) -> Publishers {
    let mut asking = Asking::new(&inner.reputation, PATIENCE);
    for (keeper, load) in inner.reputation.loads(ids, limits::REPLICAS, None).await {
        for ids in load.chunks(limits::FETCHED) {
            asking.ask(keeper.clone(), &Request::Locks { ids: ids.to_vec() }, ids.to_vec());
        }
    }
    let (mut locks, mut heard) = (BTreeMap::new(), HashSet::new());
    // Nodes that were silent lately are asked, but not waited for.
    let silent: HashSet<Peer> = inner.reputation.to_ask_last().into_iter().collect();
    while asking.waits_for(|peer| !silent.contains(peer)) || heard.len() < ids.len() {
        let Some(came) = asking.next().await else { break };
        let Came::Answer { from, about: ids, response } = came else { continue };
        match response {
            Some(Response::Locks(all)) if all.len() == ids.len() => {
                heard.extend(ids.iter().copied());
                note(&mut locks, &ids, all);
            }
            None | Some(Response::Refused(_)) => {}
            Some(_) => inner.reputation.distrust(from).await,
        }
    }
    // Checking the signatures of many documents would block other tasks. It fails if the node is shut down.
    let of = spawn_blocking(move || proven(locks)).await.unwrap_or_default();
    Publishers { of, spent: asking.spent }
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
