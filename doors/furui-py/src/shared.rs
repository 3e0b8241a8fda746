//! A store behind a lock, which the threads of Python and the one of [`Syncer`](crate::syncer::Syncer) share.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::sync::MutexExt;

/// What is done to a store at its end, and every now and then.
pub trait Store: Send + 'static {
    /// Makes everything durable that is not durable yet.
    fn sync(&mut self) -> furui::Result<()>;

    /// Makes everything durable for good: the store is not used again.
    fn close(&mut self) -> furui::Result<()>;
}

/// A store behind a lock. `None` once it is closed.
pub struct Shared<S>(Mutex<Option<S>>);

impl<S: Store> Shared<S> {
    pub fn new(store: S) -> Self {
        Self(Mutex::new(Some(store)))
    }

    /// The lock, for threads without the interpreter.
    pub fn lock(&self) -> MutexGuard<'_, Option<S>> {
        // A panic leaves the library's structures usable or broken by their own account, which they report.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lock, for a thread with the interpreter, which it lets go of while it waits.
    #[inline]
    pub fn lock_attached(&self, py: Python<'_>) -> MutexGuard<'_, Option<S>> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}
