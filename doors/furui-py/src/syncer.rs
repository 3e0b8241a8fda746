//! A thread that makes the keys of a store durable at regular intervals.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crate::shared::{Shared, Store};

/// A thread that syncs a store at regular intervals, until it is dropped.
pub struct Syncer {
    thread: Option<JoinHandle<()>>,
    /// The sender of a channel. Dropping it ends the thread.
    stop: Option<Sender<()>>,
}

impl Syncer {
    /// Starts a thread that syncs `store` every `interval`.
    pub fn start<S: Store>(store: &Arc<Shared<S>>, interval: Duration) -> std::io::Result<Self> {
        let (stop, stopped) = channel();
        let store: Weak<Shared<S>> = Arc::downgrade(store);
        let thread = Builder::new().name("furui-sync".into()).spawn(move || {
            while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                let Some(store) = store.upgrade() else { return };
                let mut store = store.lock();
                // The set stores the error, which the next call by the user reports.
                if store.as_mut().is_none_or(|store| store.sync().is_err()) {
                    return;
                }
            }
        })?;
        Ok(Self { thread: Some(thread), stop: Some(stop) })
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread must not become a panic of the caller.
            let _ = thread.join();
        }
    }
}
