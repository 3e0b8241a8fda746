//! The thread of a node's shelf.

mod answers;
mod desk;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot, watch};

use super::kept::Kept;
use super::places::Places;
use crate::net::{Inbound, Net};
use crate::shelf::Shelf;
use desk::Desk;

/// Orders of this node's own that wait for the shelf.
const ORDERS: usize = 64;
/// How long a document that is published is kept, if it is not published again.
pub(super) const LIFE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

type Job = Box<dyn FnOnce(&mut Shelf) + Send>;

/// What the thread is to do next for its own node.
enum Order {
    Do(Job),
    Settled(Places),
    Stop,
}

/// The thread that a node's shelf and its answering side live on: requests of others come in, answers go out, and jobs of
/// the node's own are done in between.
///
/// One thread, because the storage waits for the disk, and because lists are read and written whole.
#[derive(Clone)]
pub(super) struct Keeper {
    orders: mpsc::Sender<Order>,
    counts: Arc<Counts>,
}

/// What was done for others.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) answered: AtomicU64,
    pub(super) refused: AtomicU64,
    /// Why the shelf takes nothing any more, or which part of the node has panicked.
    fault: watch::Sender<Option<String>>,
}

/// Says that the node has failed when a thread or task that holds it panics, which would otherwise end unseen.
pub(super) struct Alarm {
    part: &'static str,
    counts: Arc<Counts>,
}

impl Counts {
    /// An alarm for a part of the node to hold.
    pub(super) fn alarm(self: &Arc<Self>, part: &'static str) -> Alarm {
        Alarm { part, counts: Arc::clone(self) }
    }

    /// Notes why the node is of no use any more; the first reason counts.
    fn fail(&self, why: &str) {
        self.fault.send_if_modified(|fault| {
            let is_new = fault.is_none();
            fault.get_or_insert_with(|| why.to_owned());
            is_new
        });
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        if thread::panicking() {
            self.counts.fail(&format!("{} has panicked, which is a mistake in furui: start it again", self.part));
        }
    }
}

impl Keeper {
    /// Starts the thread; it ends when it is [told so](Self::stop), or the last handle is dropped.
    pub(super) async fn start(
        shelf: Shelf,
        net: Net,
        inbound: mpsc::Receiver<Inbound>,
    ) -> std::io::Result<(Self, JoinHandle<()>)> {
        let (orders, order_queue) = mpsc::channel(ORDERS);
        let counts = Arc::new(Counts::default());
        let kept = Kept::new(shelf, net.me(), Places::of(&net).await);
        let desk = Desk::new(kept, net, Arc::clone(&counts));
        let alarm = counts.alarm("the thread of its storage");
        let work = move || {
            let _alarm = alarm;
            // A clock of its own: the thread outlives the runtime if the node is dropped without being shut down. Made here, as
            // whoever is interrupted while it starts a node cannot drop it.
            let clock = Builder::new_current_thread().enable_time().build();
            clock.expect("a clock takes nothing from the system").block_on(desk.work(inbound, order_queue));
        };
        let thread = thread::Builder::new().name("keeper".to_owned()).spawn(work)?;
        Ok((Self { orders, counts }, thread))
    }

    /// Has the shelf do something, in turn. `None` if the node is shut down.
    pub(super) async fn ask<T: Send + 'static>(&self, job: impl FnOnce(&mut Shelf) -> T + Send + 'static) -> Option<T> {
        let (answer, receiver) = oneshot::channel();
        let job: Job = Box::new(move |shelf| {
            // An error: nobody waits for it any more.
            let _ = answer.send(job(shelf));
        });
        self.orders.send(Order::Do(job)).await.ok()?;
        receiver.await.ok()
    }

    /// Tells that everything was taken over that this node should hold if these are the nodes around.
    pub(super) async fn settle(&self, places: Places) {
        // An error: it has ended.
        let _ = self.orders.send(Order::Settled(places)).await;
    }

    /// Has the thread end, after what was asked before.
    pub(super) async fn stop(&self) {
        // An error: it has ended.
        let _ = self.orders.send(Order::Stop).await;
    }

    /// Why the shelf takes nothing any more, if that is so.
    pub(super) fn fault(&self) -> Option<String> {
        self.counts.fault.borrow().clone()
    }

    /// Waits until the shelf takes nothing any more or a part of the node has panicked, and returns why.
    pub(super) async fn failed(&self) -> String {
        let mut fault = self.counts.fault.subscribe();
        let why = fault.wait_for(Option::is_some).await.expect("the sender lives as long as this");
        why.clone().expect("waited for")
    }

    pub(super) fn counts(&self) -> &Arc<Counts> {
        &self.counts
    }
}

pub(super) fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
