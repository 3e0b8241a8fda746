//! A store that threads share, and that is closed once: by the user, when Python drops it, or when the interpreter
//! ends.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::{OrRaise, os};
use crate::fork::Origin;
use crate::shared::{Shared, Store};
use crate::syncer::Syncer;

/// A store that the threads of Python share.
pub struct Guarded<S: Store> {
    shared: Arc<Shared<S>>,
    origin: Origin,
    syncer: Option<Syncer>,
}

/// The open stores of this process, to be closed when the interpreter ends.
static OPEN: Mutex<Vec<(Origin, Weak<dyn Closable>)>> = Mutex::new(Vec::new());

trait Closable: Send + Sync {
    fn close_quietly(&self);
}

impl<S: Store> Closable for Shared<S> {
    fn close_quietly(&self) {
        if let Some(mut store) = self.lock().take() {
            // No caller is left to receive an error. Keys that were durable remain durable.
            let _ = store.close();
        }
    }
}

impl<S: Store> Guarded<S> {
    /// Shares a store between threads. With an interval, a separate thread syncs the store that often.
    pub fn new(store: S, interval: Option<Duration>) -> PyResult<Self> {
        let shared = Arc::new(Shared::new(store));
        let weak: Weak<Shared<S>> = Arc::downgrade(&shared);
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|(_, store)| store.strong_count() > 0);
        open.push((Origin::here(), weak));
        drop(open);
        let syncer = interval.map(|interval| Syncer::start(&shared, interval)).transpose();
        Ok(Self { shared, origin: Origin::here(), syncer: syncer.map_err(|error| os(&error))? })
    }

    /// Calls `work` with the store, while this thread keeps the interpreter's lock. For work that takes microseconds.
    #[inline]
    pub fn with<R>(&self, py: Python<'_>, work: impl FnOnce(&mut S) -> PyResult<R>) -> PyResult<R> {
        self.origin.check(py)?;
        let mut store = self.shared.lock_attached(py);
        work(store.as_mut().ok_or_else(closed)?)
    }

    /// Calls `work` with the store, after this thread has released the interpreter's lock, so that other threads can
    /// run.
    pub fn detached<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut S) -> furui::Result<R> + Send,
    ) -> PyResult<R> {
        self.origin.check(py)?;
        let done = py.detach(|| self.shared.lock().as_mut().map(work));
        done.ok_or_else(closed)?.or_raise(py)
    }

    /// Closes the store. Does nothing if it is closed already.
    pub fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.origin.check(py)?;
        let done = py.detach(|| self.shared.lock().take().map_or(Ok(()), |mut store| store.close()));
        done.or_raise(py)
    }

    /// True if the store is closed.
    pub fn is_closed(&self, py: Python<'_>) -> bool {
        self.shared.lock_attached(py).is_none()
    }
}

impl<S: Store> Drop for Guarded<S> {
    fn drop(&mut self) {
        if !self.origin.is_here() {
            // The files, their lock, the mutex and the thread belong to the parent process. Leaking this copy leaves
            // them as they are.
            std::mem::forget(self.shared.clone());
            std::mem::forget(self.syncer.take());
            return;
        }
        self.syncer.take();
        self.shared.close_quietly();
    }
}

fn closed() -> PyErr {
    PyValueError::new_err("this is closed: open it again")
}

/// Closes all stores that are still open. `furui/__init__.py` registers this function with `atexit`.
#[pyfunction(name = "_close_all")]
pub fn close_all(py: Python<'_>) {
    py.detach(|| {
        // After a fork, a thread that does not exist in this process may hold the lock forever.
        let Ok(mut open) = OPEN.try_lock() else { return };
        let open = std::mem::take(&mut *open);
        for (_, store) in open.iter().filter(|(origin, _)| origin.is_here()) {
            if let Some(store) = store.upgrade() {
                store.close_quietly();
            }
        }
    });
}
