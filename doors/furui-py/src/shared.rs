//! A store behind a lock, which the threads of Python and the thread of [`Syncer`](crate::syncer::Syncer) share.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use crate::locked::Holder;

/// A store that can be synced at intervals, and closed at the end.
pub trait Store: Send + 'static {
    /// Makes all changes durable.
    fn sync(&mut self) -> furui::Result<()>;

    /// Makes all changes durable, for the last time: the store is not used afterwards.
    fn close(&mut self) -> furui::Result<()>;
}

/// A store behind a lock. The content is `None` after the store was closed.
pub struct Shared<S>(Mutex<Option<S>>);

impl<S: Store> Shared<S> {
    pub fn new(store: S) -> Self {
        Self(Mutex::new(Some(store)))
    }

    /// Locks the store, in a thread that does not hold the interpreter's lock.
    pub fn lock(&self) -> MutexGuard<'_, Option<S>> {
        // A panic in another thread leaves the store either consistent or marked as failed, which its methods report.
        // So a poisoned lock is taken.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the store, in a thread that holds the interpreter's lock. The thread releases the interpreter while it
    /// waits.
    #[inline]
    pub fn lock_attached(&self, py: Python<'_>) -> MutexGuard<'_, Option<S>> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Store> Holder for Shared<S> {
    fn is_open(&self) -> bool {
        match self.0.try_lock() {
            Ok(store) => store.is_some(),
            Err(TryLockError::Poisoned(store)) => store.into_inner().is_some(),
            // Another thread uses it.
            Err(TryLockError::WouldBlock) => true,
        }
    }
}
