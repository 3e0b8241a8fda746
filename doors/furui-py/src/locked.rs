//! Where in the program the open stores were opened, to tell the user of a second object for the same store.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::fork::Origin;

/// An object that has the lock of a directory until it is closed or dropped.
pub trait Holder: Send + Sync {
    /// False after the object was closed.
    fn is_open(&self) -> bool;
}

/// The lock of a directory, which an object of a process has.
struct Lock {
    origin: Origin,
    holder: Weak<dyn Holder>,
    directory: PathBuf,
    /// The line of the program that opened it, as in "crawl.py:7".
    line: String,
}

static LOCKS: Mutex<Vec<Lock>> = Mutex::new(Vec::new());

fn locks() -> MutexGuard<'static, Vec<Lock>> {
    LOCKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes that an object has the lock of a directory since the line of the program that runs now.
pub fn note(py: Python<'_>, holder: Weak<dyn Holder>, directory: &Path) {
    let line = running_line(py).unwrap_or_else(|_| "an unknown line".to_owned());
    let mut locks = locks();
    locks.retain(|lock| lock.holder.strong_count() > 0);
    locks.push(Lock { origin: Origin::here(), holder, directory: canonical(directory), line });
}

/// The line of the program at which an object of this process took the lock of a directory, if one has it.
pub fn line_that_locked(directory: &Path) -> Option<String> {
    let directory = canonical(directory);
    let holds = |lock: &&Lock| {
        lock.origin.is_here()
            && lock.directory == directory
            && lock.holder.upgrade().is_some_and(|holder| holder.is_open())
    };
    locks().iter().find(holds).map(|lock| lock.line.clone())
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The line that runs, of the first function on the stack that is not one of this package.
fn running_line(py: Python<'_>) -> PyResult<String> {
    let here = py.import("sys")?.getattr("_getframe")?.call0()?;
    let mut frame = here.clone();
    while is_own(&frame)? {
        frame = frame.getattr("f_back")?;
        if frame.is_none() {
            frame = here;
            break;
        }
    }
    let file: String = frame.getattr("f_code")?.getattr("co_filename")?.extract()?;
    Ok(format!("{file}:{}", frame.getattr("f_lineno")?))
}

fn is_own(frame: &Bound<'_, PyAny>) -> PyResult<bool> {
    let globals = frame.getattr("f_globals")?.cast_into::<PyDict>()?;
    let Some(module) = globals.get_item("__name__")? else { return Ok(false) };
    let module = module.cast_into::<PyString>()?;
    Ok(module.to_str()?.split('.').next() == Some("furui"))
}
