//! Takes over data that this node should hold from its neighbours, and publishes this node's documents again before
//! they expire.

mod sifting;
mod taking;

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use furui_search::{Peer, Record, limits};
use serde::Serialize;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, timeout};

use crate::net::Net;
use crate::node::fetch;
use crate::node::keeper::{LIFE, REMEMBERED, unix_seconds};
use crate::node::places::Places;
use crate::node::publish::{self, Document};
use crate::node::sources::REFUSED_FOR;
use crate::node::withdraw;
use crate::node::{Inner, Node};
use taking::{LeftOut, Taking, Why};

/// The delay between a change of the neighbourhood and the comparison of lists, because several nodes often come or go
/// at once and then refresh their routing tables. Further comparisons follow after twice that time and so on, because
/// publishers may have learnt of the change late. The value is a choice, not a measurement.
const PAUSE: Duration = Duration::from_secs(1);
/// The maximum time between two rounds of repair (comparisons with the neighbours' data). The value is a choice, not a
/// measurement.
const INTERVAL: Duration = Duration::from_secs(10 * 60);
/// The maximum time for which the first round waits until the node has joined its network. The value is a choice, not a
/// measurement.
const JOINING: Duration = Duration::from_secs(60);
/// The number of nearest nodes whose lists are compared with this node's. It is the bucket size of Kademlia.
const NEIGHBOURS: usize = 20;
/// The number of consecutive rounds with unanswered requests after which a silent neighbour is treated as one without
/// data, and a silent node that should keep a record as one without this record. The value is a choice, not a
/// measurement.
const FAILED_ROUNDS: u32 = 3;
/// The interval at which expired documents are removed, and this node's documents are published again if they expire
/// soon. The value is a choice, not a measurement.
const RENEWAL: Duration = Duration::from_secs(60 * 60);

/// The progress of repair: taking over the data that a node should hold from its neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// The number of rounds in which lists were compared with all neighbours.
    pub rounds: u64,
    /// True if the last round found nothing missing, every neighbour answered, and no neighbour has come or gone since.
    pub settled: bool,
    /// The number of postings and records taken over.
    pub taken: u64,
}

/// The state of repair (the comparisons with the neighbours' data) that other tasks can read.
#[derive(Default)]
pub(in crate::node) struct Repair {
    done: watch::Sender<Done>,
    hurry: Notify,
}

/// The accumulated result of all rounds of repair.
#[derive(Clone, Copy, Default)]
struct Done {
    rounds: u64,
    taken: u64,
    /// The version of the neighbourhood at which the last round found nothing missing; `None` if something was missing,
    /// or a neighbour did not answer.
    settled: Option<u64>,
}

impl Repair {
    pub(in crate::node) fn progress(&self, net: &Net) -> Progress {
        let Done { rounds, taken, settled } = *self.done.borrow();
        Progress { rounds, taken, settled: settled == Some(*net.neighbourhood().borrow()) }
    }
}

impl Node {
    /// Waits for a round of comparisons that finds nothing missing. Then this node has everything that it should hold,
    /// as far as the nodes that it knows have it.
    pub async fn repaired(&self) {
        let Repair { done, hurry } = &*self.0.repair;
        let mut watched = done.subscribe();
        let before = watched.borrow_and_update().rounds;
        hurry.notify_one();
        // The current round may have begun before this call, so this waits for a later one. Waiting does not fail while
        // this node exists.
        let _ =
            watched.wait_for(|now| now.settled.is_some() && now.rounds > before + 1 || self.0.net.is_stopped()).await;
    }
}

/// Compares this node's data with that of its neighbours at the start, whenever a neighbour comes or goes, and at
/// intervals. Runs until the node is dropped.
pub(in crate::node) async fn run(inner: Weak<Inner>, repair: Arc<Repair>) {
    // Waits until the node is constructed.
    while inner.strong_count() == 0 {
        tokio::task::yield_now().await;
    }
    let Some(mut neighbourhood) = inner.upgrade().map(|inner| inner.net.neighbourhood()) else { return };
    if let Some(inner) = inner.upgrade() {
        // A node that finds nobody still tidies its own data.
        let _ = timeout(JOINING, inner.net.joined()).await;
    }
    let mut rounds = Rounds::default();
    let mut renewal = Instant::now();
    let mut pause = PAUSE;
    loop {
        {
            let Some(inner) = inner.upgrade() else { return };
            let around = *neighbourhood.borrow_and_update();
            let settled = rounds.round(&inner).await.then_some(around);
            // What a keeper has not answered is sent again with each round.
            let _ = withdraw::tell(&inner).await;
            repair.done.send_modify(|done| *done = Done { rounds: done.rounds + 1, taken: rounds.taken, settled });
            if Instant::now() >= renewal {
                renewal = Instant::now() + RENEWAL;
                renew(&inner).await;
            }
        }
        tokio::select! {
            changed = neighbourhood.changed() => {
                if changed.is_err() {
                    return;
                }
                rounds.forget();
                pause = PAUSE;
                sleep(pause).await;
            }
            () = repair.hurry.notified() => pause = PAUSE,
            () = sleep(pause) => {}
        }
        pause = (2 * pause).min(INTERVAL);
    }
}

/// The state of repair that is kept between rounds.
#[derive(Default)]
struct Rounds {
    /// For each neighbour, the state number that it stated when everything was last taken over from it, and those of
    /// its lists of which this node has rejected postings.
    taken_over: HashMap<Peer, (u64, LeftOut)>,
    /// The neighbours that lied, each with the time until which nothing is taken over from it.
    liars: HashMap<Peer, Instant>,
    failed: u32,
    taken: u64,
}

impl Rounds {
    /// Discards the states of all neighbours: nodes have come or gone, so this node may have to keep other lists.
    fn forget(&mut self) {
        self.taken_over.clear();
        self.failed = 0;
    }

    /// Takes over missing data that this node should hold from all neighbours. Returns true if nothing was missing, and
    /// all neighbours answered.
    ///
    /// Lists and records that other nodes keep now, instead of this one, stay here until they expire, because further
    /// nodes may not know this change yet.
    async fn round(&mut self, inner: &Inner) -> bool {
        let places = Places::of(&inner.net).await;
        if inner.net.is_cut_off().await {
            // Nobody can say what is missing.
            inner.whole.store(false, Ordering::Relaxed);
            return false;
        }
        let neighbours = places.neighbours(&inner.net.me(), NEIGHBOURS);
        self.taken_over.retain(|peer, _| neighbours.contains(peer));
        self.liars.retain(|_, until| *until > Instant::now());
        let (mut failures, mut new, mut is_full) = (0, 0, false);
        // Neighbours are asked one after the other, so that nothing is taken over twice.
        for neighbour in &neighbours {
            if self.liars.contains_key(neighbour) {
                continue;
            }
            let (state, left_out) = self.taken_over.entry(neighbour.clone()).or_default();
            let is_patient = self.failed < FAILED_ROUNDS;
            let mut taking = Taking::new(inner, neighbour, &places, left_out, is_patient);
            match taking.take_over(*state).await {
                Ok(now) => *state = now,
                // If a neighbour has more data than one round takes over, the next round takes over the rest.
                Err(Why::Silent | Why::Enough) => failures += 1,
                Err(Why::Lied) => {
                    self.liars.insert(neighbour.clone(), Instant::now() + REFUSED_FOR);
                }
                // The data of the neighbour is not taken over, so this node's lists are incomplete.
                Err(Why::Full) => is_full = true,
                Err(Why::Stopped) => return false,
            }
            new += taking.new;
        }
        self.taken += new;
        self.failed = if failures == 0 { 0 } else { self.failed + 1 };
        if new > 0 {
            inner.known.forget();
        }
        if is_full {
            inner.whole.store(false, Ordering::Relaxed);
        } else if failures == 0 || self.failed >= FAILED_ROUNDS {
            inner.keeper.settle(places).await;
            inner.whole.store(true, Ordering::Relaxed);
        }
        new == 0 && failures == 0 && !is_full
    }
}

/// Removes expired data, and publishes again the documents that this node published more than half of their lifetime
/// ago.
async fn renew(inner: &Inner) {
    let now = unix_seconds();
    // If the storage fails, the next request to it reports that.
    let _ = inner.keeper.ask(move |shelf| shelf.expire(now)).await;
    let _ = inner.published.forget(now - REMEMBERED.as_secs());
    let half = now - LIFE.as_secs() / 2;
    while let Ok(stale) = inner.published.stale(half, limits::FETCHED)
        && !stale.is_empty()
    {
        let records = fetch::records(&inner.reputation, None, &stale).await.found;
        let records = records.into_values().filter_map(|found| Record::decode(&found.record).ok());
        let documents = records.filter_map(|record| Document::new(&record).ok());
        // Documents whose record no node keeps are marked as renewed too, so that they are not tried again at once.
        let Ok(at) = inner.published.next(&stale, now) else { return };
        if publish::store(inner, documents.collect(), &at).await.is_err() || inner.published.renew(&at).is_err() {
            return;
        }
    }
}
