//! The two threads that freeze and merge the parts of dictionaries, so that no command waits for a merge.
//!
//! A freeze is short, because windows are small, and the main thread waits for it if it fills the next window meanwhile.
//! A merge may take minutes. So each kind of work has a thread of its own, and no freeze waits behind a merge. The threads
//! never touch keys of the server: the main thread hands a job out, and installs its result when a command next uses the
//! key.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread;
use std::time::Duration;

use furui::dict::{DictOptions, Done, Job};
use furui::filter::BlockedBloom;
use furui::store::Memory;

/// A kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    Freeze,
    Merge,
}

/// A job that a thread of the module does.
pub struct Pending(Receiver<Option<Done>>);

/// What a thread gets: a job, and where to send its result.
type Order = (Job<Memory>, Sender<Option<Done>>);

static FREEZER: LazyLock<Option<Sender<Order>>> = LazyLock::new(|| start("furui-freeze"));
static MERGER: LazyLock<Option<Sender<Order>>> = LazyLock::new(|| start("furui-merge"));

/// Starts a thread. `None` if the system has no thread left.
fn start(name: &str) -> Option<Sender<Order>> {
    prepare();
    let (sender, orders) = channel::<Order>();
    let run = move || {
        for (job, result) in orders {
            // If the key is gone, nobody takes the result.
            let _ = result.send(run(job));
        }
    };
    thread::Builder::new().name(name.to_owned()).spawn(run).ok().map(|_| sender)
}

/// Computes the tables that the library computes when it first makes a filter. If a thread were computing them when the
/// server forks to save, the child would wait for ever.
fn prepare() {
    const KEYS: u64 = 100_000;
    let _ = BlockedBloom::with_rate(KEYS, DictOptions::DEFAULT.filter_rate);
}

/// Does a job. `None` if it failed: then the command that needs the result does the work itself, and says why it fails.
fn run(job: Job<Memory>) -> Option<Done> {
    catch_unwind(AssertUnwindSafe(|| job.run())).ok()?.ok()
}

impl Pending {
    /// Gives a job to the thread for this kind of work. Without such a thread the job is done here.
    pub fn begin(work: Work, job: Job<Memory>) -> Self {
        let thread = match work {
            Work::Freeze => &*FREEZER,
            Work::Merge => &*MERGER,
        };
        let (sender, result) = channel();
        let refused = match thread {
            Some(thread) => thread.send((job, sender)).err().map(|refused| refused.0),
            None => Some((job, sender)),
        };
        if let Some((job, sender)) = refused {
            let _ = sender.send(run(job));
        }
        Self(result)
    }

    /// The result, if the job has ended: `Some(None)` if it has failed.
    pub fn poll(&self) -> Option<Option<Done>> {
        match self.0.try_recv() {
            Ok(result) => Some(result),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(None),
        }
    }

    /// Waits for the end of the job.
    pub fn wait(&self) -> Option<Done> {
        self.0.recv().ok().flatten()
    }

    /// Waits for the end of the job, but no longer than `time`.
    pub fn wait_for(&self, time: Duration) -> Option<Option<Done>> {
        match self.0.recv_timeout(time) {
            Ok(result) => Some(result),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(None),
        }
    }
}
