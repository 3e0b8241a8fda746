//! The two threads that freeze and merge the parts of dictionaries, so that no command waits for a merge.
//!
//! A freeze is short, because windows are small, and the main thread waits for it if it fills the next window
//! meanwhile. A merge may take minutes. So each kind of work has a thread of its own, and no freeze waits behind a
//! merge. The threads never touch keys of the server: the main thread hands a job out, and installs its result when a
//! command next uses the key. Large files are freed by a thread, too.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SendError, Sender, TryRecvError, channel};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use furui::dict::{DictOptions, Done, Job};
use furui::filter::BlockedBloom;
use furui::store::{Bytes, Memory};

/// A kind of work on a dictionary, for which there is a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    Freeze,
    Merge,
}

/// A job that was given to a thread, and whose result has not been received.
pub struct Pending {
    job: Place,
    result: Receiver<Option<Done>>,
}

/// The place of a job, which the one who begins it takes out.
type Place = Arc<Mutex<Option<Job<Memory>>>>;

/// An order to a thread that works on dictionaries.
enum Order {
    /// Run the job in this place, and send its result.
    Do(Place, Sender<Option<Done>>),
    /// Free the memory of these files, which no value needs any more.
    Free(Vec<Bytes>),
}

static FREEZER: LazyLock<Option<Sender<Order>>> = LazyLock::new(|| start("furui-freeze"));
static MERGER: LazyLock<Option<Sender<Order>>> = LazyLock::new(|| start("furui-merge"));

/// Starts the threads that work on dictionaries, if they are not running. The main thread calls this for each
/// dictionary that it creates.
pub fn start_threads() {
    LazyLock::force(&FREEZER);
    LazyLock::force(&MERGER);
}

/// The number of threads of this module that were started, at most two. `INFO` shows it.
pub static STARTED: AtomicUsize = AtomicUsize::new(0);

/// Starts a thread with this name, and returns the sender of its orders. `None` if the system has no thread left.
fn start(name: &str) -> Option<Sender<Order>> {
    prepare();
    let (sender, orders) = channel::<Order>();
    let run = move || {
        for order in orders {
            order.carry_out();
        }
    };
    thread::Builder::new().name(name.to_owned()).spawn(run).ok()?;
    STARTED.fetch_add(1, Relaxed);
    Some(sender)
}

/// Computes the tables that the library computes when it first makes a filter. If a thread were computing them when the
/// server forks to save, the child process would wait forever.
fn prepare() {
    const KEYS: u64 = 100_000;
    let _ = BlockedBloom::with_rate(KEYS, DictOptions::DEFAULT.filter_rate);
}

/// Takes a job out of its place in order to run it. `None` if another thread has taken it.
fn take(place: &Place) -> Option<Job<Memory>> {
    place.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Runs a job. `None` if it failed: the command that needs the result then does the work itself, and reports the error.
fn run(job: Job<Memory>) -> Option<Done> {
    catch_unwind(AssertUnwindSafe(|| job.run())).ok()?.ok()
}

impl Order {
    fn carry_out(self) {
        match self {
            // If the key was deleted, there is no receiver of the result.
            Self::Do(job, result) => _ = take(&job).map(|job| result.send(run(job))),
            Self::Free(files) => drop(files),
        }
    }

    /// Gives the order to the thread for this kind of work. Without such a thread, the calling thread executes it.
    fn give(self, work: Work) {
        let thread = match work {
            Work::Freeze => &*FREEZER,
            Work::Merge => &*MERGER,
        };
        match thread {
            Some(thread) => {
                if let Err(SendError(order)) = thread.send(self) {
                    order.carry_out();
                }
            }
            None => self.carry_out(),
        }
    }
}

/// Drops files in the thread that freezes, whose jobs are short, because freeing a GiB takes the time of many commands.
pub fn free(files: Vec<Bytes>) {
    if !files.is_empty() {
        Order::Free(files).give(Work::Freeze);
    }
}

impl Pending {
    /// Gives a job to the thread for this kind of work, and returns a handle for its result.
    pub fn begin(work: Work, job: Job<Memory>) -> Self {
        let (sender, result) = channel();
        let job = Arc::new(Mutex::new(Some(job)));
        Order::Do(Arc::clone(&job), sender).give(work);
        Self { job, result }
    }

    /// Returns the result if the job has ended: `Some(None)` if it failed. `None` if it is still running.
    pub fn poll(&self) -> Option<Option<Done>> {
        match self.result.try_recv() {
            Ok(result) => Some(result),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(None),
        }
    }

    /// Waits for the end of the job, and returns its result. If no thread has begun the job, because others precede it,
    /// this thread runs it.
    pub fn wait(&self) -> Option<Done> {
        if let Some(job) = take(&self.job) {
            return run(job);
        }
        self.result.recv().ok().flatten()
    }

    /// Waits for the end of the job, but no longer than `time`. Returns the same values as [`poll`](Self::poll).
    pub fn wait_for(&self, time: Duration) -> Option<Option<Done>> {
        match self.result.recv_timeout(time) {
            Ok(result) => Some(result),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(None),
        }
    }
}

impl Drop for Pending {
    /// Removes the job if no thread has begun it, because its result has no receiver any more.
    fn drop(&mut self) {
        drop(take(&self.job));
    }
}
