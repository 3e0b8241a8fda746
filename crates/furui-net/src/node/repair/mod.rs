//! Taking over what this node should hold, and keeping what it has published alive.

mod taking;

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use furui_search::{Peer, limits};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep};

use super::fetch;
use super::keeper::{LIFE, unix_seconds};
use super::places::Places;
use super::publish::{self, Document};
use super::withdraw;
use super::{Inner, Node};
use crate::net::Net;
use taking::{Taking, Why};

/// How soon after a change of the neighbourhood lists are compared: others come or go, too, and look around. Then again
/// after twice that time, and so on, for whoever published meanwhile may not have known of the change.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest time between two rounds.
const INTERVAL: Duration = Duration::from_secs(10 * 60);
/// With how many of the nearest nodes lists are compared.
const NEIGHBOURS: usize = 20;
/// Rounds in which some neighbour did not answer, after which it is believed that it has nothing.
const FAILED_ROUNDS: u32 = 3;
/// How often what has expired is forgotten, and what must not expire is published again.
const RENEWAL: Duration = Duration::from_secs(60 * 60);

/// How far repair is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Rounds of comparing with all neighbours that are done.
    pub rounds: u64,
    /// Whether the last of them brought nothing new, every neighbour answered, and none has come or gone since.
    pub settled: bool,
    /// Postings and records that were taken over.
    pub taken: u64,
}

/// What is known outside of the task that repairs.
#[derive(Default)]
pub(super) struct Repair {
    done: watch::Sender<Done>,
    hurry: Notify,
}

/// The rounds so far.
#[derive(Clone, Copy, Default)]
struct Done {
    rounds: u64,
    taken: u64,
    /// The neighbourhood for which nothing was missing, if the last round said so.
    settled: Option<u64>,
}

impl Repair {
    pub(super) fn progress(&self, net: &Net) -> Progress {
        let Done { rounds, taken, settled } = *self.done.borrow();
        Progress { rounds, taken, settled: settled == Some(*net.neighbourhood().borrow()) }
    }
}

impl Node {
    /// Waits for a round of comparing that brings nothing new: until this node has been given all that it should hold, as
    /// far as the nodes that it knows have it.
    pub async fn repaired(&self) {
        let Repair { done, hurry } = &*self.0.repair;
        let mut watched = done.subscribe();
        let before = watched.borrow_and_update().rounds;
        hurry.notify_one();
        // The first round after this may have begun before it. An error: not while this node is there.
        let _ =
            watched.wait_for(|now| now.settled.is_some() && now.rounds > before + 1 || self.0.net.is_stopped()).await;
    }
}

/// Compares what this node holds with its neighbours: at the start, whenever one comes or goes, and now and then.
pub(super) async fn run(inner: Weak<Inner>, repair: Arc<Repair>) {
    // Until the node is there.
    while inner.strong_count() == 0 {
        tokio::task::yield_now().await;
    }
    let Some(mut neighbourhood) = inner.upgrade().map(|inner| inner.net.neighbourhood()) else { return };
    if let Some(inner) = inner.upgrade() {
        inner.net.joined().await;
    }
    let mut rounds = Rounds::default();
    let mut renewal = Instant::now();
    let mut pause = PAUSE;
    loop {
        {
            let Some(inner) = inner.upgrade() else { return };
            let around = *neighbourhood.borrow_and_update();
            let settled = rounds.round(&inner).await.then_some(around);
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

/// What is remembered from one round to the next.
#[derive(Default)]
struct Rounds {
    /// For each neighbour the state in which everything was taken over from it.
    states: HashMap<Peer, u64>,
    failed: u32,
    taken: u64,
}

impl Rounds {
    /// Others have come or gone: this node may have to keep what it had not to before.
    fn forget(&mut self) {
        self.states.clear();
        self.failed = 0;
    }

    /// Takes over what neighbours have and this node should have. Whether there was nothing, and all of them answered.
    ///
    /// What it holds and should not hold any more stays until it expires: others may not know yet who is to have it.
    async fn round(&mut self, inner: &Inner) -> bool {
        let places = Places::of(&inner.net).await;
        let neighbours = places.neighbours(&inner.net.me(), NEIGHBOURS);
        self.states.retain(|peer, _| neighbours.contains(peer));
        let (mut failures, mut new) = (0, 0);
        // One after the other: what one has brought need not be brought by the next.
        for neighbour in &neighbours {
            let mut taking = Taking::new(inner, neighbour, &places);
            let since = self.states.get(neighbour).copied().unwrap_or_default();
            match taking.take_over(since).await {
                Ok(state) => {
                    self.states.insert(neighbour.clone(), state);
                }
                Err(Why::Silent) => failures += 1,
                // In the next round it may go on, or try again.
                Err(Why::Enough | Why::Lied) => {}
                Err(Why::Stopped) => return false,
            }
            new += taking.new;
        }
        self.taken += new;
        self.failed = if failures == 0 { 0 } else { self.failed + 1 };
        if new > 0 {
            inner.known.forget();
            inner.survey.forget();
        }
        if failures == 0 || self.failed >= FAILED_ROUNDS {
            inner.keeper.settle(places).await;
            inner.whole.store(true, Ordering::Relaxed);
        }
        new == 0 && failures == 0
    }
}

/// Forgets what has expired, and publishes again what this node has published and what has lived for half of its life.
async fn renew(inner: &Inner) {
    let now = unix_seconds();
    // A storage that fails says so to whoever asks it next.
    let _ = inner.keeper.ask(move |shelf| shelf.expire(now)).await;
    let _ = withdraw::tell(inner).await;
    let _ = inner.published.forget(now - LIFE.as_secs());
    let half = now - LIFE.as_secs() / 2;
    while let Ok(stale) = inner.published.stale(half, limits::FETCHED)
        && !stale.is_empty()
    {
        let records = fetch::records(inner, &stale, &[]).await.found;
        let documents = records
            .into_iter()
            .filter_map(|(id, record)| Document::new(&record).ok().filter(|document| document.id == id));
        // Those whose record nobody has any more are left out until then, too.
        if publish::store(inner, documents.collect()).await.is_err() || inner.published.renew(&stale, now).is_err() {
            return;
        }
    }
}
