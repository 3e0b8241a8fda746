//! The thread that owns a node's shelf: the lists and records that the node keeps.

mod answers;
mod check;
mod doubting;
mod event_loop;
mod scheduler;
mod storing;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot, watch};

use crate::net::{Inbound, Net};
use crate::node::claims::Checker;
use crate::node::kept::Kept;
use crate::node::owner_list::OwnerList;
use crate::node::places::Places;
use crate::shelf::Shelf;
use event_loop::EventLoop;

/// The maximum number of this node's own orders that wait for the thread of the shelf (the node's storage). The value
/// is a choice, not a measurement.
const ORDERS: usize = 64;
/// The time for which a published document is kept, unless it is published again. The value is a choice, not a
/// measurement.
pub(in crate::node) const LIFE: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// The maximum age of a publisher's signature of a record that is stored. Clocks may be wrong by many days. Chosen:
/// three times the time after which a publisher signs again at the latest.
const OLDEST: Duration = Duration::from_secs(3 * LIFE.as_secs());
/// The time for which a withdrawal is remembered: longer than a signature from before it is accepted.
pub(in crate::node) const REMEMBERED: Duration = Duration::from_secs(5 * LIFE.as_secs());

/// True if a publisher has signed so long ago that its withdrawal may have been forgotten since.
pub(in crate::node) fn is_too_old(signature: &furui_search::Signature) -> bool {
    u64::from(signature.at) + OLDEST.as_secs() < unix_seconds()
}

type Job = Box<dyn FnOnce(&mut Shelf) + Send>;

/// An order that the node sends to the thread that owns its storage.
enum Order {
    Do(Job),
    Settled(Places),
    Stop,
}

/// A handle to the thread that owns a node's shelf and answers other nodes. The thread handles requests of other nodes,
/// and jobs of its own node in between.
///
/// The shelf has a thread of its own because its storage waits for the disk. It has only one thread because lists are
/// read and written whole.
#[derive(Clone)]
pub(in crate::node) struct Keeper {
    orders: mpsc::Sender<Order>,
    counts: Arc<Counts>,
}

/// The numbers of other nodes' requests, and the fault of the node, if there is one.
#[derive(Default)]
pub(in crate::node) struct Counts {
    pub(in crate::node) answered: AtomicU64,
    pub(in crate::node) refused: AtomicU64,
    /// The permanent fault: the reason that the shelf accepts no more changes, or the part of the node that has
    /// panicked.
    fault: watch::Sender<Option<String>>,
    /// The temporary fault: the reason that the shelf accepts no changes until it is reopened.
    passing: Mutex<Option<String>>,
}

/// A guard that reports a fault of the node if the thread or task that owns it panics. Without it, the panic would go
/// unnoticed.
pub(in crate::node) struct Alarm {
    part: &'static str,
    counts: Arc<Counts>,
}

impl Counts {
    /// Makes an alarm for the part of the node with this name.
    pub(in crate::node) fn alarm(self: &Arc<Self>, part: &'static str) -> Alarm {
        Alarm { part, counts: Arc::clone(self) }
    }

    /// Sets the temporary fault of the shelf, or clears it if `why` is `None`.
    fn pass(&self, why: Option<&str>) {
        let mut passing = self.passing.lock().unwrap_or_else(PoisonError::into_inner);
        match (&*passing, why) {
            (None, Some(why)) => tracing::warn!("the storage takes nothing: {why}"),
            (Some(_), None) => tracing::warn!("the storage works again"),
            _ => {}
        }
        *passing = why.map(str::to_owned);
    }

    /// Records a permanent fault of the node. Only the first one is kept.
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
    /// Starts the thread that owns the node's storage. It ends when it is [stopped](Self::stop), or when the last
    /// handle is dropped.
    pub(in crate::node) async fn start(
        shelf: Shelf,
        net: Net,
        inbound: mpsc::Receiver<Inbound>,
        blocklist: Arc<OwnerList>,
        checker: Checker,
    ) -> std::io::Result<(Self, JoinHandle<()>)> {
        let (orders, order_queue) = mpsc::channel(ORDERS);
        let counts = Arc::new(Counts::default());
        let kept = Kept::new(shelf, net.me(), Places::of(&net).await);
        let event_loop = EventLoop::new(kept, net, Arc::clone(&counts), blocklist, checker);
        let alarm = counts.alarm("the thread of its storage");
        let work = move || {
            let _alarm = alarm;
            // The thread has its own timer, because it outlives the runtime if the node is dropped without a shutdown.
            // The timer is made on the thread, so that it is dropped there even if the start of the node is cancelled.
            let clock = Builder::new_current_thread().enable_time().build();
            clock.expect("a clock takes nothing from the system").block_on(event_loop.work(inbound, order_queue));
        };
        let thread = thread::Builder::new().name("keeper".to_owned()).spawn(work)?;
        Ok((Self { orders, counts }, thread))
    }

    /// Runs a job with the shelf (the node's storage) on the thread that owns it, after all earlier jobs, and returns
    /// its result. `None` if the node is shut down.
    pub(in crate::node) async fn ask<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Shelf) -> T + Send + 'static,
    ) -> Option<T> {
        let (answer, receiver) = oneshot::channel();
        let job: Job = Box::new(move |shelf| {
            // Sending fails if the caller was cancelled.
            let _ = answer.send(job(shelf));
        });
        self.orders.send(Order::Do(job)).await.ok()?;
        receiver.await.ok()
    }

    /// Informs the thread of the storage that this node has taken over everything that it should hold, provided that
    /// `places` contains all nodes around it.
    pub(in crate::node) async fn settle(&self, places: Places) {
        // Sending fails if the thread has ended.
        let _ = self.orders.send(Order::Settled(places)).await;
    }

    /// Ends the thread of the storage, after all earlier orders.
    pub(in crate::node) async fn stop(&self) {
        // Sending fails if the thread has ended.
        let _ = self.orders.send(Order::Stop).await;
    }

    /// The reason that the shelf accepts no changes, permanently or temporarily, or the part of the node that has
    /// panicked; `None` if there is no fault.
    pub(in crate::node) fn fault(&self) -> Option<String> {
        let passing = || self.counts.passing.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.counts.fault.borrow().clone().or_else(passing)
    }

    /// Waits until the shelf accepts no more changes or a part of the node has panicked, and returns the reason.
    pub(in crate::node) async fn failed(&self) -> String {
        let mut fault = self.counts.fault.subscribe();
        let why = fault.wait_for(Option::is_some).await.expect("the sender lives as long as `self`");
        why.clone().expect("waited for")
    }

    pub(in crate::node) fn counts(&self) -> &Arc<Counts> {
        &self.counts
    }
}

fn unix_milliseconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

pub(in crate::node) fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
