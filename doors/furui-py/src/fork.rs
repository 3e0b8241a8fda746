//! Detects that this process is a copy that `fork` made of the process that opened a store.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use pyo3::prelude::*;

/// The number of forks between the process that loaded the module and this process.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// Counts a fork that has made this process. `furui/__init__.py` registers this function with `os.register_at_fork`.
#[pyfunction(name = "_after_fork")]
pub fn after_fork() {
    FORKS.fetch_add(1, Relaxed);
}

/// Identifies the process in which a value was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin(u64);

impl Origin {
    pub fn here() -> Self {
        Self(FORKS.load(Relaxed))
    }

    /// True if this process is the one in which the value was made.
    #[inline]
    pub fn is_here(self) -> bool {
        self == Self::here()
    }
}
